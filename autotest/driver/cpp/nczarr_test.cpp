#include <gtest/gtest.h>

#include "driver/conventions/gdal_attributes.h"

namespace gdal_zarr::test::nczarr_test {
namespace {

using Paths = std::vector<std::string>;

zarrcore::ArrayMetadata array(std::string_view attributes, std::string_view members = "{}") {
  zarrcore::ArrayMetadata array;
  array.shape = {5, 7};
  array.attributes = zarrcore::parse_json(attributes);
  array.unknown_members = zarrcore::parse_json(members);
  return array;
}

TEST(Nczarr, DimensionsAreReferredToByPath) {
  const Paths expected{"/y", "/group/x"};
  EXPECT_EQ(nczarr_dimensions(
                array(R"({"_nczarr_array": {"dimension_references": ["/y", "/group/x"]}})")),
            expected);
  EXPECT_EQ(nczarr_dimensions(array("{}", R"({"_NCZARR_ARRAY": {"dimrefs": ["/y", "/group/x"]}})")),
            expected);
  EXPECT_EQ(nczarr_dimensions(array("{}", R"({"_nczarr_array": {"dimrefs": ["/y", "/group/x"]}})")),
            expected);
}

TEST(Nczarr, WhatDoesNotFitIsLeftAlone) {
  for (const char* references : {R"(["/y"])", R"(["/y", "x"])", R"(["/y", "/../x"])",
                                 R"(["/y", "/"])", R"(["/y", 7])", R"("/y")", R"(["/y", "//x"])"}) {
    const std::string attributes =
        R"({"_nczarr_array": {"dimension_references": )" + std::string(references) + "}}";
    EXPECT_EQ(nczarr_dimensions(array(attributes)), Paths()) << references;
  }
  EXPECT_EQ(nczarr_dimensions(array("{}")), Paths());
}

TEST(Nczarr, GroupsDefineDimensions) {
  zarrcore::GroupMetadata group;
  group.attributes = zarrcore::parse_json(R"({"_nczarr_group": {"dimensions": {"y": 5, "x": 7}}})");
  const auto named = nczarr_group_dimensions(group);
  ASSERT_EQ(named.size(), 2);
  EXPECT_EQ(named[1].name, "x");
  EXPECT_EQ(named[1].size, 7);
  group = {};
  group.unknown_members =
      zarrcore::parse_json(R"({"_NCZARR_GROUP": {"dims": {"t": {"size": 3, "unlimited": 1}}}})");
  ASSERT_EQ(nczarr_group_dimensions(group).size(), 1);
  EXPECT_EQ(nczarr_group_dimensions(group)[0].size, 3);
  group.unknown_members["_NCZARR_GROUP"]["dims"] = {{"t", -3}, {"u", "3"}};
  EXPECT_TRUE(nczarr_group_dimensions(group).empty());
}

TEST(Nczarr, ItsOwnAttributesAreLeftOut) {
  EXPECT_EQ(without_nczarr(zarrcore::parse_json(
                R"({"_nczarr_attr": {}, "_FillValue": 1, "_NCZARR_ATTR": {}, "units": "m"})")),
            zarrcore::parse_json(R"({"_FillValue": 1, "units": "m"})"));
}

}  // namespace
}  // namespace gdal_zarr::test::nczarr_test
