// The attributes that grid_mapping_attributes() makes of a CRS: with the WKT they are the CRS, and
// without it they put positions where it does.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "autotest/driver/cpp/grid_mapping.h"
#include "driver/conventions/position.h"

namespace gdal_zarr::test::cf_grid_mapping_write_test {
namespace {

OGRSpatialReference crs_named(const std::string& text) {
  OGRSpatialReference crs;
  EXPECT_EQ(crs.SetFromUserInput(text.c_str()), OGRERR_NONE) << text;
  return crs;
}

bool is_same(const OGRSpatialReference& a, const OGRSpatialReference& b) {
  const char* const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", "CRITERION=EQUIVALENT",
                                 nullptr};
  return a.IsSame(&b, options) != 0;
}

// From degrees on the CRS's own datum to easting and northing.
Position project(OGRSpatialReference crs, Position place) {
  const std::unique_ptr<OGRSpatialReference> geographic(crs.CloneGeogCS());
  set_axis_mapping(*geographic, 1, 2);
  set_axis_mapping(crs, 1, 2);
  const double degree = std::numbers::pi / 180 / geographic->GetAngularUnits();
  const std::unique_ptr<OGRCoordinateTransformation> transformation(
      OGRCreateCoordinateTransformation(geographic.get(), &crs));
  double x = place.x * degree;
  double y = place.y * degree;
  EXPECT_TRUE(transformation && transformation->Transform(1, &x, &y)) << crs.GetName();
  return {x, y};
}

Json without_wkt(Json attributes) {
  EXPECT_EQ(attributes.erase("crs_wkt"), 1u);
  return attributes;
}

struct Case {
  const char* crs;
  const char* grid_mapping;
  Position place;  // longitude and latitude, where the projection is at home
};

std::ostream& operator<<(std::ostream& out, const Case& that) {
  return out << that.crs;
}

class GridMappingOf : public testing::TestWithParam<Case> {};

TEST_P(GridMappingOf, SaysTheSameWithWktAndWithout) {
  const auto& [text, grid_mapping, place] = GetParam();
  const OGRSpatialReference crs = crs_named(text);
  const Json attributes = grid_mapping_attributes(crs);
  EXPECT_EQ(attributes.value("grid_mapping_name", ""), grid_mapping);
  const OGRSpatialReference by_wkt = crs_of({{"crs_wkt", attributes["crs_wkt"]}});
  EXPECT_TRUE(is_same(by_wkt, crs));
  EXPECT_STREQ(by_wkt.GetName(), crs.GetName());

  Json parameters = without_wkt(attributes);
  parameters.erase("projected_crs_name");  // from "UPS North (N,E)" PROJ infers an order of axes
  const auto told = crs_of(parameters, linear_unit(crs));
  const Position expected = project(crs, place);
  const Position actual = project(told, place);
  EXPECT_NEAR(actual.x, expected.x, 1e-3);
  EXPECT_NEAR(actual.y, expected.y, 1e-3);
  EXPECT_NEAR(told.GetSemiMajor(), crs.GetSemiMajor(), 1e-6);
  EXPECT_NEAR(told.GetInvFlattening(), crs.GetInvFlattening(), 1e-8);
  EXPECT_DOUBLE_EQ(told.GetPrimeMeridian(), crs.GetPrimeMeridian());
}

constexpr const char* kRotatedPole = R"wkt(GEOGCRS["rotated",
    BASEGEOGCRS["WGS 84", DATUM["World Geodetic System 1984",
      ELLIPSOID["WGS 84", 6378137, 298.257223563, LENGTHUNIT["metre", 1]]],
      PRIMEM["Greenwich", 0, ANGLEUNIT["degree", 0.0174532925199433]]],
    DERIVINGCONVERSION["pole", METHOD["Pole rotation (netCDF CF convention)"],
      PARAMETER["Grid north pole latitude (netCDF CF convention)", 39.25,
        ANGLEUNIT["degree", 0.0174532925199433]],
      PARAMETER["Grid north pole longitude (netCDF CF convention)", -162,
        ANGLEUNIT["degree", 0.0174532925199433]],
      PARAMETER["North pole grid longitude (netCDF CF convention)", 5,
        ANGLEUNIT["degree", 0.0174532925199433]]],
    CS[ellipsoidal, 2],
      AXIS["latitude", north, ORDER[1], ANGLEUNIT["degree", 0.0174532925199433]],
      AXIS["longitude", east, ORDER[2], ANGLEUNIT["degree", 0.0174532925199433]]])wkt";

