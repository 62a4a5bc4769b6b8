// The decisions of find_crs() and find_position() from evidence that no store has to hold.
#include "driver/conventions/position.h"

#include <cpl_error.h>
#include <gtest/gtest.h>

#include <map>

#include "autotest/driver/cpp/plain_evidence.h"

namespace gdal_zarr::test::position_test {
namespace {

using zarrcore::Json;

// An array of 4 × 5 and what is around it.
struct Scene {
  Json attributes = Json::object();
  Json group = Json::object();
  std::vector<double> x = {500, 501, 502, 503, 504};
  std::vector<double> y = {5000, 4999, 4998, 4997};
  std::string x_name = "x";
  std::string y_name = "y";
  Json x_attributes = Json::object();
  Json y_attributes = Json::object();
  std::map<std::string, Json> variables = {};
  std::string warning = {};

  Evidence evidence() const {
    std::map<std::string, PlainVariable> all;
    for (const auto& [name, own] : variables) all[name] = {own, {}};
    all[x_name] = {x_attributes, x};
    all[y_name] = {y_attributes, y};
    return plain_evidence(attributes, {std::make_shared<const Json>(group)},
                          {{y_name, 4}, {x_name, 5}}, all);
  }

  gdal_zarr::Position position(RasterAxes axes = {1, 0}) {
    warning.clear();
    CPLPushErrorHandlerEx(
        [](CPLErr, CPLErrorNum, const char* text) {
          *static_cast<std::string*>(CPLGetErrorHandlerUserData()) += text;
        },
        &warning);
    gdal_zarr::Position found = find_position(evidence(), axes);
    CPLPopErrorHandler();
    return found;
  }
};

std::string wkt_of(const char* name) {
  OGRSpatialReference crs;
  crs.SetFromUserInput(name);
  char* text = nullptr;
  crs.exportToWkt(&text);
  std::string wkt = text;
  CPLFree(text);
  return wkt;
}

std::string code_of(const FoundCrs& found) {
  const char* code = found.crs ? found.crs->GetAuthorityCode(nullptr) : nullptr;
  return code == nullptr ? "" : code;
}

TEST(Position, TheCrsTakesTheUnitOfTheCoordinates) {
  Scene scene{{{"_CRS", "EPSG:32632"}}};
  scene.x_attributes["units"] = scene.y_attributes["units"] = "km";
  const gdal_zarr::Position found = scene.position();
  EXPECT_EQ(found.crs.crs->GetLinearUnits(), 1000);
  EXPECT_EQ(found.crs.crs->GetProjParm(SRS_PP_FALSE_EASTING), 500);
  EXPECT_EQ(found.transform.transform, (GeoTransform{499.5, 1, 0, 5000.5, 0, -1}));
  EXPECT_EQ(found.transform.source, "coordinates of x and y");
  EXPECT_EQ(scene.warning, "");
}

TEST(Position, AStatedTransformIsInTheUnitOfTheCrs) {
  Scene scene{{{"_CRS", "EPSG:32632"}, {"spatial:transform", {1, 0, 5, 0, -1, 6}}}};
  scene.x_attributes["units"] = "km";
  const gdal_zarr::Position found = scene.position();
  EXPECT_EQ(found.crs.crs->GetLinearUnits(), 1);
  EXPECT_EQ(found.transform.source, "spatial:transform of array /v");
}

TEST(Position, DegreesAreNotMetres) {
  Scene scene{{{"_CRS", "EPSG:32632"}, {"crs", "EPSG:4258"}}};
  scene.x_attributes["units"] = "degrees_east";
  EXPECT_EQ(code_of(scene.position().crs), "4258");
  EXPECT_NE(scene.warning.find("_CRS (WGS 84 / UTM zone 32N) cannot be the CRS of coordinates of x "
                               "in \"degrees_east\""),
            std::string::npos)
      << scene.warning;
  scene.x_attributes["units"] = "m";
  scene.attributes = {{"_CRS", "EPSG:4326"}};
  EXPECT_EQ(scene.position().crs.crs, nullptr);
}

TEST(Position, OfTwoCrssTheOneIsUsedInWhoseAreaTheRasterLies) {
  Scene scene{{{"_CRS", "EPSG:32632"}, {"crs", "EPSG:3035"}}};
  scene.x = {4300000, 4301000, 4302000, 4303000, 4304000};
  scene.y = {3100000, 3099000, 3098000, 3097000};
  EXPECT_EQ(code_of(scene.position().crs), "3035");
  EXPECT_NE(scene.warning.find("differ; the attribute crs of array /v is used"), std::string::npos)
      << scene.warning;
  scene.x = {500000, 501000, 502000, 503000, 504000};
  scene.y = {5100000, 5099000, 5098000, 5097000};
  EXPECT_EQ(code_of(scene.position().crs), "32632");
}

TEST(Position, ALoneCrsIsUsedWhereverTheRasterLies) {
  Scene scene{{{"_CRS", "EPSG:32632"}}};
  scene.x = {9e6, 9.1e6, 9.2e6, 9.3e6, 9.4e6};
  EXPECT_EQ(code_of(scene.position().crs), "32632");
  EXPECT_EQ(scene.warning, "");
}

TEST(Position, NeighboursThatDifferStateNothing) {
  Scene scene;
  scene.variables = {{"spatial_ref", {{"crs_wkt", wkt_of("EPSG:32632")}}}};
  EXPECT_EQ(scene.position().crs.source, "the variable \"spatial_ref\"");
  scene.variables["crs"] = {{"crs_wkt", wkt_of("EPSG:32633")}};
  EXPECT_EQ(scene.position().crs.crs, nullptr);
  EXPECT_NE(scene.warning.find("none of them is used"), std::string::npos);
}

TEST(Position, AnArrayMaySayThatItHasNoCrs) {
  Scene scene{{{"proj:code", nullptr}}, {{"crs", "EPSG:32632"}, {"proj:code", "EPSG:32632"}}};
  scene.variables = {{"crs", {{"crs_wkt", wkt_of("EPSG:32632")}}}};
  EXPECT_EQ(scene.position().crs.crs, nullptr);
}

TEST(Position, ATransformForAnotherShapeIsNotUsed) {
  Scene scene{{{"spatial:transform", {1, 0, 5, 0, -1, 6}}, {"spatial:shape", {8, 10}}}};
  EXPECT_EQ(scene.position().transform.source, "coordinates of x and y");
  EXPECT_NE(scene.warning.find("[8,10] (spatial:shape)"), std::string::npos) << scene.warning;
  EXPECT_NE(scene.warning.find("[4,5]"), std::string::npos) << scene.warning;
}

TEST(Position, WhatIsNoAxisOfAMapPlacesNothing) {
  for (const char* name : {"time", "depth", "cell", "wavelength", "slant_range"}) {
    Scene scene{{{"_CRS", "EPSG:32632"}, {"spatial:transform", {1, 0, 5, 0, -1, 6}}}};
    scene.y_name = name;
    EXPECT_EQ(scene.position().crs.crs, nullptr) << name;
    EXPECT_FALSE(scene.position().transform.transform) << name;
  }
}

TEST(Position, ATurnedRasterHasATurnedTransform) {
  Scene scene;
  EXPECT_EQ(scene.position({0, 1}).transform.transform, (GeoTransform{499.5, 0, 1, 5000.5, -1, 0}));
}

TEST(Position, ABoxCountsIfItsPixelsSayWhatItHolds) {
  const auto with = [](std::vector<double> box) {
    Scene scene{{{"spatial:bbox", box}, {"spatial:shape", {4, 5}}}};
    scene.x.clear();
    scene.y.clear();
    return scene.position().transform.transform;
  };
  EXPECT_EQ(with({0, 0, 49.99999, 40}), std::nullopt);
  EXPECT_EQ(with({5, 10, 45, 40}), (GeoTransform{0, 10, 0, 45, 0, -10}));
  EXPECT_EQ(with({0, 0, 100. / 3 * 5, 100. / 3 * 4}), std::nullopt);
}

TEST(Position, CrsTextsOfFilesAreNotRead) {
  for (const char* text : {"+proj=utm +zone=32 +nadgrids=/etc/passwd", "+init=/etc/passwd:1",
                           "+proj=vgridshift +grids=x.tif", "/etc/passwd"}) {
    Scene scene{{{"crs", text}}};
    EXPECT_EQ(scene.position().crs.crs, nullptr) << text;
  }
  Scene scene{{{"crs", "+proj=merc +a=6378137 +b=6378137 +nadgrids=@null +units=m"}}};
  EXPECT_NE(scene.position().crs.crs, nullptr);
}

}  // namespace
}  // namespace gdal_zarr::test::position_test
