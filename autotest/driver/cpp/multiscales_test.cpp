#include "driver/conventions/multiscales.h"

#include <gtest/gtest.h>

namespace gdal_zarr::test::multiscales_test {
namespace {

using Names = std::vector<std::string>;

std::vector<Multiscales> all_parsed(std::string_view attributes) {
  return parse_multiscales(zarrcore::parse_json(attributes));
}

std::optional<Multiscales> parsed(std::string_view attributes) {
  const auto all = all_parsed(attributes);
  return all.empty() ? std::nullopt : std::optional(all.front());
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

TEST(Multiscales, OmeZarrHasCoordinateSystems) {
  const auto multiscales = parsed(R"({"ome": {"version": "0.6", "multiscales": [{
      "coordinateSystems": [{"name": "physical", "axes": [{"name": "y"}, {"name": "x"}]}],
      "datasets": [{"path": "a", "coordinateTransformations": [{"type": "sequence",
                    "transformations": [{"type": "scale", "scale": [2, 2]},
                                        {"type": "translation", "translation": [0.5, 0.5]}]}]},
                   {"path": "b", "coordinateTransformations": [{"type": "scale",
                    "scale": [1, 1]}]}]}]}})");
  EXPECT_EQ(multiscales->axes, (Names{"y", "x"}));
  EXPECT_EQ(assets(multiscales), (Names{"b", "a"}));
}

TEST(Multiscales, EachEntryOfAListIsAPyramid) {
  const auto all = all_parsed(R"({"multiscales": [{"datasets": [{"path": "a/0"}, {"path": "a/1"}]},
      7, {"datasets": []}, {"datasets": [{"path": "b/0"}, {"path": "b/1"}]}]})");
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(assets(all[0]), (Names{"a/0", "a/1"}));
  EXPECT_EQ(assets(all[1]), (Names{"b/0", "b/1"}));
}

TEST(Multiscales, TileMatricesAreLevels) {
  for (const char* attributes : {R"({"multiscales": {"tile_matrix_set": {"tileMatrices": [
            {"id": "0", "cellSize": 40.0}, {"id": "1", "cellSize": 20}, {"id": "2", "cellSize": 10}]}}})",
                                 R"({"multiscales": [{"tile_matrix_set": {"tileMatrices": [
            {"id": "0", "scaleDenominator": 4e5}, {"id": "1"}, {"id": "2", "scaleDenominator": 1e5}
            ]}}]})"}) {
    const auto multiscales = parsed(attributes);
    EXPECT_EQ(assets(multiscales), (Names{"2", "1", "0"}));
    EXPECT_TRUE(multiscales->order_is_certain);
  }
  const auto named = parsed(R"({"multiscales": {"tile_matrix_set": "WebMercatorQuad",
      "tile_matrix_set_limits": {"0": {}, "1": {}}}})");
  EXPECT_EQ(assets(named), (Names{"0", "1"}));
  EXPECT_FALSE(named->order_is_certain);
  EXPECT_FALSE(parsed(R"({"multiscales": {"tile_matrix_set": "WebMercatorQuad"}})"));
  EXPECT_FALSE(parsed(R"({"multiscales": {"tile_matrix_set": {"tileMatrices": {"id": "0"}}}})"));
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
