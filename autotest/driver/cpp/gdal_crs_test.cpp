// GDAL's attribute `_CRS`, and `crs`, which repeats it for other programs.
#include <gtest/gtest.h>

#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/position.h"

namespace gdal_zarr::test::gdal_crs_test {
namespace {

using zarrcore::Json;

OGRSpatialReference user_crs(const char* text) {
  OGRSpatialReference crs;
  EXPECT_EQ(crs.SetFromUserInput(text), OGRERR_NONE) << text;
  return crs;
}

TEST(GdalCrs, ACodeOfEpsgIsRepeated) {
  Json attributes = {{"units", "m"}};
  write_gdal_crs(attributes, user_crs("EPSG:32633"));
  EXPECT_EQ(attributes["crs"], "EPSG:32633");
  EXPECT_EQ(shown_attributes(attributes), Json::parse(R"({"units": "m"})"));
}

TEST(GdalCrs, OthersAreRepeatedAsText) {
  for (const char* name :
       {"+proj=laea +lat_0=51 +lon_0=9 +datum=WGS84", "ESRI:54009", "EPSG:9000"}) {
    auto crs = user_crs(name);
    crs.SetCoordinateEpoch(2010.5);
    Json attributes;
    write_gdal_crs(attributes, crs);
    OGRSpatialReference repeated;
    EXPECT_EQ(repeated.importFromWkt(attributes["crs"].get<std::string>().c_str()), OGRERR_NONE);
    crs.SetCoordinateEpoch(0);
    EXPECT_TRUE(repeated.IsSame(&crs));
    EXPECT_TRUE(shown_attributes(attributes).empty());
  }
}

TEST(GdalCrs, ACrsThatSaysSomethingElseIsShown) {
  Json attributes;
  write_gdal_crs(attributes, user_crs("EPSG:32633"));
  for (const Json& other :
       {Json("EPSG:3263"), Json("EPSG:3035"), Json("PROJCRS[]"), Json(""), Json(5)}) {
    attributes["crs"] = other;
    EXPECT_FALSE(crs_repeats_gdals(attributes)) << other;
    EXPECT_TRUE(shown_attributes(attributes).contains("crs"));
  }
  EXPECT_TRUE(shown_attributes({{"crs", "EPSG:32633"}}).contains("crs"));
  EXPECT_TRUE(shown_attributes({{"crs", "EPSG:32633"}, {"_CRS", 5}}).contains("crs"));
}

TEST(GdalCrs, AnEpochIsReadBack) {
  auto crs = user_crs("EPSG:9000");
  crs.SetCoordinateEpoch(2021.3);
  Json attributes;
  write_gdal_crs(attributes, crs);
  const auto found = [&] {
    Evidence evidence;
    evidence.attributes = std::make_shared<const Json>(attributes);
    evidence.scopes.push_back({"array /a", evidence.attributes});
    return find_crs(evidence, std::nullopt);
  };
  EXPECT_EQ(found().crs->GetCoordinateEpoch(), 2021.3);
  EXPECT_EQ(found().source, "the attribute _CRS");
  attributes["_CRS"]["epoch"] = "soon";
  EXPECT_STREQ(found().crs->GetName(), "ITRF2014");
}

}  // namespace
}  // namespace gdal_zarr::test::gdal_crs_test
