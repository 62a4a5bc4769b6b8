#include "zarrcore/codec/numpy_arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore::test::numpy_arithmetic_test {
namespace {

DataType type(std::string_view name) {
  return parse_numpy_type(name)->type;
}

TEST(NumpyArithmetic, TypesMeetWhereNumpySaysThatTheyDo) {
  // np.result_type(a, b)
  const std::vector<std::array<const char*, 3>> examples{
      {"?", "?", "?"},     {"?", "u1", "u1"},   {"i1", "u1", "i2"},  {"u2", "i4", "i4"},
      {"u4", "i4", "i8"},  {"u8", "i1", "f8"},  {"u1", "u4", "u4"},  {"i1", "f2", "f2"},
      {"i2", "f2", "f4"},  {"i4", "f4", "f8"},  {"f2", "f4", "f4"},  {"?", "f2", "f2"},
      {"u1", "c8", "c8"},  {"i4", "c8", "c16"}, {"f8", "c8", "c16"}, {"f2", "c8", "c8"},
      {"c8", "c16", "c16"}};
  for (auto [a, b, both] : examples) {
    const auto named = [](const char* name) { return type(*name == '?' ? "bool" : name); };
    EXPECT_EQ(promote_numpy_types(named(a), named(b)), named(both)) << a << ' ' << b;
    EXPECT_EQ(promote_numpy_types(named(b), named(a)), named(both)) << b << ' ' << a;
  }
}

TEST(NumpyArithmetic, NumbersWidenTypesWhereTheyMust) {
  // (np.ones(1, a) * number).dtype, with NumPy 1.24
  const std::vector<std::tuple<const char*, const char*, const char*>> examples{
      {"i1", "1", "i1"},      {"i1", "1000", "i2"},  {"i2", "40000", "i4"},
      {"u1", "200", "u1"},    {"u1", "-5", "i2"},    {"u8", "-5", "f8"},
      {"i1", "1.0", "f8"},    {"bool", "1", "i8"},   {"bool", "0.5", "f8"},
      {"f2", "1", "f2"},      {"f2", "1000", "f4"},  {"f4", "1000", "f4"},
      {"f4", "100000", "f8"}, {"f4", "0.1", "f4"},   {"f2", "1e10", "f4"},
      {"f4", "1e300", "f8"},  {"f8", "1e300", "f8"}, {"u8", "18446744073709551615", "f8"}};
  for (const auto& [a, number, result] : examples) {
    EXPECT_EQ(promote_numpy_type(type(a), parse_json(number)), type(result)) << a << ' ' << number;
  }
}

template <typename To>
std::vector<To> cast(const std::vector<double>& values, std::string_view to) {
  std::vector<To> results(values.size());
  make_numpy_cast(type("f8"), type(to))
      ->convert(reinterpret_cast<const std::byte*>(values.data()), sizeof(double),
                reinterpret_cast<std::byte*>(results.data()), sizeof(To), values.size());
  return results;
}

TEST(NumpyArithmetic, FloatsThatIntegersCannotHoldBecomeWhatTheyDoInNumpy) {
  // np.array([nan, -1.5, 300.7, 3e9, 1e19, 2e19, -1e19]).astype(…), on x86 without AVX-512
  const std::vector<double> values{
      std::numeric_limits<double>::quiet_NaN(), -1.5, 300.7, 3e9, 1e19, 2e19, -1e19};
  constexpr std::int32_t k32 = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t k64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(cast<std::uint8_t>(values, "u1"), (std::vector<std::uint8_t>{0, 255, 44, 0, 0, 0, 0}));
  EXPECT_EQ(cast<std::int16_t>(values, "i2"), (std::vector<std::int16_t>{0, -1, 300, 0, 0, 0, 0}));
  EXPECT_EQ(cast<std::int32_t>(values, "i4"),
            (std::vector<std::int32_t>{k32, -1, 300, k32, k32, k32, k32}));
  EXPECT_EQ(cast<std::uint32_t>(values, "u4"),
            (std::vector<std::uint32_t>{0, ~0u, 300, 3000000000u, 0, 0, 0}));
  EXPECT_EQ(cast<std::int64_t>(values, "i8"),
            (std::vector<std::int64_t>{k64, -1, 300, 3000000000, k64, k64, k64}));
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  EXPECT_EQ(cast<std::uint64_t>(values, "u8"),
            (std::vector<std::uint64_t>{kTop, ~std::uint64_t{0}, 300, 3000000000,
                                        10000000000000000000u, 0, kTop}));
  // So that differences of uint32 that went through doubles sum up again.
  EXPECT_EQ(cast<std::uint32_t>({4294967296.0 + 5, -3}, "u4"),
            (std::vector<std::uint32_t>{5, 4294967293u}));
}

TEST(NumpyArithmetic, TimesOfDifferentUnitsDoNotMeet) {
  EXPECT_ERROR(make_numpy_cast(type("<M8[s]"), type("<M8[ms]")), "the units of", "differ");
  EXPECT_NO_THROW(make_numpy_cast(type("<M8[s]"), type("<m8[s]")));
  EXPECT_ERROR(make_numpy_cast(type("<U4"), type("<i4")), "cannot compute with");
}

}  // namespace
}  // namespace zarrcore::test::numpy_arithmetic_test
