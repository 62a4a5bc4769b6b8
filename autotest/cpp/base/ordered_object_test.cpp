// Objects of JSON documents, few members and many.
#include <gtest/gtest.h>

#include "zarrcore/base/json.h"

namespace zarrcore::test::ordered_object_test {
namespace {

constexpr int kMany = 5000;

std::string name(int i) {
  return "member " + std::to_string(i * 7919 % kMany);
}

TEST(OrderedObject, FindsEachOfManyMembers) {
  Json object = Json::object();
  for (int i = 0; i < kMany; ++i) object[name(i)] = i;
  EXPECT_EQ(object.size(), kMany);
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(object.at(name(i)), i);
  EXPECT_EQ(find_member(object, "member 5000"), nullptr);
  EXPECT_EQ(object.items().begin().key(), name(0));
}

TEST(OrderedObject, FindsMembersAfterSomeWereErased) {
  Json object = Json::object();
  for (int i = 0; i < kMany; ++i) object[name(i)] = i;
  for (int i = 0; i < kMany; i += 100) object.erase(name(i));
  object["new"] = "last";
  EXPECT_EQ(object.size(), kMany - kMany / 100 + 1);
  for (int i = 0; i < kMany; ++i) {
    const Json* member = find_member(object, name(i));
    const bool is_erased = i % 100 == 0;
    EXPECT_TRUE(is_erased ? member == nullptr : member != nullptr && *member == i);
  }
  EXPECT_EQ(object["new"], "last");
}

// Without an index, this compares 45 billion names.
TEST(OrderedObject, FindsEachOfManyMembersAfterOneWasErased) {
  constexpr int kVeryMany = 300'000;
  Json object = Json::object();
  for (int i = 0; i < kVeryMany; ++i) object["member " + std::to_string(i)] = i;
  object.erase("member 1000");
  for (int i = 0; i < kVeryMany; ++i) {
    const Json* member = find_member(object, "member " + std::to_string(i));
    ASSERT_EQ(member != nullptr, i != 1000);
    ASSERT_TRUE(member == nullptr || *member == i);
  }
}

TEST(OrderedObject, KeepsItsIndexWhereverMembersAreErased) {
  Json object = Json::object();
  for (int i = 0; i < 100; ++i) object[std::to_string(i)] = i;
  // Down to fewer members than have an index, and up again.
  for (int i = 0; i < 90; ++i) object.erase(std::to_string(i * 37 % 100));
  for (int i = 100; i < 200; ++i) object[std::to_string(i)] = i;
  int count = 0;
  for (const auto& [name, value] : object.items()) {
    EXPECT_EQ(name, std::to_string(value.get<int>()));
    EXPECT_EQ(object.at(name), value);
    ++count;
  }
  EXPECT_EQ(count, 110);
  for (int i = 0; i < 90; ++i) EXPECT_FALSE(object.contains(std::to_string(i * 37 % 100)));
}

TEST(OrderedObject, ErasesManyMembersAtOnce) {
  constexpr int kVeryMany = 300'000;
  Json object = parse_json("{\"first\": 1.50, \"last\": 2.50}");
  for (int i = 0; i < kVeryMany; ++i) object[std::to_string(i)] = i;
  erase_members(object,
                [](const std::string& name) { return name == "first" || name.size() == 6; });
  EXPECT_EQ(object.size(), 100'001);
  EXPECT_EQ(object.at("99999"), 99'999);
  EXPECT_FALSE(object.contains("100000"));
  erase_members(object, [](const std::string& name) { return name != "last"; });
  EXPECT_EQ(dump_json(object, {.as_read = true}), "{\"last\":2.50}");
}

TEST(OrderedObject, TheLastOfEqualKeysWinsAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 3 * kMany; ++i) {
    text.append(i > 0 ? ",\"" : "\"")
        .append(name(i % kMany))
        .append("\":")
        .append(std::to_string(i));
  }
  const Json object = parse_json(text + "}");
  EXPECT_EQ(object.size(), kMany);
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(object.at(name(i)), i + 2 * kMany);
}

TEST(OrderedObject, CopiesAndMovesStandAlone) {
  Json object = Json::object();
  for (int i = 0; i < kMany; ++i) object[name(i)] = i;
  Json copy = object;
  copy[name(1)] = "changed";
  copy.erase(name(2));
  EXPECT_EQ(object.at(name(1)), 1);
  EXPECT_EQ(object.at(name(2)), 2);
  const Json moved = std::move(copy);
  EXPECT_EQ(moved.at(name(1)), "changed");
  EXPECT_EQ(moved.at(name(kMany - 1)), kMany - 1);
  EXPECT_NE(object, moved);
}

}  // namespace
}  // namespace zarrcore::test::ordered_object_test
