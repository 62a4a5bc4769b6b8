#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::categorize_test {
namespace {

const DataType kText8{TypeKind::fixed_utf32, 32};
const DataType kText{TypeKind::variable_string, sizeof(VariableElement)};

// Elements of `length` code points, little-endian as filters get them.
Bytes text_elements(std::initializer_list<std::u32string> texts, std::size_t length) {
  Bytes bytes;
  for (std::u32string text : texts) {
    text.resize(length);
    const ByteSpan element = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  return in_host_order(std::move(bytes), sizeof(char32_t));
}

TEST(Categorize, TextsOfFixedLength) {
  // numcodecs.Categorize(['female', 'männlich'], '<U8', '<i2').encode(
  //     np.array(['männlich', 'female', '', 'female', ''], '<U8'))
  const auto filter =
      make_filter("numcodecs.categorize",
                  R"({"labels": ["female", "männlich"], "dtype": "<U8", "astype": "<i2"})", kText8);
  const Bytes encoded = from_hex("02000100000001000000");
  EXPECT_EQ(encoded_by(*filter, text_elements({U"männlich", U"female", U"", U"female", U""}, 8)),
            encoded);
  EXPECT_EQ(decoded_by(*filter, encoded, 5 * 32),
            text_elements({U"männlich", U"female", U"", U"female", U""}, 8));
  // Of which numcodecs makes an empty text.
  EXPECT_ERROR(filter->encode(text_elements({U"female", U"x"}, 8)),
               "categorize: element 1 of the chunk is \"x\", which cannot be stored");
}

TEST(Categorize, LabelsThatAreTooLongAreCutOffAndUnknownNumbersAreEmpty) {
  // numcodecs.Categorize(['ab', 'longer'], '>U3').decode(np.array([0, 1, 2, 3], 'u1'))
  const auto filter = make_filter("numcodecs.categorize",
                                  R"({"labels": ["ab", "longer"], "dtype": ">U3"})", kText8);
  EXPECT_EQ(decoded_by(*filter, from_hex("00010203"), 48),
            from_hex("000000000000000000000000000000610000006200000000"
                     "0000006c0000006f0000006e000000000000000000000000"));
  const auto of_signed = make_filter(
      "numcodecs.categorize", R"({"labels": ["ab"], "dtype": "<U2", "astype": "|i1"})", kText8);
  EXPECT_EQ(decoded_by(*of_signed, from_hex("01ff"), 16), text_elements({U"ab", U""}, 2));
}

TEST(Categorize, TheLastOfEqualLabelsCounts) {
  const auto filter =
      make_filter("numcodecs.categorize", R"({"labels": ["a", "a"], "dtype": "<U8"})", kText8);
  EXPECT_EQ(encoded_by(*filter, text_elements({U"a"}, 8)), from_hex("02"));
}

TEST(Categorize, TurnsTextsOfAnyLengthIntoBytes) {
  // numcodecs.Categorize(['female', 'male'], object).encode(
  //     np.array(['male', 'female', 'female', 'male', 'unexpected'], object))
  const CodecChain chain = make_chain(
      R"([{"name": "numcodecs.categorize",
           "configuration": {"labels": ["female", "male"], "dtype": "|O", "astype": "|u1"}}])",
      spec_of({5}, kText));
  EXPECT_EQ(chain.encoded_size(), 5);
  const Bytes encoded = from_hex("0201010200");
  const DecodedChunk chunk = chain.decode(encoded);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 5; ++i) {
    VariableElement element;
    std::memcpy(&element, chunk.elements.data() + i * sizeof(element), sizeof(element));
    texts.emplace_back(element.text());
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"male", "female", "female", "male", ""}));
  EXPECT_EQ(chunk.arena.byte_count(), std::string("femalemale").size());
  EXPECT_EQ(to_bytes(chain.encode(chunk.elements.span()).span()), encoded);

  const VariableElement unknown{"unexpected", 10};
  Bytes bad = to_bytes(chunk.elements.span());
  std::memcpy(bad.data() + 3 * sizeof(unknown), &unknown, sizeof(unknown));
  EXPECT_ERROR(chain.encode(bad), "categorize: element 3 of the chunk is \"unexpected\"",
               "not a label");

  EXPECT_ERROR(chain.decode(from_hex("02010102")), "the chunk has 4 bytes where 5 are expected");
}

TEST(Categorize, NumbersOfTextsOfAnyLengthHaveAByteOrder) {
  const CodecChain chain = make_chain(
      R"([{"name": "numcodecs.categorize",
           "configuration": {"labels": ["x"], "astype": ">u2"}}])",
      spec_of({2}, kText));
  const DecodedChunk chunk = chain.decode(from_hex("00010100"));
  EXPECT_EQ(to_bytes(chain.encode(chunk.elements.span()).span()), from_hex("00010000"));
}

TEST(Categorize, MoreLabelsThanNumbersAreAnErrorWhenOneIsEncoded) {
  Json labels = Json::array();
  for (int i = 0; i < 200; ++i) labels.push_back("label" + std::to_string(i));
  const auto filter =
      make_filter("numcodecs.categorize",
                  dump_json({{"labels", labels}, {"dtype", "<U8"}, {"astype", "|i1"}}), kText8);
  EXPECT_EQ(encoded_by(*filter, text_elements({U"label126"}, 8)), from_hex("7f"));
  EXPECT_ERROR(filter->encode(text_elements({U"label127"}, 8)),
               "categorize: the label 128 is too many");
}

TEST(Categorize, BytesOfFixedLengthAreTheLabelsInUtf8) {
  const auto filter = make_filter(
      "numcodecs.categorize", R"({"labels": ["a", "b\u00e9"], "dtype": "|S3", "astype": "|u1"})",
      {TypeKind::fixed_bytes, 3});
  const Bytes texts = from_hex(
      "62c3a9"
      "610000"
      "000000");
  EXPECT_EQ(encoded_by(*filter, texts), from_hex("020100"));
  EXPECT_EQ(decoded_by(*filter, from_hex("020100"), 9), texts);
  EXPECT_ERROR(filter->encode(from_hex("780000")), "categorize: element 0");
}

TEST(Categorize, RefusesConfigurationsThatAreNotRight) {
  const auto make = [](const char* configuration, const DataType& type) {
    return make_codec("numcodecs.categorize", configuration, spec_of({1}, type));
  };
  EXPECT_ERROR(make("{}", kText8), "\"labels\" is not a list");
  EXPECT_ERROR(make(R"({"labels": [1]})", kText8), "the label 1 is not a text");
  EXPECT_ERROR(make(R"({"labels": [], "astype": "<f4"})", kText8), "not a type of integers");
  EXPECT_ERROR(make(R"({"labels": [], "dtype": "|O"})", kText8), R"("dtype" is "|O")");
  EXPECT_ERROR(make(R"({"labels": [], "dtype": "<i4"})", kText8), "not one of texts");
  EXPECT_ERROR(make(R"({"labels": [], "dtype": "<U4"})", kText), "texts of any length");
}

}  // namespace
}  // namespace zarrcore::test::categorize_test
