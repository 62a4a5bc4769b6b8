#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore::test::scale_offset_test {
namespace {

auto make_scale_offset(std::string_view configuration, const ChunkSpec& spec) {
  return make_array_to_array("scale_offset", configuration, spec);
}

// A codec for chunks of one element.
template <typename T>
class One {
 public:
  One(const DataType& type, std::string_view configuration, T fill = {})
      : codec_(make_scale_offset(configuration, {{1}, type, elements<T>({fill})})) {}
  T encode(T value) const { return values_of<T>(encoded_by(*codec_, elements<T>({value})))[0]; }
  T decode(T value) const {
    return values_of<T>(decoded_by(*codec_, elements<T>({value}), sizeof(T)))[0];
  }
  T fill() const { return values_of<T>(codec_->encoded_spec().fill_value)[0]; }

 private:
  std::unique_ptr<const ArrayToArrayCodec> codec_;
};

TEST(ScaleOffset, SubtractsThenMultiplies) {
  const One<std::int32_t> codec(kInt32, R"({"offset": 5, "scale": 3})", 7);
  EXPECT_EQ(codec.encode(15), 30);
  EXPECT_EQ(codec.decode(30), 15);
  EXPECT_EQ(codec.fill(), 6);
}

TEST(ScaleOffset, BothNumbersMayBeAbsent) {
  EXPECT_EQ(One<std::int32_t>(kInt32, R"({"offset": 5})").encode(15), 10);
  EXPECT_EQ(One<std::int32_t>(kInt32, R"({"scale": -1})").decode(15), -15);
  EXPECT_EQ(One<std::int32_t>(kInt32, R"({"scale": null})").encode(15), 15);
  EXPECT_TRUE(
      std::signbit(One<double>(kFloat64, "{}").decode(One<double>(kFloat64, "{}").encode(-0.0))));
}

TEST(ScaleOffset, RoundTripsAllSizes) {
  for (const std::size_t count : {0, 1, 7, 255, 256, 257, 100003}) {
    const auto codec = make_scale_offset(R"({"offset": -3, "scale": 2})", spec_of({count}, kInt32));
    const auto half =
        make_scale_offset(R"({"offset": -3, "scale": 2})", spec_of({count}, kFloat16));
    std::vector<std::int32_t> numbers(count);
    std::vector<std::uint16_t> halves(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<std::int32_t>(i * i % 1000003);
      halves[i] = double_to_float16(static_cast<double>(i % 500));
    }
    EXPECT_EQ(decoded_by(*codec, encoded_by(*codec, elements(numbers)), count * 4),
              elements(numbers));
    EXPECT_EQ(decoded_by(*half, encoded_by(*half, elements(halves)), count * 2), elements(halves));
  }
}

template <typename T>
void expect_edges(const DataType& type) {
  using Limits = std::numeric_limits<T>;
  const One<T> plus(type, R"({"offset": 1})", 1);
  EXPECT_EQ(plus.encode(Limits::max()), Limits::max() - 1);
  EXPECT_ERROR(plus.encode(Limits::min()), "does not fit the data type " + type_name(type));
  EXPECT_EQ(plus.decode(Limits::max() - 1), Limits::max());
  EXPECT_ERROR(plus.decode(Limits::max()), "is not a number of the data type");
  const One<T> twice(type, R"({"scale": 2})");
  EXPECT_EQ(twice.encode(Limits::max() / 2), Limits::max() / 2 * 2);
  EXPECT_ERROR(twice.encode(static_cast<T>(Limits::max() / 2 + 1)), "does not fit");
  EXPECT_EQ(twice.decode(Limits::max() - 1), Limits::max() / 2);
  EXPECT_ERROR(twice.decode(Limits::max()), "/ 2 + 0 is not a number");
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(twice.encode(Limits::min() / 2), Limits::min());
    EXPECT_ERROR(twice.encode(static_cast<T>(Limits::min() / 2 - 1)), "does not fit");
    const One<T> minus(type, R"({"offset": -1, "scale": -1})", 5);
    EXPECT_EQ(minus.encode(Limits::min()), Limits::max());
    EXPECT_ERROR(minus.encode(Limits::max()), "does not fit");
    EXPECT_EQ(minus.decode(Limits::max()), static_cast<T>(Limits::min()));
    EXPECT_ERROR(minus.decode(Limits::min()), "is not a number of the data type");
  }
}

TEST(ScaleOffset, IntegersNeverOverflow) {
  expect_edges<std::int8_t>(kInt8);
  expect_edges<std::int16_t>(kInt16);
  expect_edges<std::int32_t>(kInt32);
  expect_edges<std::int64_t>(kInt64);
  expect_edges<std::uint8_t>(kUint8);
  expect_edges<std::uint16_t>(kUint16);
  expect_edges<std::uint32_t>({TypeKind::unsigned_integer, 4});
  expect_edges<std::uint64_t>(kUint64);
}

