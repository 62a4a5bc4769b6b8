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
