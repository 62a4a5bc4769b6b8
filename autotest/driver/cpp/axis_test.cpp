#include "driver/conventions/axis.h"

#include <gtest/gtest.h>

#include "driver/gdal/compat.h"

namespace gdal_zarr::test::axis_test {
namespace {

std::string type_of(const std::string& name, std::string_view attributes = "{}") {
  return find_axis_role(name, zarrcore::parse_json(attributes)).type;
}

TEST(Axis, TheStandardNameCountsBeforeAllElse) {
  EXPECT_EQ(type_of("y", R"({"standard_name": "projection_x_coordinate", "axis": "Y"})"),
            GDAL_DIM_TYPE_HORIZONTAL_X);
  EXPECT_EQ(type_of("x", R"({"standard_name": "latitude"})"), GDAL_DIM_TYPE_HORIZONTAL_Y);
  EXPECT_EQ(type_of("n", R"({"standard_name": "time"})"), GDAL_DIM_TYPE_TEMPORAL);
  EXPECT_EQ(type_of("n", R"({"standard_name": "depth"})"), GDAL_DIM_TYPE_VERTICAL);
}

TEST(Axis, ThenTheUnitsThenTheLetter) {
  EXPECT_EQ(type_of("n", R"({"units": "degrees_east", "axis": "Y"})"), GDAL_DIM_TYPE_HORIZONTAL_X);
  EXPECT_EQ(type_of("n", R"({"units": "degreeN"})"), GDAL_DIM_TYPE_HORIZONTAL_Y);
  EXPECT_EQ(type_of("n", R"({"units": "days since 1970-01-01"})"), GDAL_DIM_TYPE_TEMPORAL);
  EXPECT_EQ(type_of("n", R"({"units": "m", "axis": "X"})"), GDAL_DIM_TYPE_HORIZONTAL_X);
  EXPECT_EQ(type_of("n", R"({"axis": "Z"})"), GDAL_DIM_TYPE_VERTICAL);
}

TEST(Axis, ThenTheName) {
  for (const char* name : {"x", "lon", "Longitude", "easting", "rlon"}) {
    EXPECT_EQ(type_of(name), GDAL_DIM_TYPE_HORIZONTAL_X) << name;
  }
  for (const char* name : {"Y", "lat", "latitude", "northing", "rlat"}) {
    EXPECT_EQ(type_of(name), GDAL_DIM_TYPE_HORIZONTAL_Y) << name;
  }
  EXPECT_EQ(type_of("time"), GDAL_DIM_TYPE_TEMPORAL);
  EXPECT_EQ(type_of("band"), "");
  EXPECT_EQ(type_of("band", R"({"axis": 7, "units": ["degrees_east"]})"), "");
}

TEST(Axis, DirectionsAreThoseOfRisingValues) {
  const auto direction = [](std::string_view attributes) {
    return find_axis_role("n", zarrcore::parse_json(attributes)).direction;
  };
  EXPECT_EQ(direction(R"({"axis": "X"})"), "EAST");
  EXPECT_EQ(direction(R"({"axis": "Y"})"), "NORTH");
  EXPECT_EQ(direction(R"({"axis": "Z", "positive": "up"})"), "UP");
  EXPECT_EQ(direction(R"({"axis": "Z", "positive": "down"})"), "DOWN");
  EXPECT_EQ(direction(R"({"axis": "Z"})"), "");
}

}  // namespace
}  // namespace gdal_zarr::test::axis_test