TEST(ScaleOffset, IntegersOf64BitsAreExact) {
  const One<std::int64_t> codec(kInt64, R"({"offset": 9007199254740993})");
  EXPECT_EQ(codec.encode(9007199254740994), 1);
  EXPECT_EQ(codec.decode(2), 9007199254740995);
  const One<std::uint64_t> large(kUint64, R"({"offset": 18446744073709551614})",
                                 18446744073709551614U);
  EXPECT_EQ(large.encode(18446744073709551615U), 1);
}

TEST(ScaleOffset, NarrowIntegersKeepTheirRange) {
  const One<std::int8_t> codec({TypeKind::signed_integer, 1, 4}, R"({"offset": 1, "scale": -1})");
  EXPECT_EQ(codec.encode(-6), 7);
  EXPECT_ERROR(codec.encode(-7), "(-7 - 1) * -1 does not fit the data type int4");
  EXPECT_ERROR(codec.encode(-8), "does not fit the data type int4");
  EXPECT_ERROR(codec.decode(-8), "is not a number of the data type int4");
  const One<std::uint8_t> two({TypeKind::unsigned_integer, 1, 2}, R"({"scale": 3})");
  EXPECT_EQ(two.encode(1), 3);
  EXPECT_ERROR(two.encode(2), "does not fit the data type uint2");
}

TEST(ScaleOffset, FloatsAreComputedInTheirOwnType) {
  const One<float> single(kFloat32, R"({"offset": -10, "scale": 0.1})");
  EXPECT_EQ(single.encode(3.3F), (3.3F + 10.0F) * 0.1F);
  EXPECT_EQ(single.decode(1.5F), 1.5F / 0.1F + -10.0F);
  const One<double> real(kFloat64, R"({"offset": -10, "scale": 0.1})");
  EXPECT_EQ(real.encode(3.3), (3.3 + 10.0) * 0.1);
  EXPECT_TRUE(std::isnan(real.encode(std::nan(""))));
  EXPECT_EQ(real.decode(-INFINITY), -INFINITY);
}

TEST(ScaleOffset, Float16RoundsAfterEveryStep) {
  // 2049 is no float16: 2048 + 1 rounds to 2048, so 2048 - (-1) is 2048, and three times that 6144.
  const One<std::uint16_t> codec(kFloat16, R"({"offset": -1, "scale": 3})");
  EXPECT_EQ(codec.encode(double_to_float16(2048)), double_to_float16(6144));
  EXPECT_EQ(codec.decode(double_to_float16(6)), double_to_float16(1));
}

TEST(ScaleOffset, SmallFloats) {
  const One<std::uint16_t> codec({TypeKind::floating, 2, 0, FloatFormat::bfloat16},
                                 R"({"offset": 1, "scale": 4})", 0x4000);
  EXPECT_EQ(codec.encode(0x4040), 0x4100);  // (3 - 1) * 4 = 8
  EXPECT_EQ(codec.decode(0x4100), 0x4040);
  EXPECT_EQ(codec.fill(), 0x4080);
}

TEST(ScaleOffset, AFillValueThatDoesNotFitIsAnError) {
  EXPECT_ERROR(make_scale_offset(R"({"offset": 10})", spec_of({1})),
               "the fill value: scale_offset: (0 - 10) * 1 does not fit the data type uint8");
}

TEST(ScaleOffset, RefusesConfigurationsThatAreNone) {
  EXPECT_ERROR(make_scale_offset(R"({"offset": 0.5})", spec_of({1}, kInt16)),
               "\"offset\" is 0.5, which is not a number of the data type int16");
  EXPECT_ERROR(make_scale_offset(R"({"offset": 300})", spec_of({1})), "\"offset\" is 300");
  EXPECT_ERROR(make_scale_offset(R"({"scale": "x"})", spec_of({1}, kFloat64)),
               "\"scale\" is \"x\"");
  for (const DataType& type : {kInt16, kFloat16, kFloat32, kFloat64}) {
    EXPECT_ERROR(make_scale_offset(R"({"scale": 0})", spec_of({1}, type)),
                 "could not be read again");
  }
  for (const DataType& type : {DataType{TypeKind::boolean, 1}, DataType{TypeKind::complex, 8},
                               DataType{TypeKind::datetime, 8}, kString}) {
    EXPECT_ERROR(make_scale_offset("{}", spec_of({1}, type)), "are not real numbers");
  }
}

}  // namespace
}  // namespace zarrcore::test::scale_offset_test
