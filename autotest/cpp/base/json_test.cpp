#include "zarrcore/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::json_test {
namespace {

std::string nested(std::size_t depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}

TEST(Json, BareWordsAreNumbers) {
  const Json value = parse_json(R"({"a": NaN, "b": [Infinity, -Infinity, -1], "c": NaN})");
  EXPECT_TRUE(std::isnan(value["a"].get<double>()));
  EXPECT_TRUE(std::isnan(value["c"].get<double>()));
  EXPECT_EQ(value["b"][0], HUGE_VAL);
  EXPECT_EQ(value["b"][1], -HUGE_VAL);
  EXPECT_EQ(value["b"][2], -1);
}

TEST(Json, ABareWordCanBeTheWholeDocument) {
  EXPECT_TRUE(std::isnan(parse_json("NaN").get<double>()));
  EXPECT_EQ(parse_json(" -Infinity "), -HUGE_VAL);
}

TEST(Json, BareWordsInsideStringsStayText) {
  const Json value =
      parse_json(R"({"NaN": "NaN", "x": "say \"Infinity\" and -Infinity", "y": NaN})");
  EXPECT_EQ(value["NaN"], "NaN");
  EXPECT_EQ(value["x"], R"(say "Infinity" and -Infinity)");
}

TEST(Json, WritesBareWordsAndNeverNull) {
  const std::string text = R"({"a":NaN,"b":[Infinity,-Infinity,1.5],"c":"NaN"})";
  EXPECT_EQ(dump_json(parse_json(text)), text);
}

// Texts that look like the placeholder of a bare word while it is written.
TEST(Json, WritesTextsBesideBareWordsAsTheyAre) {
  for (const char* text : {R"([NaN,"not finite:NaN"])", R"({"not finite:NaN":-Infinity})",
                           R"(["\"not finite:","not finite::NaN",Infinity,"NaN"])"}) {
    EXPECT_EQ(dump_json(parse_json(text)), text);
  }
}

TEST(Json, WritesInLinesAndInAscii) {
  const Json value = parse_json(R"({"a": ["é", NaN], "b": {}})");
  EXPECT_EQ(dump_json(value, {.indentation = 1}),
            "{\n \"a\": [\n  \"é\",\n  NaN\n ],\n \"b\": {}\n}");
  EXPECT_EQ(dump_json(value, {.is_ascii = true}), R"({"a":["\u00e9",NaN],"b":{}})");
}

TEST(Json, WordsThatOnlyLookAlikeAreErrors) {
  for (const char* text : {"[Nan]", "[NaN1]", "[Infinit]", "[-Inf]", "[+Infinity]", "[nan]"}) {
    EXPECT_ERROR(parse_json(text), "not valid JSON") << text;
  }
}

TEST(Json, NumbersTooLargeForAFloatAreInfinite) {
  const Json value = parse_json("[1e999, -1e999, 1e-999, 123456e400, 1.5e308, 0.0000001e310]");
  EXPECT_EQ(value[0], HUGE_VAL);
  EXPECT_EQ(value[1], -HUGE_VAL);
  EXPECT_EQ(value[2], 0.0);
  EXPECT_EQ(value[3], HUGE_VAL);
  EXPECT_EQ(value[4], 1.5e308);
  EXPECT_EQ(value[5], 1e303);
}

TEST(Json, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(parse_json(R"(["\ud83c", "\udf0d\ud83c", "\ud83cx", "\ud83c\udf0d", "\\ud83c"])"),
            parse_json(R"(["\ufffd", "\ufffd\ufffd", "\ufffdx", "🌍", "\\ud83c"])"));
}

TEST(Json, IntegersKeepAllDigits) {
  const std::string text =
      "[9007199254740993,18446744073709551615,-9223372036854775808,9223372036854775807]";
  EXPECT_EQ(dump_json(parse_json(text)), text);
  EXPECT_EQ(parse_json("9007199254740993").get<std::uint64_t>(), 9007199254740993u);
}

TEST(Json, TheLastOfEqualKeysWins) {
  const Json value = parse_json(R"({"a": 1, "b": 2, "a": 3})");
  EXPECT_EQ(value.size(), 2);
  EXPECT_EQ(value["a"], 3);
}

TEST(Json, MembersKeepTheirOrder) {
  const std::string text = R"({"z":1,"a":2,"m":{"y":1,"b":2}})";
  EXPECT_EQ(dump_json(parse_json(text)), text);
}