constexpr Case kCases[] = {
    {"EPSG:4326", "latitude_longitude", {12, 47}},
    {"EPSG:4258", "latitude_longitude", {12, 47}},
    {"OGC:CRS84", "latitude_longitude", {12, 47}},
    {"EPSG:4979", "latitude_longitude", {12, 47}},
    {"IAU_2015:30100", "latitude_longitude", {12, 47}},
    {"+proj=longlat +a=6371229 +b=6371229", "latitude_longitude", {12, 47}},
    {kRotatedPole, "rotated_latitude_longitude", {12, 47}},
    {"+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +x_0=1000 +datum=NAD83",
     "albers_conical_equal_area",
     {-100, 40}},
    {"+proj=aeqd +lat_0=52 +lon_0=5 +y_0=-7", "azimuthal_equidistant", {4, 50}},
    {"+proj=geos +h=35785831 +lon_0=9.5 +sweep=y +ellps=GRS80", "geostationary", {12, 47}},
    {"+proj=geos +h=35786023 +lon_0=-75 +sweep=x +units=km", "geostationary", {-70, 20}},
    {"EPSG:3035", "lambert_azimuthal_equal_area", {12, 47}},
    {"+proj=laea +lat_0=52 +lon_0=10 +ellps=GRS80 +towgs84=1,2,3 +units=km",
     "lambert_azimuthal_equal_area",
     {12, 47}},
    {"EPSG:2154", "lambert_conformal_conic", {2, 46}},
    {"EPSG:27572", "lambert_conformal_conic", {0, 46}},   // in grads, from Paris
    {"EPSG:2263", "lambert_conformal_conic", {-73, 41}},  // US survey feet
    {"+proj=lcc +lat_0=50 +lat_1=50 +lon_0=8", "lambert_conformal_conic", {12, 47}},
    {"EPSG:6933", "lambert_cylindrical_equal_area", {12, 47}},
    {"+proj=merc +lon_0=10 +k=0.9", "mercator", {12, 47}},
    {"+proj=merc +lat_ts=41 +lon_0=10", "mercator", {12, 47}},
    {"+proj=omerc +lat_0=4 +lonc=102 +alpha=53 +gamma=53 +k=0.99", "oblique_mercator", {103, 5}},
    {"EPSG:2056", "oblique_mercator", {8, 47}},
    {"+proj=ortho +lat_0=40 +lon_0=10", "orthographic", {12, 47}},
    {"EPSG:3031", "polar_stereographic", {12, -80}},
    {"EPSG:3413", "polar_stereographic", {12, 80}},
    {"EPSG:32661", "polar_stereographic", {12, 80}},  // northing first
    {"+proj=stere +lat_0=-90 +lat_ts=-90 +k=0.97 +lon_0=3", "polar_stereographic", {12, -80}},
    {"+proj=sinu +R=6371007.181 +lon_0=5", "sinusoidal", {12, 47}},
    {"+proj=stere +lat_0=52 +lon_0=5 +k=0.9999", "stereographic", {6, 50}},
    {"EPSG:32633", "transverse_mercator", {12, 47}},
    {"EPSG:2193", "transverse_mercator", {174, -41}},  // northing first
    {"EPSG:32633+5773", "transverse_mercator", {12, 47}},
    {"+proj=nsper +h=3000000 +lat_0=40 +lon_0=10", "vertical_perspective", {12, 47}},
    {"+proj=nsper +h=3000000 +lat_0=40 +lon_0=10 +units=km", "vertical_perspective", {12, 47}},
};

