#include "driver/conventions/multiscales.h"

#include <gtest/gtest.h>

namespace gdal_zarr {
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
}  // namespace gdal_zarr