TEST(Json, TextIsUtf8OrEscaped) {
  EXPECT_EQ(parse_json(R"("Gr\u00f6\u00dfe \ud83c\udf0d")"), "Größe 🌍");
  EXPECT_EQ(parse_json("\"Größe 🌍\""), "Größe 🌍");
}

TEST(Json, InvalidUtf8IsAnError) {
  EXPECT_ERROR(parse_json("\"\xff\xfe\""), "not valid JSON");
}

TEST(Json, NestingIsBounded) {
  EXPECT_NO_THROW(parse_json(nested(kMaxJsonDepth, '[', ']')));
  EXPECT_ERROR(parse_json(nested(kMaxJsonDepth + 1, '[', ']')), "nested deeper than 256 levels");
}

TEST(Json, BracketsInStringsAreNoNesting) {
  EXPECT_NO_THROW(
      parse_json("[\"" + nested(1000, '{', '}') + R"(\\\" )" + nested(999, '[', ']') + "\"]"));
}

TEST(Json, BrokenDocumentsNeverPass) {
  for (const char* text : {"", " ", "{", "[1,", "{\"a\"}", "{\"a\":1,}", "[1] 2", "\"open", "]",
                           "\\", "\"\\", "tru", "1e", "{'a': 1}"}) {
    EXPECT_ERROR(parse_json(text), "not valid JSON") << text;
  }
}

TEST(Json, NumbersAreSpelledAsInTheSpecification) {
  EXPECT_EQ(dump_json(parse_json("[0, -0, 10, 0.5, -1.25e+2, 1E2, 0e0]")),
            "[0,0,10,0.5,-125.0,100.0,0.0]");
  for (const char* text : {"01", "-01", "+1", "1.", ".5", "-", "1e", "1e+", "0x10", "1_0", "1.5.2",
                           "--1", "1-", "-NaN", "1d"}) {
    EXPECT_ERROR(parse_json(text), "not valid JSON: syntax error while parsing value") << text;
  }
}

constexpr JsonStyle kAsRead{.as_read = true};

constexpr const char* kSpelledNumbers =
    R"({"a":1e400,"b":[1.10,2,-0,[1E5,{"c":123456789012345678901234567890}],-1e999,NaN],"d":1.10})";

TEST(Json, NumbersCanBeWrittenAsTheyWereRead) {
  const Json value = parse_json(kSpelledNumbers);
  EXPECT_EQ(dump_json(value, kAsRead), kSpelledNumbers);
  EXPECT_EQ(dump_json(value),
            R"({"a":Infinity,"b":[1.1,2,0,[100000.0,{"c":1.2345678901234568e+29}],)"
            R"(-Infinity,NaN],"d":1.1})");
  EXPECT_EQ(value["d"], 1.1);
  EXPECT_EQ(value["a"], HUGE_VAL);
}

// Bare words and numbers that the library refuses, among others.
TEST(Json, EachNumberIsReadWhereItStands) {
  constexpr const char* kText =
      R"([1,NaN,-2.50,"NaN 1",1e400,{"3":4,"k":-Infinity,"l":[-0,5]},-1e999,)"
      R"("\"Infinity, 7",12,Infinity,0.10])";
  const Json value = parse_json(kText);
  EXPECT_EQ(dump_json(value, kAsRead), kText);
  EXPECT_EQ(value[0], 1);
  EXPECT_EQ(value[2], -2.5);
  EXPECT_EQ(value[4], HUGE_VAL);
  EXPECT_EQ(value[5]["3"], 4);
  EXPECT_EQ(value[5]["l"], (Json{0, 5}));
  EXPECT_EQ(value[6], -HUGE_VAL);
  EXPECT_EQ(value[8], 12);
  EXPECT_EQ(value[10], 0.1);
}

TEST(Json, NumbersThatAreTooLargeMustBeRightAsWell) {
  const std::string zeros(400, '0');
  EXPECT_EQ(parse_json("[1" + zeros + "]")[0], HUGE_VAL);
  EXPECT_EQ(parse_json("[0." + zeros + "1e+500]")[0], 1e99);
  for (const std::string& text :
       std::vector<std::string>{"01e400", "1e400x", "1.e400", "1e400.5", "+1e400", "01" + zeros}) {
    EXPECT_ERROR(parse_json("[" + text + "]"), "not valid JSON") << text;
  }
}

