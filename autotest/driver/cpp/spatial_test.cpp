#include <cpl_error.h>
#include <gtest/gtest.h>

#include "driver/conventions/zarr_conventions.h"

namespace gdal_zarr::test::spatial_test {
namespace {

std::optional<GeoTransform> transform_of(std::string_view attributes) {
  return spatial_transform(zarrcore::parse_json(attributes));
}

TEST(Spatial, AnAffineTransformIsReordered) {
  const GeoTransform rotated{440720, 60, 5, 3751320, 7, -60};
  EXPECT_EQ(transform_of(R"({"spatial:transform": [60, 5, 440720, 7, -60, 3751320]})"), rotated);
  EXPECT_EQ(transform_of(R"({"spatial:transform": [60, 5, 440720, 7, -60, 3751320],
      "spatial:transform_type": "affine", "spatial:registration": "pixel"})"),
            rotated);
}

TEST(Spatial, NodesLieInTheMiddleOfTheirCells) {
  EXPECT_EQ(transform_of(R"({"spatial:transform": [10, 2, 100, 4, -20, 200],
      "spatial:registration": "node"})"),
            (GeoTransform{94, 10, 2, 208, 4, -20}));
}

TEST(Spatial, OtherTransformsAndNoneAreNothing) {
  EXPECT_FALSE(transform_of("{}"));
  EXPECT_FALSE(transform_of(R"({"spatial:transform": null})"));
  EXPECT_FALSE(transform_of(R"({"spatial:transform": [1, 0, 0, 0, 1, 0],
      "spatial:transform_type": "rpc"})"));
}

TEST(Spatial, WhatIsNoTransformIsWarnedOf) {
  for (const char* json :
       {"[1, 0, 0, 0, 1]", "[1, 0, 0, 0, 1, \"0\"]", "[1, 0, 0, 0, 1, NaN]", "\"1 0 0 0 1 0\""}) {
    CPLErrorReset();
    CPLPushErrorHandler(CPLQuietErrorHandler);
    EXPECT_FALSE(transform_of(R"({"spatial:transform": )" + std::string(json) + "}"));
    CPLPopErrorHandler();
    EXPECT_NE(std::string(CPLGetLastErrorMsg()).find("not six numbers"), std::string::npos) << json;
  }
}

TEST(Spatial, WhatIsWrittenIsReadAndBounded) {
  const GeoTransform rotated{100, 10, 2, 200, 4, -20};
  zarrcore::Json attributes = zarrcore::Json::object();
  write_spatial(attributes, rotated, 3, 2, SpatialDimensions{"row", "column"});
  EXPECT_EQ(spatial_transform(attributes), rotated);
  EXPECT_EQ(spatial_dimensions(attributes)->x, "column");
  EXPECT_EQ(attributes["spatial:shape"], zarrcore::Json({2, 3}));
  // The corners are (100, 200), (130, 212), (104, 160) and (134, 172).
  EXPECT_EQ(attributes["spatial:bbox"], zarrcore::Json({100.0, 160.0, 134.0, 212.0}));
  write_spatial(attributes = zarrcore::Json::object(), rotated, 3, 2, std::nullopt);
  EXPECT_FALSE(attributes.contains("spatial:dimensions"));
}

TEST(Spatial, DimensionsAreYAndX) {
  const auto names =
      spatial_dimensions(zarrcore::parse_json(R"({"spatial:dimensions": ["r", "c"]})"));
  ASSERT_TRUE(names);
  EXPECT_EQ(names->y, "r");
  EXPECT_EQ(names->x, "c");
  for (const char* json :
       {"{}", R"({"spatial:dimensions": ["x"]})", R"({"spatial:dimensions": ["y", 1]})"}) {
    EXPECT_FALSE(spatial_dimensions(zarrcore::parse_json(json))) << json;
  }
}

}  // namespace
}  // namespace gdal_zarr::test::spatial_test