INSTANTIATE_TEST_SUITE_P(Crss, GridMappingOf, testing::ValuesIn(kCases));

TEST(GridMappingOfCrs, IsWktAloneWhereCfHasNoWords) {
  for (const char* text : {
           "EPSG:3857",   // Mercator's formulas for a sphere, on an ellipsoid
           "EPSG:28992",  // another stereographic projection than CF's
           "ESRI:54009",  // Mollweide
           "EPSG:29873",  // oblique Mercator, turned by another angle than its line's
           "EPSG:4978",   // geocentric
           "EPSG:2053",   // transverse Mercator whose axes point west and south
           "+proj=ob_tran +o_proj=longlat +o_lat_p=32.5 +lon_0=180 +o_lon_p=0",
           R"(LOCAL_CS["site",UNIT["metre",1]])",
       }) {
    const OGRSpatialReference crs = crs_named(text);
    const Json attributes = grid_mapping_attributes(crs);
    EXPECT_EQ(attributes.size(), 1u) << text << ": " << attributes.dump();
    const OGRSpatialReference again = crs_of(attributes);
    EXPECT_STREQ(again.GetName(), crs.GetName());
    EXPECT_TRUE(again.IsSame(&crs)) << text;
  }
}

TEST(GridMappingOfCrs, HasTheNamesAndNumbersOfCf) {
  EXPECT_EQ(without_wkt(grid_mapping_attributes(crs_named("EPSG:3413"))), Json::parse(R"({
      "grid_mapping_name": "polar_stereographic",
      "projected_crs_name": "WGS 84 / NSIDC Sea Ice Polar Stereographic North",
      "geographic_crs_name": "WGS 84",
      "horizontal_datum_name": "World Geodetic System 1984 ensemble",
      "reference_ellipsoid_name": "WGS 84",
      "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.314245179,
      "inverse_flattening": 298.257223563,
      "longitude_of_prime_meridian": 0.0, "prime_meridian_name": "Greenwich",
      "straight_vertical_longitude_from_pole": -45.0, "latitude_of_projection_origin": 90.0,
      "standard_parallel": 70.0, "false_easting": 0.0, "false_northing": 0.0})"));
  const Json conic = grid_mapping_attributes(crs_named("EPSG:2263"));
  EXPECT_EQ(conic["standard_parallel"].size(), 2u);
  EXPECT_EQ(conic["false_easting"], 984250.0);  // in the unit of the coordinates
}

TEST(GridMappingOfCrs, LeavesNamesOutThatSayNothing) {
  const Json attributes = grid_mapping_attributes(from_proj("+proj=sinu +R=6371007.181"));
  EXPECT_FALSE(attributes.contains("projected_crs_name"));
  EXPECT_FALSE(attributes.contains("geographic_crs_name"));
  EXPECT_FALSE(attributes.contains("horizontal_datum_name"));
}

TEST(GridMappingOfCrs, KeepsTheShiftToWgs84) {
  const Json attributes =
      grid_mapping_attributes(from_proj("+proj=laea +lat_0=5 +ellps=bessel +towgs84=1,2,3"));
  EXPECT_EQ(attributes["towgs84"], Json({1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0}));
  double shift[7] = {};
  EXPECT_EQ(crs_of({{"crs_wkt", attributes["crs_wkt"]}}).GetTOWGS84(shift), OGRERR_NONE);
  EXPECT_EQ(shift[2], 3);
}

TEST(LinearUnit, IsAWordThatUdunitsKnows) {
  EXPECT_EQ(linear_unit(crs_named("EPSG:32633")), "m");
  EXPECT_EQ(linear_unit(from_proj("+proj=laea +units=km")), "km");
  EXPECT_EQ(linear_unit(from_proj("+proj=laea +units=ft")), "ft");
  EXPECT_EQ(linear_unit(crs_named("EPSG:2263")), "US_survey_foot");
  EXPECT_EQ(linear_unit(from_proj("+proj=laea +to_meter=2.5")), "2.5 m");
}

}  // namespace
}  // namespace gdal_zarr::test::cf_grid_mapping_write_test