TEST(Json, CopiesAndMovesKeepHowNumbersWereSpelled) {
  Json value = parse_json(kSpelledNumbers);
  Json copy = value;
  copy["b"][0] = 5;
  copy["d"] = "1.1";
  EXPECT_EQ(dump_json(value, kAsRead), kSpelledNumbers);
  const Json moved = std::move(value);
  EXPECT_EQ(dump_json(moved, kAsRead), kSpelledNumbers);
  EXPECT_EQ(
      dump_json(copy, kAsRead),
      R"({"a":1e400,"b":[5,2,-0,[1E5,{"c":123456789012345678901234567890}],-1e999,NaN],"d":"1.1"})");
}

TEST(Json, OtherNumbersAreNotSpelledAsThoseThatTheyReplace) {
  Json value = parse_json(R"([1e400, -0, 1.10, 18446744073709551616, -0e0])");
  value[0] = -HUGE_VAL;
  value[1] = 0.0;
  value[2] = 1.2;
  value[3] = 1;
  value[4] = 0.0;
  EXPECT_EQ(dump_json(value, kAsRead), "[-Infinity,0.0,1.2,1,0.0]");
}

TEST(Json, MembersAndItemsThatMoveUpStayAsTheyAreSpelled) {
  Json object = parse_json(R"({"a":1.10,"b":2,"c":1.20,"d":3,"e":1e5})");
  object.erase("b");
  EXPECT_EQ(dump_json(object, kAsRead), R"({"a":1.10,"c":1.20,"d":3,"e":1e5})");
  object.erase(object.find("a"));
  object["f"] = 1.1;
  EXPECT_EQ(dump_json(object, kAsRead), R"({"c":1.20,"d":3,"e":1e5,"f":1.1})");
  object.erase(object.begin(), object.find("e"));
  EXPECT_EQ(dump_json(object, kAsRead), R"({"e":1e5,"f":1.1})");
  object.clear();
  object["e"] = 1e5;
  EXPECT_EQ(dump_json(object, kAsRead), R"({"e":100000.0})");
}

TEST(Json, TheLastSpellingOfEqualKeysWins) {
  const Json value = parse_json(R"({"a":1.10,"b":1e5,"a":1.100,"b":7})");
  EXPECT_EQ(dump_json(value, kAsRead), R"({"a":1.100,"b":7})");
}

TEST(Json, MembersAreCopiedAsTheyAreSpelled) {
  const Json from = parse_json(R"({"x":0,"a":1.10})");
  Json to = parse_json(R"({"b":2e2})");
  copy_member(from, "a", to, "c");
  copy_member(from, "x", to, "b");
  EXPECT_EQ(dump_json(to, kAsRead), R"({"b":0,"c":1.10})");
}

TEST(Json, ValuesAreTheSameIfTheyAreWrittenAlike) {
  EXPECT_TRUE(is_same_text(parse_json("[NaN, 1.10]"), parse_json("[NaN,1.10]")));
  EXPECT_FALSE(is_same_text(parse_json("[1e400]"), parse_json("[2e400]")));
  EXPECT_FALSE(is_same_text(parse_json("[1]"), parse_json("[1.0]")));
}

TEST(Json, StringsHaveEscapes) {
  EXPECT_EQ(parse_json(R"("\"\\\/\b\f\n\r\t\u00e9\u0000")").get<std::string>(),
            std::string("\"\\/\b\f\n\r\té\0", 11));
  for (const char* text : {R"(["\x"])", R"(["\u12g4"])", R"(["\u12"])", R"(["\U0041"])"}) {
    EXPECT_ERROR(parse_json(text), "invalid string: ") << text;
  }
  for (const char* text : {"[\"\nb\"]", "[\"\x01\"]"}) {
    EXPECT_ERROR(parse_json(text), "invalid string: control character");
  }
}

TEST(Json, AByteOrderMarkIsIgnored) {
  EXPECT_EQ(parse_json("\xef\xbb\xbf [1]"), parse_json("[1]"));
}

TEST(Json, EveryPrefixOfADocumentIsAnError) {
  const std::string text = R"({"a":[1,-2.5e3,NaN,"\u00e9\"x"],"b":{"c":null,"d":-Infinity}})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_ERROR(parse_json(text.substr(0, size)), "not valid JSON") << text.substr(0, size);
  }
  EXPECT_EQ(dump_json(parse_json(text)),
            R"({"a":[1,-2500.0,NaN,"é\"x"],"b":{"c":null,"d":-Infinity}})");
}

