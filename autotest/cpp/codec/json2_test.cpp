#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::json2_test {
namespace {

using Texts = std::vector<std::string>;

auto make_json2(const Shape& shape, std::string_view configuration = "{}") {
  return make_array_to_bytes("numcodecs.json2", configuration, spec_of(shape, kString));
}

Texts texts(const Shape& shape, std::string_view json) {
  return texts_by(*make_json2(shape), bytes_of(json),
                  spec_of(shape, kString).byte_count() / sizeof(VariableElement));
}

TEST(Json2, ReadsAndWritesWhatNumcodecsWrites) {
  // JSON().encode(np.array([['a', 'b\u00e9', ''], ['\U0001f30d', '"\\', 'x']], dtype=object))
  constexpr const char* kJson = R"([["a","b\u00e9",""],["\ud83c\udf0d","\"\\","x"],"|O",[2,3]])";
  const Texts expected{"a", "b\xc3\xa9", "", "\xf0\x9f\x8c\x8d", "\"\\", "x"};
  EXPECT_EQ(texts({2, 3}, kJson), expected);
  EXPECT_EQ(encoded_by(*make_json2({2, 3}), elements(expected)), bytes_of(kJson));
}

TEST(Json2, OtherItemsBecomeTheirJson) {
  // JSON().encode(np.array(['a', 1, None, 2.5, True, [1, 'z'], {'k': float('nan')}], dtype=object))
  EXPECT_EQ(texts({7}, R"(["a",1,null,2.5,true,[1,"z"],{"k":NaN},"|O",[7]])"),
            (Texts{"a", "1", "null", "2.5", "true", R"([1,"z"])", R"({"k":NaN})"}));
}

TEST(Json2, ItsPredecessorHasNoShape) {
  // LegacyJSON().encode(np.array(['a', '', 'b\u00e9'], dtype=object)), without its blanks
  constexpr const char* kJson = R"(["a","","b\u00e9","|O"])";
  const auto make = [](const Shape& shape) {
    return make_array_to_bytes("numcodecs.json", "{}", spec_of(shape, kString));
  };
  EXPECT_EQ(texts_by(*make({3}), bytes_of(kJson), 3), (Texts{"a", "", "b\xc3\xa9"}));
  EXPECT_EQ(encoded_by(*make({3}), elements(Texts{"a", "", "b\xc3\xa9"})), bytes_of(kJson));
  EXPECT_EQ(texts_by(*make({2, 2}), bytes_of(R"([["a","b"],["c","d"],"|O"])"), 4),
            (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(texts_by(*make({2, 1}), bytes_of(R"([["a"],["b"],"|O"])"), 2), (Texts{"a", "b"}));
  EXPECT_EQ(texts_by(*make({2, 1}), bytes_of(R"(["a","b","|O"])"), 2), (Texts{"a", "b"}));
  EXPECT_EQ(texts_by(*make({1, 1, 1}), bytes_of(R"([[["a"]],"|O"])"), 1), Texts{"a"});
  EXPECT_ERROR(texts_by(*make({2, 2}), bytes_of(R"(["a","b","|O"])"), 4), "json: ");
  EXPECT_ERROR(texts_by(*make({1}), bytes_of("[]"), 1), "ends with a data type");
}

TEST(Json2, EmptyChunksKeepTheirShape) {
  for (const auto& [shape, json] :
       {std::pair(Shape{0}, R"(["|O",[0]])"), std::pair(Shape{2, 0}, R"([[],[],"|O",[2,0]])"),
        std::pair(Shape{0, 2}, R"(["|O",[0,2]])")}) {
    EXPECT_EQ(encoded_by(*make_json2(shape), {}), bytes_of(json));
    EXPECT_EQ(texts(shape, json), Texts{});
  }
}

TEST(Json2, AScalarIsAnItemOfItsOwn) {
  EXPECT_EQ(encoded_by(*make_json2({}), elements(Texts{"a"})), bytes_of(R"(["a","|O",[]])"));
  EXPECT_EQ(texts({}, R"(["a","|O",[]])"), Texts{"a"});
}

TEST(Json2, AChunkThatWasFlattenedIsReadInCOrder) {
  EXPECT_EQ(texts({2, 2}, R"(["a","b","c","d","|O",[4]])"), (Texts{"a", "b", "c", "d"}));
}

TEST(Json2, RoundTripsAllSizes) {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 5, 7}, Shape{20011}, Shape{1, 1}}) {
    const std::size_t count = spec_of(shape, kString).byte_count() / sizeof(VariableElement);
    Texts expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back("\xc3\xa9" + std::to_string(i * i));
    const auto codec = make_json2(shape);
    const Bytes encoded = encoded_by(*codec, elements(expected));
    EXPECT_LE(encoded.size(), codec->max_encoded_size());
    EXPECT_EQ(texts_by(*codec, encoded, count), expected);
  }
}

TEST(Json2, RefusesListsThatAreNotTheChunk) {
  EXPECT_ERROR(texts({2}, R"(["a","b","|O",[3]])"),
               "json2: the shape is [3] where [2] is expected");
  EXPECT_ERROR(texts({2}, R"(["a","|O",[2]])"), "the list has 1 items");
  EXPECT_ERROR(texts({2}, R"(["a","b","c","|O",[2]])"), "the list has 3 items");
  EXPECT_ERROR(texts({2, 2}, R"([["a","b"],["c"],"|O",[2,2]])"),
               R"(["c"] where a list of 2 items is expected)");
  EXPECT_ERROR(texts({1, 1}, R"(["a","|O",[1,1]])"), "\"a\" where a list of 1 items is expected");
  EXPECT_ERROR(texts({2}, R"({"a":1})"), "not a list");
  EXPECT_ERROR(texts({2}, R"([])"), "not a list that ends with");
  EXPECT_ERROR(texts({2}, R"(["a","b","|O",-2])"), "the shape is");
  EXPECT_ERROR(texts({2}, R"(["a","b","|O",[18446744073709551615,2]])"), "the shape is");
}

TEST(Json2, RefusesWhatIsNotJson) {
  const std::string whole = R"(["a","b","|O",[2]])";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(texts({2}, whole.substr(0, size)), "json2: not valid JSON");
  }
  EXPECT_ERROR(texts({2}, whole + "x"), "json2: not valid JSON");
  EXPECT_ERROR(texts({1}, "[\"\xff\",\"|O\",[1]]"), "json2: not valid JSON");
  EXPECT_ERROR(texts({1}, std::string(1'000'000, '[')), "nested deeper than");
}

TEST(Json2, RefusesConfigurationsThatItCannotServe) {
  EXPECT_NO_THROW(make_json2({1}, R"({"encoding": "utf-8", "indent": null})"));
  EXPECT_ERROR(make_json2({1}, R"({"encoding": "utf-16"})"), "\"encoding\" is \"utf-16\"");
  EXPECT_ERROR(make_codec("numcodecs.json2", "{}", spec_of({1}, kInt16)), "int16");
  EXPECT_ERROR(make_json2(Shape(1000, 1)), "too many dimensions");
}

}  // namespace
}  // namespace zarrcore::test::json2_test
