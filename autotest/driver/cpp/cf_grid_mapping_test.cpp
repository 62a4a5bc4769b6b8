// What the attributes of a grid mapping say beside the projection, and what is wrong with some.
#include <cpl_error.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "autotest/driver/cpp/grid_mapping.h"
#include "driver/conventions/cf/grid_mapping.h"

namespace gdal_zarr::test::cf_grid_mapping_test {
namespace {

std::string wkt_of_epsg(int code) {
  OGRSpatialReference crs;
  EXPECT_EQ(crs.importFromEPSG(code), OGRERR_NONE);
  char* wkt = nullptr;
  EXPECT_EQ(crs.exportToWkt(&wkt), OGRERR_NONE);
  const std::string text = wkt;
  CPLFree(wkt);
  return text;
}

std::string code_of(const OGRSpatialReference& crs) {
  const char* code = crs.GetAuthorityCode(nullptr);
  return code != nullptr ? code : "none";
}

const Json kMercator = {{"grid_mapping_name", "mercator"}, {"longitude_of_projection_origin", 10}};

// A latitude_longitude mapping with further attributes.
Json geographic(const Json& more = Json::object()) {
  Json attributes = {{"grid_mapping_name", "latitude_longitude"}};
  attributes.update(more);
  return attributes;
}

// `base` with further attributes.
Json with(Json base, const Json& more) {
  base.update(more);
  return base;
}

TEST(GridMappingWkt, WinsOverTheParameters) {
  EXPECT_EQ(code_of(crs_of(with(kMercator, {{"crs_wkt", wkt_of_epsg(3035)}}))), "3035");
  EXPECT_EQ(code_of(crs_of(with(kMercator, {{"spatial_ref", wkt_of_epsg(3035)}}))), "3035");
  EXPECT_EQ(code_of(crs_of({{"crs_wkt", wkt_of_epsg(32631)}, {"spatial_ref", wkt_of_epsg(3035)}})),
            "32631");
}

TEST(GridMappingWkt, IsPassedOverWhenItCannotBeParsed) {
  EXPECT_EQ(code_of(crs_of({{"crs_wkt", "PROJCS["}, {"spatial_ref", wkt_of_epsg(3035)}})), "3035");
  EXPECT_TRUE(crs_of(with(kMercator, {{"crs_wkt", "no WKT"}})).IsProjected());
}

TEST(GridMappingAttributes, MayBeIntegersOrListsOfOne) {
  const auto crs = crs_of(Json::parse(
      R"({"grid_mapping_name": ["mercator"], "longitude_of_projection_origin": [10],
          "standard_parallel": [41.5], "false_easting": 500})"));
  EXPECT_EQ(crs.GetProjParm(SRS_PP_CENTRAL_MERIDIAN), 10);
  EXPECT_EQ(crs.GetProjParm(SRS_PP_STANDARD_PARALLEL_1), 41.5);
  EXPECT_EQ(crs.GetProjParm(SRS_PP_FALSE_EASTING), 500);
}

TEST(GridMappingNames, AreThoseOfTheAttributes) {
  const auto crs = crs_of(with(kMercator, {{"projected_crs_name", "my grid"},
                                           {"geographic_crs_name", "my sphere"},
                                           {"horizontal_datum_name", "my datum"},
                                           {"reference_ellipsoid_name", "my ball"},
                                           {"earth_radius", 6371229}}));
  EXPECT_STREQ(crs.GetName(), "my grid");
  EXPECT_STREQ(crs.GetAttrValue("GEOGCS"), "my sphere");
  EXPECT_STREQ(crs.GetAttrValue("DATUM"), "my datum");
  EXPECT_STREQ(crs.GetAttrValue("SPHEROID"), "my ball");
}

TEST(GridMappingDatum, IsWgs84WhenNothingIsTold) {
  EXPECT_EQ(code_of(crs_of(geographic())), "4326");
  EXPECT_EQ(code_of(crs_of(geographic(
                {{"horizontal_datum_name", "unknown"}, {"prime_meridian_name", "Greenwich"}}))),
            "4326");
}

TEST(GridMappingDatum, IsRecognizedByNameAndEllipsoid) {
  const Json wgs84 = geographic(
      {{"semi_major_axis", 6378137}, {"semi_minor_axis", 6356752.3142}});  // as often rounded
  for (const char* name : {"WGS84", "WGS_1984", "World Geodetic System 1984"}) {
    EXPECT_EQ(code_of(crs_of(with(wgs84, {{"horizontal_datum_name", name}}))), "4326") << name;
  }
  EXPECT_EQ(code_of(crs_of(with(wgs84, {{"geographic_crs_name", "WGS 84"}}))), "4326");
  EXPECT_EQ(code_of(crs_of(with(wgs84, {{"horizontal_datum_name", "my datum"}}))), "none");
  EXPECT_EQ(code_of(crs_of(wgs84)), "none");
  EXPECT_EQ(code_of(crs_of(geographic(
                {{"horizontal_datum_name", "NAD83"}, {"reference_ellipsoid_name", "GRS 1980"}}))),
            "4269");
}

TEST(GridMappingDatum, IsNotWgs84OnAnotherFigureOrMeridian) {
  const auto sphere =
      crs_of(geographic({{"horizontal_datum_name", "WGS84"}, {"earth_radius", 6371229}}));
  EXPECT_EQ(code_of(sphere), "none");
  EXPECT_EQ(sphere.GetSemiMajor(), 6371229);
  const auto paris = crs_of(geographic(
      {{"horizontal_datum_name", "WGS84"}, {"longitude_of_prime_meridian", 2.33722917}}));
  EXPECT_EQ(code_of(paris), "none");
  EXPECT_DOUBLE_EQ(paris.GetPrimeMeridian(), 2.33722917);
  EXPECT_NEAR(paris.GetInvFlattening(), 298.257223563, 1e-9);
}

TEST(GridMappingEllipsoid, IsToldInManyWays) {
  struct {
    const char* attributes;
    double semi_major_axis;
    double inverse_flattening;
  } const cases[] = {
      {R"({"semi_major_axis": 6377563.396, "inverse_flattening": 299.32})", 6377563.396, 299.32},
      {R"({"semi_major_axis": 6378206.4, "semi_minor_axis": 6356583.8})", 6378206.4, 294.978698214},
      {R"({"semi_major_axis": 6378206.4, "semi_minor_axis": 6356583.8, "inverse_flattening": 0})",
       6378206.4, 294.978698214},
      {R"({"semi_major_axis": 6370000, "semi_minor_axis": 6370000})", 6370000, 0},
      {R"({"semi_major_axis": 6370000})", 6370000, 0},
      {R"({"earth_radius": 6371229})", 6371229, 0},
      {R"({"reference_ellipsoid_name": "Bessel 1841"})", 6377397.155, 299.1528128},
      {R"({"reference_ellipsoid_name": "GRS80"})", 6378137, 298.257222101},
      {R"({"reference_ellipsoid_name": "Bessel 1841", "earth_radius": 6371229})", 6371229, 0},
  };
  for (const auto& [attributes, semi_major_axis, inverse_flattening] : cases) {
    const auto crs = crs_of(geographic(Json::parse(attributes)));
    EXPECT_EQ(crs.GetSemiMajor(), semi_major_axis) << attributes;
    EXPECT_NEAR(crs.GetInvFlattening(), inverse_flattening, 1e-8) << attributes;
  }
}

TEST(GridMappingPrimeMeridian, IsTheOriginOfLongitudes) {
  const Json bessel = geographic({{"reference_ellipsoid_name", "Bessel 1841"}});
  const auto greenwich = from_proj("+proj=longlat +ellps=bessel +no_defs");
  // Ferro lies 17°40' to the west of Greenwich, by its definition.
  const auto ferro = crs_of(with(bessel, {{"prime_meridian_name", "Ferro"}}));
  EXPECT_NEAR(transform(greenwich, ferro, {0, 50}).x, 17 + 40.0 / 60, 1e-9);
  const auto named = crs_of(
      with(bessel, {{"longitude_of_prime_meridian", -5.5}, {"prime_meridian_name", "mine"}}));
  const char* name = nullptr;
  EXPECT_DOUBLE_EQ(named.GetPrimeMeridian(&name), -5.5);
  EXPECT_STREQ(name, "mine");
}

TEST(GridMappingTowgs84, HasThreeSixOrSevenNumbers) {
  const Json bessel = with(kMercator, {{"reference_ellipsoid_name", "Bessel 1841"}});
  for (const std::vector<double>& shift : {std::vector<double>{598.1, 73.7, 418.2},
                                           {598.1, 73.7, 418.2, 0.202, 0.045, -2.455},
                                           {598.1, 73.7, 418.2, 0.202, 0.045, -2.455, 6.7}}) {
    std::vector<double> expected = shift;
    expected.resize(7);
    std::vector<double> found(7);
    EXPECT_EQ(crs_of(with(bessel, {{"towgs84", shift}})).GetTOWGS84(found.data()), OGRERR_NONE);
    EXPECT_EQ(found, expected);
  }
}

TEST(GridMappingTowgs84, SaysNothingOfWgs84) {
  EXPECT_EQ(code_of(crs_of(geographic({{"towgs84", {0, 0, 0}}}))), "4326");
}

TEST(GridMappingUnit, IsThatOfTheCoordinates) {
  struct {
    const char* unit;
    const char* name;
    double metres;
  } const cases[] = {
      {"", "metre", 1},
      {"m", "metre", 1},
      {"Meters", "metre", 1},
      {"km", "kilometre", 1000},
      {"1000 m", "kilometre", 1000},
      {"1e3 metre", "kilometre", 1000},
      {"2500 m", "2500 m", 2500},
      {"feet", "foot", 0.3048},
      {"US_survey_foot", "US survey foot", 1200.0 / 3937},
      {"0.304800609601219 metre", "US survey foot", 1200.0 / 3937},
  };
  for (const auto& [unit, name, metres] : cases) {
    const auto crs = crs_of(with(kMercator, {{"false_easting", 7}}), unit);
    const char* found = nullptr;
    EXPECT_EQ(crs.GetLinearUnits(&found), metres) << unit;
    EXPECT_STREQ(found, name) << unit;
    EXPECT_NEAR(crs.GetProjParm(SRS_PP_FALSE_EASTING), 7, 1e-12) << unit;
  }
}

// As real files leave them out or write them.
TEST(GridMappingParameters, MayBeToldByOthers) {
  const Json south = {{"grid_mapping_name", "polar_stereographic"},
                      {"straight_vertical_longitude_from_pole", 0},
                      {"latitude_of_projection_origin", -90},
                      {"standard_parallel", -71}};
  Json without_pole = south;
  without_pole.erase("latitude_of_projection_origin");
  const Json conic = {{"grid_mapping_name", "lambert_conformal_conic"},
                      {"longitude_of_central_meridian", -97.5},
                      {"standard_parallel", 38.5},
                      {"latitude_of_projection_origin", 38.5}};
  Json without_origin = conic;
  without_origin.erase("latitude_of_projection_origin");
  const Json sinusoidal = {{"grid_mapping_name", "sinusoidal"},
                           {"longitude_of_projection_origin", 15}};
  const Json old_sinusoidal = {{"grid_mapping_name", "sinusoidal"},
                               {"longitude_of_central_meridian", 15}};
  const std::pair<Json, Json> cases[] = {{with(south, {{"standard_parallel", 71}}), south},
                                         {without_pole, south},
                                         {without_origin, conic},
                                         {old_sinusoidal, sinusoidal}};
  for (const auto& [sparse, complete] : cases) {
    const auto expected = crs_of(complete);
    EXPECT_TRUE(crs_of(sparse).IsSame(&expected)) << sparse.dump();
  }
}

TEST(GridMappingAxes, HaveEastingOrLatitudeFirst) {
  const auto directions = [](const Json& attributes) {
    const auto crs = crs_of(attributes);
    OGRAxisOrientation first = OAO_Other;
    OGRAxisOrientation second = OAO_Other;
    crs.GetAxis(nullptr, 0, &first);
    crs.GetAxis(nullptr, 1, &second);
    return std::pair(first, second);
  };
  EXPECT_EQ(directions(kMercator), std::pair(OAO_East, OAO_North));
  EXPECT_EQ(directions(geographic()), std::pair(OAO_North, OAO_East));
  EXPECT_EQ(directions(geographic({{"earth_radius", 6371229}})), std::pair(OAO_North, OAO_East));
  EXPECT_EQ(directions({{"grid_mapping_name", "rotated_latitude_longitude"},
                        {"grid_north_pole_latitude", 39.25},
                        {"grid_north_pole_longitude", -162}}),
            std::pair(OAO_North, OAO_East));
  const Json north = {{"grid_mapping_name", "polar_stereographic"},
                      {"straight_vertical_longitude_from_pole", 0},
                      {"standard_parallel", 70}};
  EXPECT_EQ(directions(north), std::pair(OAO_South, OAO_South));
  EXPECT_STREQ(crs_of(north).GetAxis(nullptr, 0, nullptr), "Easting");
}

// What is wrong with attributes that must not describe a CRS.
std::string problem_of(const Json& attributes, const std::string& linear_unit = "") {
  const Result result = read(attributes, linear_unit);
  EXPECT_EQ(result.crs, nullptr) << attributes.dump();
  return result.problem;
}

TEST(GridMappingProblem, IsTheName) {
  EXPECT_EQ(problem_of(nullptr), "grid_mapping_name is missing");
  EXPECT_EQ(problem_of(Json::object()), "grid_mapping_name is missing");
  EXPECT_EQ(problem_of({{"grid_mapping_name", "bonne"}}), "grid_mapping_name is unknown: bonne");
  EXPECT_EQ(problem_of({{"crs_wkt", "no WKT"}}),
            "crs_wkt is not understood, and grid_mapping_name is missing");
}

TEST(GridMappingProblem, IsAParameter) {
  EXPECT_EQ(problem_of({{"grid_mapping_name", "mercator"}}),
            "longitude_of_projection_origin is missing");
  EXPECT_EQ(problem_of(with(kMercator, {{"standard_parallel", {10, 20}}})),
            "standard_parallel holds more than one number");
  EXPECT_EQ(problem_of(with(kMercator, {{"standard_parallel", "ten"}})),
            "standard_parallel holds \"ten\" where a number is expected");
  EXPECT_EQ(problem_of(with(kMercator, {{"false_easting", NAN}})),
            "false_easting holds NaN where a number is expected");
  EXPECT_EQ(problem_of(with(kMercator, {{"scale_factor_at_projection_origin", 0}})),
            "scale_factor_at_projection_origin is not positive");

  const Json conic = {{"grid_mapping_name", "lambert_conformal_conic"},
                      {"longitude_of_central_meridian", 0},
                      {"latitude_of_projection_origin", 40}};
  EXPECT_EQ(problem_of(conic), "standard_parallel is missing");
  EXPECT_EQ(problem_of(with(conic, {{"standard_parallel", {1, 2, 3}}})),
            "standard_parallel holds more than two numbers");

  const Json geostationary = {{"grid_mapping_name", "geostationary"},
                              {"longitude_of_projection_origin", 0},
                              {"perspective_point_height", 35785831}};
  EXPECT_EQ(problem_of(with(geostationary, {{"perspective_point_height", -1}})),
            "perspective_point_height is not positive");
  EXPECT_EQ(problem_of(with(geostationary, {{"latitude_of_projection_origin", 10}})),
            "latitude_of_projection_origin is not 0");
  EXPECT_EQ(problem_of(with(geostationary, {{"sweep_angle_axis", "z"}})),
            "sweep_angle_axis is neither x nor y");

  const Json polar = {{"grid_mapping_name", "polar_stereographic"},
                      {"straight_vertical_longitude_from_pole", 0}};
  EXPECT_EQ(problem_of(polar), "latitude_of_projection_origin is missing");
  EXPECT_EQ(problem_of(with(polar, {{"latitude_of_projection_origin", 60}})),
            "latitude_of_projection_origin is neither 90 nor -90");
}

TEST(GridMappingProblem, IsTheDatum) {
  EXPECT_EQ(problem_of(geographic({{"semi_minor_axis", 6356752.3}})), "semi_major_axis is missing");
  EXPECT_EQ(problem_of(geographic({{"semi_major_axis", 1}, {"semi_minor_axis", 2}})),
            "semi_minor_axis is longer than semi_major_axis");
  EXPECT_EQ(problem_of(geographic({{"semi_major_axis", 1}, {"inverse_flattening", 0.5}})),
            "inverse_flattening is not above 1");
  EXPECT_EQ(problem_of(geographic({{"reference_ellipsoid_name", "egg"}})),
            "reference_ellipsoid_name is unknown: egg");
  EXPECT_EQ(problem_of(geographic({{"prime_meridian_name", "Ys"}})),
            "prime_meridian_name is unknown: Ys");
  EXPECT_EQ(problem_of(geographic({{"horizontal_datum_name", "my datum"}})),
            "no ellipsoid is given, and the datum is unknown: my datum");
  EXPECT_EQ(problem_of(geographic({{"towgs84", {1, 2}}})),
            "towgs84 does not hold 3, 6 or 7 numbers");
}

TEST(GridMappingProblem, IsTheUnit) {
  EXPECT_EQ(problem_of(kMercator, "degrees"),
            "the unit of the coordinates is not a length: degrees");
  EXPECT_EQ(problem_of(kMercator, "rad"), "the unit of the coordinates is not a length: rad");
  EXPECT_EQ(problem_of(kMercator, "-1 m"), "the unit of the coordinates is not a length: -1 m");
}

TEST(GridMappingProblem, LeavesTheErrorsOfGdalAlone) {
  int calls = 0;
  CPLPushErrorHandlerEx(
      [](CPLErr, CPLErrorNum, const char*) { ++*static_cast<int*>(CPLGetErrorHandlerUserData()); },
      &calls);
  CPLError(CE_Warning, CPLE_AppDefined, "from before");
  read({{"crs_wkt", "no WKT"}});
  CPLPopErrorHandler();
  EXPECT_EQ(calls, 1);
  EXPECT_STREQ(CPLGetLastErrorMsg(), "from before");
  CPLErrorReset();
}

}  // namespace
}  // namespace gdal_zarr::test::cf_grid_mapping_test