TEST(Json, TheErrorTellsThePosition) {
  EXPECT_ERROR(parse_json("{\n\"a\": ?}"),
               "not valid JSON: syntax error while parsing value - invalid literal at byte 7 "
               "(line 2, column 6)");
  EXPECT_ERROR(parse_json("{\n    \"a b\":   ?}"), "at byte 15 (line 2, column 14)");
  EXPECT_ERROR(parse_json("[ 1,\n  \"a  \\q\"]"), "at byte 12 (line 2, column 8)");
  EXPECT_ERROR(parse_json(""), "empty");
}

TEST(Json, MembersAreFoundInObjectsAlone) {
  const Json value = parse_json(R"({"a": 1, "b": null})");
  ASSERT_NE(find_member(value, "a"), nullptr);
  EXPECT_EQ(*find_member(value, "a"), 1);
  EXPECT_NE(find_member(value, "b"), nullptr);
  EXPECT_EQ(find_member(value, "c"), nullptr);
  EXPECT_EQ(find_member(parse_json("[1]"), "a"), nullptr);
}

TEST(Json, UnsignedIntegersAreTakenFromIntegersAlone) {
  EXPECT_EQ(as_unsigned(parse_json("18446744073709551615"), "it"), UINT64_MAX);
  EXPECT_EQ(as_unsigned(Json(std::int64_t{7}), "it"), 7);
  EXPECT_ERROR(as_unsigned(parse_json("-1"), "it"), "it is -1");
  EXPECT_ERROR(as_unsigned(parse_json("1.0"), "it"), "it is a number");
  EXPECT_ERROR(as_unsigned(parse_json("\"1\""), "it"), "it is a string");
  EXPECT_ERROR(as_unsigned(parse_json("true"), "it"), "it is a boolean");
  EXPECT_ERROR(as_unsigned(parse_json("18446744073709551616"), "it"), "it is a number");
}

TEST(Json, ListsOfUnsignedIntegersSayWhatIsWrong) {
  EXPECT_EQ(as_unsigned_list(parse_json("[1, 2]"), "it"), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_ERROR(as_unsigned_list(parse_json("{}"), "it"), "it is an object");
  EXPECT_ERROR(as_unsigned_list(parse_json("[1, null]"), "it"), "it is null");
}

// The documents are made of pieces, most of them almost JSON. Without bare words, single surrogates
// and numbers outside float64, which the library refuses, both parsers must agree.
TEST(Json, AgreesWithTheParserOfTheLibrary) {
  constexpr const char* kPieces[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ":",
                                     ",",
                                     "\"",
                                     "\"a\"",
                                     "\"b\"",
                                     " ",
                                     "\n",
                                     "0",
                                     "1",
                                     "-",
                                     "12.5",
                                     "1e3",
                                     "1E-2",
                                     ".",
                                     "+",
                                     "true",
                                     "null",
                                     "false",
                                     "tru",
                                     "\\n",
                                     "\\u0041",
                                     "\\x",
                                     "\t",
                                     "18446744073709551615",
                                     "-9223372036854775808",
                                     "18446744073709551616",
                                     "\xc3\xa9",
                                     "\xff",
                                     "1.7976931348623157e308",
                                     "0.1",
                                     "\"a\":1,"};
  std::mt19937 random(11);
  std::size_t valid = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string text;
    const auto pieces = 1 + random() % 9;
    const auto close = random() % 3;  // often a whole list or object
    if (close != 0) text = close == 1 ? "[" : "{\"m\":";
    for (std::size_t piece = 0; piece < pieces; ++piece)
      text += kPieces[random() % std::size(kPieces)];
    if (close != 0) text += close == 1 ? ']' : '}';
    const auto expected = nlohmann::ordered_json::parse(text, nullptr, false);
    std::string parsed;
    try {
      parsed = dump_json(parse_json(text));
    } catch (const Error&) {
      parsed = "refused";
    }
    if (parsed.find("Infinity") != std::string::npos) continue;
    ASSERT_EQ(parsed, expected.is_discarded() ? "refused" : expected.dump()) << text;
    if (!expected.is_discarded()) {
      const std::string as_read = dump_json(parse_json(text), kAsRead);
      ASSERT_EQ(nlohmann::ordered_json::parse(as_read), expected) << text;
      ASSERT_EQ(dump_json(parse_json(as_read), kAsRead), as_read) << text;
    }
    valid += expected.is_discarded() ? 0 : 1;
  }
  EXPECT_GT(valid, 10'000);
}

}  // namespace
}  // namespace zarrcore::test::json_test
