#include "driver/conventions/multiscales.h"

#include <gtest/gtest.h>

namespace gdal_zarr::test::multiscales_test {
namespace {

using Names = std::vector<std::string>;

std::optional<Multiscales> parsed(std::string_view attributes) {
  return parse_multiscales(zarrcore::parse_json(attributes));
}

Names assets(const std::optional<Multiscales>& multiscales) {
  Names names;
  for (const Level& level : multiscales.value().levels) names.push_back(level.asset);
  return names;
}

TEST(Multiscales, ALayoutListsItsLevels) {
  const auto multiscales = parsed(R"({"multiscales": {"layout": [
      {"asset": ".", "spatial:transform": [1, 0, 0, 0, 1, 0]},
      {"asset": "./r20m/"}, {"asset": "r60m/deep"}]}})");
  EXPECT_EQ(assets(multiscales), (Names{"", "r20m", "r60m/deep"}));
  EXPECT_TRUE(multiscales->levels[0].entry.contains("spatial:transform"));
  EXPECT_TRUE(multiscales->axes.empty());
}

TEST(Multiscales, OmeZarrListsDatasetsAndAxes) {
  constexpr const char* kOme = R"([{"datasets": [{"path": "0"}, {"path": "1"}],
      "axes": [{"name": "c"}, {"name": "y"}, {"name": "x"}]}, {"datasets": [{"path": "other"}]}])";
  for (const std::string& attributes :
       {R"({"multiscales": )" + std::string(kOme) + "}",
        R"({"ome": {"version": "0.5", "multiscales": )" + std::string(kOme) + "}}"}) {
    const auto multiscales = parsed(attributes);
    EXPECT_EQ(assets(multiscales), (Names{"0", "1"}));
    EXPECT_EQ(multiscales->axes, (Names{"c", "y", "x"}));
  }
  EXPECT_EQ(parsed(R"({"multiscales": [{"datasets": [{"path": "0"}], "axes": ["y", "x"]}]})")->axes,
            (Names{"y", "x"}));
}

TEST(Multiscales, DerivationsOrderLevels) {
  const auto ordered = parsed(R"({"multiscales": {"layout": [
      {"asset": "quarter", "derived_from": "half"}, {"asset": "fine"},
      {"asset": "half", "derived_from": "fine"}]}})");
  EXPECT_EQ(assets(ordered), (Names{"fine", "half", "quarter"}));
  EXPECT_TRUE(ordered->order_is_certain);
  EXPECT_EQ(ordered->find_level("half/a"), 1);
  const auto circle = parsed(R"({"multiscales": {"layout": [
      {"asset": "a", "derived_from": "b"}, {"asset": "b", "derived_from": "a"}, {"asset": "c"}]}})");
  EXPECT_EQ(assets(circle), (Names{"a", "b", "c"}));
  EXPECT_FALSE(circle->order_is_certain);
}

TEST(Multiscales, ScalesOrderDatasets) {
  const auto ordered = parsed(R"({"multiscales": [{"datasets": [
      {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 4, 4]}]},
      {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 1]}]}]}]})");
  EXPECT_EQ(assets(ordered), (Names{"1", "0"}));
  EXPECT_TRUE(ordered->order_is_certain);
  const auto listed = parsed(R"({"multiscales": [{"datasets": [{"path": "0"}, {"path": "1"}]}]})");
  EXPECT_FALSE(listed->order_is_certain);
  const Multiscales reversed = listed->reversed();
  EXPECT_EQ(assets(reversed), (Names{"1", "0"}));
  EXPECT_EQ(reversed.find_level("1"), 0);
}

TEST(Multiscales, PathsThatLeadOutAreNoLevels) {
  EXPECT_EQ(assets(parsed(R"({"multiscales": {"layout": [{"asset": "../up"}, {"asset": "a/../../b"},
      {"asset": 7}, {}, 7, {"asset": "in"}]}})")),
            (Names{"in"}));
}

TEST(Multiscales, OtherAttributesAreNone) {
  for (const char* attributes : {"{}", R"({"multiscales": {}})", R"({"multiscales": []})",
                                 R"({"multiscales": {"layout": {}}})", R"({"multiscales": "yes"})",
                                 R"({"multiscales": [7]})", R"({"ome": {}})"}) {
    EXPECT_FALSE(parsed(attributes)) << attributes;
  }
}

}  // namespace
}  // namespace gdal_zarr::test::multiscales_test
