#include "zarrcore/dtype/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore::test::convert_test {
namespace {

struct Half {
  std::uint16_t bits;
  bool operator==(const Half&) const = default;
};

Half half(double value) {
  return {double_to_float16(value)};
}

template <typename T>
DataType type_of() {
  if constexpr (std::is_same_v<T, bool>) return {TypeKind::boolean, 1};
  if constexpr (std::is_same_v<T, Half>) return {TypeKind::floating, 2};
  if constexpr (std::is_floating_point_v<T>) return {TypeKind::floating, sizeof(T)};
  if constexpr (!std::is_arithmetic_v<T>) return {TypeKind::complex, sizeof(T)};
  return {std::is_signed_v<T> ? TypeKind::signed_integer : TypeKind::unsigned_integer, sizeof(T)};
}

template <typename To, typename From>
To converted(From value) {
  const auto converter = make_numeric_converter(type_of<From>(), type_of<To>());
  To result{};
  converter->convert(reinterpret_cast<const std::byte*>(&value), 0,
                     reinterpret_cast<std::byte*>(&result), 0, 1);
  return result;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Convert, SameTypesNeedNoConverter) {
  EXPECT_EQ(make_numeric_converter(type_of<float>(), type_of<float>()), nullptr);
}

TEST(Convert, OtherThanNumbersHaveNone) {
  const DataType raw{TypeKind::raw, 4};
  const DataType text{TypeKind::fixed_utf32, 4};
  EXPECT_EQ(make_numeric_converter(raw, type_of<float>()), nullptr);
  EXPECT_EQ(make_numeric_converter(type_of<float>(), text), nullptr);
}

TEST(Convert, EveryPairOfNumericTypesHasAConverterThatKeepsSmallNumbers) {
  const std::vector<DataType> types{type_of<bool>(),
                                    type_of<std::int8_t>(),
                                    type_of<std::int16_t>(),
                                    type_of<std::int32_t>(),
                                    type_of<std::int64_t>(),
                                    type_of<std::uint8_t>(),
                                    type_of<std::uint16_t>(),
                                    type_of<std::uint32_t>(),
                                    type_of<std::uint64_t>(),
                                    type_of<Half>(),
                                    type_of<float>(),
                                    type_of<double>(),
                                    type_of<std::complex<float>>(),
                                    type_of<std::complex<double>>(),
                                    {TypeKind::complex, 4},
                                    {TypeKind::complex, 4, 0, FloatFormat::bfloat16},
                                    {TypeKind::complex, 2, 0, FloatFormat::float8_e4m3fn},
                                    {TypeKind::floating, 2, 0, FloatFormat::bfloat16}};
  for (const DataType& from : types) {
    for (const DataType& to : types) {
      if (from == to) continue;
      // 1 in each type, made from a byte that is 1.
      const std::uint8_t one = 1;
      Bytes source(from.item_size, std::byte{1});
      if (const auto make = make_numeric_converter(type_of<std::uint8_t>(), from)) {
        make->convert(reinterpret_cast<const std::byte*>(&one), 0, source.data(), 0, 1);
      }
      Bytes destination(to.item_size);
      const auto converter = make_numeric_converter(from, to);
      ASSERT_NE(converter, nullptr) << type_name(from) << " to " << type_name(to);
      converter->convert(source.data(), 0, destination.data(), 0, 1);
      double back = 0;
      if (const auto read = make_numeric_converter(to, type_of<double>())) {
        read->convert(destination.data(), 0, reinterpret_cast<std::byte*>(&back), 0, 1);
      } else {
        std::memcpy(&back, destination.data(), sizeof(back));
      }
      EXPECT_EQ(back, 1) << type_name(from) << " to " << type_name(to);
    }
  }
}

TEST(Convert, FloatsRoundHalfAwayFromZero) {
  EXPECT_EQ(converted<std::int16_t>(2.5), 3);
  EXPECT_EQ(converted<std::int16_t>(-2.5), -3);
  EXPECT_EQ(converted<std::int16_t>(2.49), 2);
  EXPECT_EQ(converted<std::uint8_t>(-0.4), 0);
  EXPECT_EQ(converted<std::int32_t>(half(-1.5)), -2);
}

TEST(Convert, FloatsOutOfRangeGoToTheNearestEnd) {
  EXPECT_EQ(converted<std::uint8_t>(255.4), 255);
  EXPECT_EQ(converted<std::uint8_t>(255.5), 255);
  EXPECT_EQ(converted<std::uint8_t>(-1.0), 0);
  EXPECT_EQ(converted<std::int8_t>(-1000.0F), -128);
  EXPECT_EQ(converted<std::int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(converted<std::int64_t>(0x1p63F), INT64_MAX);
  EXPECT_EQ(converted<std::int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(converted<std::uint64_t>(0x1p64F), UINT64_MAX);
  EXPECT_EQ(converted<std::int32_t>(kInfinity), INT32_MAX);
  EXPECT_EQ(converted<std::uint32_t>(-kInfinity), 0);
}

TEST(Convert, TheLargestFloatBelowTheLimitIsKept) {
  EXPECT_EQ(converted<std::int64_t>(std::nextafter(0x1p63, 0)), INT64_MAX - 1023);
  EXPECT_EQ(converted<std::uint64_t>(std::nextafter(0x1p64, 0)), UINT64_MAX - 2047);
}

TEST(Convert, NanBecomesZeroInIntegersAndStaysInFloats) {
  EXPECT_EQ(converted<std::int32_t>(kNan), 0);
  EXPECT_TRUE(std::isnan(converted<float>(kNan)));
  EXPECT_GT(converted<Half>(kNan).bits & 0x7fff, 0x7c00);
}

TEST(Convert, IntegersOutOfRangeGoToTheNearestEnd) {
  EXPECT_EQ(converted<std::uint64_t>(std::int64_t{-1}), 0);
  EXPECT_EQ(converted<std::int64_t>(UINT64_MAX), INT64_MAX);
  EXPECT_EQ(converted<std::int8_t>(std::uint8_t{200}), 127);
  EXPECT_EQ(converted<std::uint8_t>(std::int16_t{-300}), 0);
  EXPECT_EQ(converted<std::int16_t>(std::int64_t{INT64_MIN}), INT16_MIN);
}

TEST(Convert, IntegersOf64BitsAreKept) {
  EXPECT_EQ(converted<std::uint64_t>(std::int64_t{INT64_MAX}), std::uint64_t{INT64_MAX});
  EXPECT_EQ(converted<std::int64_t>(std::uint64_t{INT64_MAX}), INT64_MAX);
}

TEST(Convert, BoolIsOneForAllThatIsNotZero) {
  EXPECT_TRUE(converted<bool>(0.25));
  EXPECT_TRUE(converted<bool>(kNan));
  EXPECT_TRUE(converted<bool>(std::int32_t{256}));
  EXPECT_FALSE(converted<bool>(-0.0));
  EXPECT_FALSE(converted<bool>(half(0)));
  EXPECT_EQ(converted<float>(true), 1);
}

TEST(Convert, AnyByteOfABoolThatIsNotZeroIsTrue) {
  const std::uint8_t stored = 7;
  std::int32_t result = 0;
  make_numeric_converter(type_of<bool>(), type_of<std::int32_t>())
      ->convert(reinterpret_cast<const std::byte*>(&stored), 0,
                reinterpret_cast<std::byte*>(&result), 0, 1);
  EXPECT_EQ(result, 1);
}

TEST(Convert, FloatsBecomeHalvesWithOneRounding) {
  // In two steps, the float would round onto the middle and from there up.
  EXPECT_EQ(converted<Half>(1.0 + 0x1p-11 + 0x1p-40), half(1.0 + 0x1p-10));
  EXPECT_EQ(converted<Half>(1.0 + 0x1p-11 - 0x1p-40), half(1.0));
  EXPECT_EQ(converted<float>(half(0.333)), 0.33300781F);
}

TEST(Convert, ComplexNumbersKeepTheirRealPart) {
  EXPECT_EQ(converted<std::int32_t>(std::complex<float>(3.5F, 9)), 4);
  EXPECT_EQ(converted<double>(std::complex<double>(-1, 2)), -1);
  EXPECT_EQ(converted<std::complex<float>>(std::int16_t{7}), std::complex<float>(7, 0));
  EXPECT_EQ(converted<std::complex<double>>(std::complex<float>(1, 2)), std::complex<double>(1, 2));
  EXPECT_TRUE(converted<bool>(std::complex<float>(1, 0)));
}

TEST(Convert, BothPartsOfSmallComplexNumbersAreRoundedOnce) {
  const auto parts = [](FloatFormat format, std::uint64_t size, std::complex<double> value) {
    const DataType small{TypeKind::complex, 2 * size, 0, format};
    Bytes bytes(small.item_size);
    make_numeric_converter(type_of<std::complex<double>>(), small)
        ->convert(reinterpret_cast<const std::byte*>(&value), 0, bytes.data(), 0, 1);
    std::complex<double> back;
    make_numeric_converter(small, type_of<std::complex<double>>())
        ->convert(bytes.data(), 0, reinterpret_cast<std::byte*>(&back), 0, 1);
    return back;
  };
  using Complex = std::complex<double>;
  // Half a unit of the last place above 1, and a bit that a float in between would lose.
  EXPECT_EQ(parts(FloatFormat::ieee, 2, {1.0 + 0x1p-11 + 0x1p-40, -2.5}),
            Complex(1.0 + 0x1p-10, -2.5));
  EXPECT_EQ(parts(FloatFormat::ieee, 2, {1e6, -0x1p-24}), Complex(kInfinity, -0x1p-24));
  EXPECT_EQ(parts(FloatFormat::bfloat16, 2, {1.0 + 0x1p-8 + 0x1p-40, 1e30}).real(), 1.0 + 0x1p-7);
  EXPECT_EQ(parts(FloatFormat::float8_e4m3fn, 1, {448, -0.5}), Complex(448, -0.5));
  EXPECT_EQ(parts(FloatFormat::float4_e2m1fn, 1, {6, -1.5}), Complex(6, -1.5));
}

TEST(Convert, WalksWithAnyStridesAndAddresses) {
  // Elements at odd addresses, the source backwards with a gap.
  Bytes source(3 * 3, std::byte{0xff});
  Bytes expected(1 + 3 * 5, std::byte{0xee});
  for (std::uint16_t i = 0; i < 3; ++i) {
    store_unsigned(i + 1U, 2, source.data() + 3 * i + 1);
    store_unsigned(3U - i, 4, expected.data() + 5 * i + 1);
  }
  Bytes destination(1 + 3 * 5, std::byte{0xee});
  make_numeric_converter(type_of<std::uint16_t>(), type_of<std::uint32_t>())
      ->convert(source.data() + 7, -3, destination.data() + 1, 5, 3);
  EXPECT_EQ(destination, expected);
}

TEST(Convert, ChainsAreRightOverManyBlocks) {
  const auto chain = chain_converters(
      make_numeric_converter(type_of<std::int16_t>(), type_of<double>()), sizeof(double),
      make_numeric_converter(type_of<double>(), type_of<std::uint8_t>()));
  std::vector<std::int16_t> source(1000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::int16_t>(i);
  // Backwards, with a gap after each element.
  Bytes destination(2 * source.size(), std::byte{0xee});
  chain->convert(reinterpret_cast<const std::byte*>(&source.back()), -2, destination.data(), 2,
                 source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t value = std::min<std::size_t>(source.size() - 1 - i, 255);
    ASSERT_EQ(destination[2 * i], static_cast<std::byte>(value)) << i;
    ASSERT_EQ(destination[2 * i + 1], std::byte{0xee}) << i;
  }
}

TEST(Convert, AChainOfOneIsThatOne) {
  auto converter = make_numeric_converter(type_of<float>(), type_of<double>());
  const ElementConverter* one = converter.get();
  converter = chain_converters(std::move(converter), 8, nullptr);
  EXPECT_EQ(converter.get(), one);
  converter = chain_converters(nullptr, 4, std::move(converter));
  EXPECT_EQ(converter.get(), one);
}

}  // namespace
}  // namespace zarrcore::test::convert_test
