#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::astype_test {
namespace {

std::unique_ptr<const Filter> make(std::string_view configuration) {
  return make_filter("numcodecs.astype", configuration, kFloat64);
}

TEST(Astype, CastsAsNumpyDoes) {
  // numcodecs.AsType('<i4', '<i8').encode(np.array([1, -2, 2**33 + 5], '<i8'))
  EXPECT_EQ(encoded_by(*make(R"({"encode_dtype": "<i4", "decode_dtype": "<i8"})"),
                       little_endian<std::int64_t>({1, -2, 5})),
            from_hex("01000000feffffff05000000"));
  // numcodecs.AsType('|u1', '<f8').encode(np.array([1.9, -0.9, 45, 255.5], '<f8'))
  EXPECT_EQ(encoded_by(*make(R"({"encode_dtype": "|u1", "decode_dtype": "<f8"})"),
                       little_endian<double>({1.9, -0.9, 45, 255.5})),
            from_hex("01002dff"));
  // numcodecs.AsType('>f4', '<f8').encode(np.array([0.1, -2], '<f8'))
  const auto to_big = make(R"({"encode_dtype": ">f4", "decode_dtype": "<f8"})");
  EXPECT_EQ(encoded_by(*to_big, little_endian<double>({0.1, -2})), from_hex("3dcccccdc0000000"));
  EXPECT_EQ(decoded_by(*to_big, from_hex("3dcccccdc0000000"), 16),
            little_endian<double>({double{0.1f}, -2}));
}

TEST(Astype, WhatATypeCannotHoldIsAnError) {
  const auto cast = [](const char* from, const char* to) {
    return make(dump_json({{"encode_dtype", to}, {"decode_dtype", from}}));
  };
  EXPECT_ERROR(
      cast("<i8", "<i4")->encode(little_endian<std::int64_t>({1, (std::int64_t{1} << 33) + 5})),
      "astype: element 1 of the chunk is 8589934597, which cannot be stored: it would become "
      "5");
  for (const double value : {-1.9, 300.5, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_ERROR(cast("<f8", "|u1")->encode(little_endian<double>({7, value})),
                 "element 1 of the chunk");
  }
  EXPECT_ERROR(cast("<f8", "<f4")->encode(little_endian<double>({1e39})), "element 0", "1e+39");
  EXPECT_NO_THROW(cast("<f8", "<f4")->encode(little_endian<double>({0.1, -1e-60, 3e38})));
  EXPECT_ERROR(cast("<i8", "<f4")->encode(little_endian<std::int64_t>({16777217})), "is 16777217,");
  EXPECT_ERROR(cast("<i8", "<f8")->encode(little_endian<std::int64_t>({INT64_MAX})),
               "is 9223372036854775807,");
  EXPECT_ERROR(cast("|u1", "|b1")->encode(little_endian<std::uint8_t>({1, 0, 5})), "element 2",
               "is 5,");
  EXPECT_ERROR(cast("<c16", "<f8")->encode(little_endian<double>({1, 0, 2, 3})), "element 1");
}

TEST(Astype, TheTypeOfTheArrayStandsInForAMissingOne) {
  EXPECT_EQ(decoded_by(*make(R"({"encode_dtype": "int16"})"), little_endian<std::int16_t>({-3}), 8),
            little_endian<double>({-3}));
}

TEST(Astype, TimesAreTheirIntegers) {
  const auto filter = make(R"({"encode_dtype": "<i4", "decode_dtype": "<M8[s]"})");
  EXPECT_EQ(encoded_by(*filter, little_endian<std::int64_t>({86400})),
            little_endian<std::int32_t>({86400}));
  EXPECT_EQ(decoded_by(*filter, little_endian<std::int32_t>({-1}), 8),
            little_endian<std::int64_t>({-1}));
}

TEST(Astype, TextsArePaddedAndNotCutOff) {
  // numcodecs.AsType('|S2', '<U3').encode(np.array(['ab', 'd'], '<U3'))
  const auto filter = make(R"({"encode_dtype": "|S2", "decode_dtype": "<U3"})");
  const Bytes decoded = from_hex("610000006200000000000000640000000000000000000000");
  EXPECT_EQ(encoded_by(*filter, decoded), from_hex("61626400"));
  EXPECT_EQ(decoded_by(*filter, from_hex("61626400"), 24),
            from_hex("610000006200000000000000640000000000000000000000"));
  EXPECT_ERROR(filter->encode(from_hex("640000000000000000000000610000006200000063000000")),
               "astype: element 1 of the chunk is \"abc\", which cannot be stored: it would become "
               "\"ab\"");
  EXPECT_ERROR(filter->encode(from_hex("e90000000000000000000000")),
               "astype: a text that is not ASCII cannot be cast");
  EXPECT_ERROR(decoded_by(*filter, from_hex("e900"), 12), "astype: a text that is not ASCII");
}

TEST(Astype, RefusesCastsThatItDoesNotHave) {
  EXPECT_ERROR(make("{}"), "\"encode_dtype\" is missing");
  EXPECT_ERROR(make(R"({"encode_dtype": "|O"})"), R"("encode_dtype" is "|O")");
  EXPECT_ERROR(make(R"({"encode_dtype": "|S4"})"), "cannot compute with");
  EXPECT_ERROR(make(R"({"encode_dtype": "<M8[s]", "decode_dtype": "<M8[ms]"})"),
               "units of numpy.datetime64 and numpy.datetime64 differ");
}

}  // namespace
}  // namespace zarrcore::test::astype_test
