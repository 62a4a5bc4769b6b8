// Every grid mapping of the CF conventions, compared with PROJ.
#include <string>
#include <vector>

#include "autotest/driver/cpp/grid_mapping.h"

namespace gdal_zarr::test::cf_grid_mapping_reference_test {
namespace {

// Positions and where they lie in the grid.
struct Fixpoint {
  double longitude;
  double latitude;
  double x;
  double y;
};

struct Reference {
  const char* name;
  const char* attributes;
  const char* unit;
  const char* ellipsoid;   // as PROJ writes it
  const char* projection;  // as PROJ writes it
  double tolerance;        // in the unit: a millimetre, or 1e-9 degrees
  std::vector<Fixpoint> fixpoints;
};

void PrintTo(const Reference& reference, std::ostream* out) {
  *out << reference.name;
}

// The numbers are results of PROJ 9.1.1 for `projection` on `ellipsoid`, with no CRS between. The
// netCDF driver of GDAL 3.6.2, on a file with these attributes, and CRS.from_cf of pyproj 3.4.1
// give the same where they know the mapping and the parameters, with two exceptions of pyproj's:
// it turns oblique Mercator grids along their central line, and sets the origin of conic grids of
// one parallel on this parallel.
const Reference kReferences[] = {
    {"AlbersTwoParallels",
     R"({"grid_mapping_name": "albers_conical_equal_area", "semi_major_axis": 6378388,
         "inverse_flattening": 297, "false_easting": 1000, "false_northing": -2000,
         "standard_parallel": [29.5, 45.5], "latitude_of_projection_origin": 23,
         "longitude_of_central_meridian": -96})",
     "m",
     "+ellps=intl",
     "+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +x_0=1000 +y_0=-2000",
     1e-3,
     {{-100, 40, -337405.9413, 1892143.177}, {-75.5, 30.25, 1955702.8108, 1006790.8523}}},
    {"AlbersOneParallel",
     R"({"grid_mapping_name": "albers_conical_equal_area", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "standard_parallel": [45.5],
         "latitude_of_projection_origin": 23, "longitude_of_central_meridian": -96})",
     "m",
     "+ellps=WGS84",
     "+proj=aea +lat_1=45.5 +lat_2=45.5 +lat_0=23 +lon_0=-96",
     1e-3,
     {{-100, 40, -342870.5862, 1844453.8704}, {-75.5, 30.25, 2007988.3233, 1027634.6057}}},
    {"AzimuthalEquidistant",
     R"({"grid_mapping_name": "azimuthal_equidistant", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 5264238.4, "false_northing":
         3080514, "latitude_of_projection_origin": 53, "longitude_of_projection_origin": 24})",
     "m",
     "+ellps=WGS84",
     "+proj=aeqd +lat_0=53 +lon_0=24 +x_0=5264238.4 +y_0=3080514",
     1e-3,
     {{10, 45, 4163120.8166, 2295020.1242}, {24.5, 60, 5292207.538, 3860066.903}}},
    {"GeostationarySweepY",
     R"({"grid_mapping_name": "geostationary", "semi_major_axis": 6378137, "semi_minor_axis":
         6356752.31414, "perspective_point_height": 35785831, "sweep_angle_axis": "y",
         "latitude_of_projection_origin": 0, "longitude_of_projection_origin": 9.5})",
     "m",
     "+a=6378137 +b=6356752.31414",
     "+proj=geos +h=35785831 +lon_0=9.5 +sweep=y",
     1e-3,
     {{20, 50, 702580.0394, 4539065.1951}, {-30, -20, -3623423.6715, -2053704.1308}}},
    {"GeostationarySweepX",
     R"({"grid_mapping_name": "geostationary", "semi_major_axis": 6378137, "semi_minor_axis":
         6356752.31414, "false_easting": 1000, "false_northing": 2000,
         "perspective_point_height": 35786023, "sweep_angle_axis": "x",
         "latitude_of_projection_origin": 0, "longitude_of_projection_origin": -75})",
     "m",
     "+a=6378137 +b=6356752.31414",
     "+proj=geos +h=35786023 +lon_0=-75 +sweep=x +x_0=1000 +y_0=2000",
     1e-3,
     {{-100, 40, -1946935.149, 3854931.2461}, {-60, -20, 1524184.4657, -2128217.3581}}},
    {"GeostationaryRadians",
     R"({"grid_mapping_name": "geostationary", "semi_major_axis": 6378137, "semi_minor_axis":
         6356752.31414, "perspective_point_height": 35786023, "fixed_angle_axis": "y",
         "latitude_of_projection_origin": 0, "longitude_of_projection_origin": -75})",
     "rad",
     "+a=6378137 +b=6356752.31414",
     "+proj=geos +h=35786023 +lon_0=-75 +sweep=x",
     1e-3,
     {{-100, 40, -1947935.149, 3852931.2461}, {-60, -20, 1523184.4657, -2130217.3581}}},
    {"LambertAzimuthal",
     R"({"grid_mapping_name": "lambert_azimuthal_equal_area", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 4321000, "false_northing":
         3210000, "latitude_of_projection_origin": 52, "longitude_of_projection_origin": 10})",
     "m",
     "+ellps=WGS84",
     "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000",
     1e-3,
     {{10, 45, 4321000.0, 2432032.9701}, {24.5, 60, 5125564.9119, 4182601.9324}}},
    {"LambertAzimuthalKilometres",
     R"({"grid_mapping_name": "lambert_azimuthal_equal_area", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 4321, "false_northing": 3210,
         "latitude_of_projection_origin": 52, "longitude_of_projection_origin": 10})",
     "km",
     "+ellps=WGS84",
     "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +units=km",
     1e-6,
     {{10, 45, 4321.0, 2432.0329701}, {24.5, 60, 5125.5649119, 4182.6019324}}},
    {"LambertConicTwoParallels",
     R"({"grid_mapping_name": "lambert_conformal_conic", "earth_radius": 6371229,
         "false_easting": 3, "false_northing": 4, "standard_parallel": [33, 45],
         "latitude_of_projection_origin": 39, "longitude_of_central_meridian": -96})",
     "m",
     "+R=6371229",
     "+proj=lcc +lat_1=33 +lat_2=45 +lat_0=39 +lon_0=-96 +x_0=3 +y_0=4",
     1e-3,
     {{-100, 40, -338796.1396, 118055.0224}, {-75.5, 30.25, 1964235.8416, -748942.8441}}},
    {"LambertConicAtItsParallel",
     R"({"grid_mapping_name": "lambert_conformal_conic", "earth_radius": 6371229,
         "standard_parallel": 38.5, "latitude_of_projection_origin": 38.5,
         "longitude_of_central_meridian": -97.5})",
     "m",
     "+R=6371229",
     "+proj=lcc +lat_1=38.5 +lat_0=38.5 +lon_0=-97.5",
     1e-3,
     {{-100, 40, -213005.6144, 169710.5843}, {-75.5, 30.25, 2114309.3422, -666591.4358}}},
    {"LambertConicAwayFromItsParallel",
     R"({"grid_mapping_name": "lambert_conformal_conic", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "standard_parallel": 25,
         "latitude_of_projection_origin": 38.5, "longitude_of_central_meridian": -97.5})",
     "m",
     "+ellps=WGS84",
     "+proj=lcc +lat_1=25 +lat_0=38.5 +lon_0=-97.5",
     1e-3,
     {{-100, 40, -221320.7468, 174072.1986}, {-75.5, 30.25, 2117042.4614, -756610.6833}}},
    {"LambertConicScale",
     R"({"grid_mapping_name": "lambert_conformal_conic", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "latitude_of_projection_origin": 38.5,
         "longitude_of_central_meridian": -97.5, "scale_factor_at_projection_origin": 0.9996})",
     "m",
     "+ellps=WGS84",
     "+proj=lcc +lat_1=38.5 +lat_0=38.5 +k_0=0.9996 +lon_0=-97.5",
     1e-3,
     {{-100, 40, -213446.373, 169381.8632}, {-75.5, 30.25, 2117454.589, -663604.2116}}},
    {"LambertCylindricalParallel",
     R"({"grid_mapping_name": "lambert_cylindrical_equal_area", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 10, "false_northing": 20,
         "standard_parallel": 30, "longitude_of_central_meridian": 15})",
     "m",
     "+ellps=WGS84",
     "+proj=cea +lat_ts=30 +lon_0=15 +x_0=10 +y_0=20",
     1e-3,
     {{10, 45, -482421.4013, 5180122.3288}, {-120, -60, -13025637.8339, -6351399.9973}}},
    {"LambertCylindricalScale",
     R"({"grid_mapping_name": "lambert_cylindrical_equal_area", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "longitude_of_central_meridian": 15,
         "scale_factor_at_projection_origin": 0.9})",
     "m",
     "+ellps=WGS84",
     "+proj=cea +k_0=0.9 +lon_0=15",
     1e-3,
     {{10, 45, -500937.7086, 4988732.0966}, {-120, -60, -13525318.1314, -6116777.3894}}},
    {"MercatorParallel",
     R"({"grid_mapping_name": "mercator", "semi_major_axis": 6378137, "inverse_flattening":
         298.257223563, "standard_parallel": 41, "longitude_of_projection_origin": 15})",
     "m",
     "+ellps=WGS84",
     "+proj=merc +lat_ts=41 +lon_0=15",
     1e-3,
     {{10, 45, -420675.9256, 4225897.1343}, {-120, -60, -11358249.9904, -6320521.1003}}},
    {"MercatorScale",
     R"({"grid_mapping_name": "mercator", "semi_major_axis": 6378137, "inverse_flattening":
         298.257223563, "false_easting": 500, "false_northing": 600,
         "longitude_of_projection_origin": 110, "scale_factor_at_projection_origin": 0.997})",
     "m",
     "+ellps=WGS84",
     "+proj=merc +k_0=0.997 +lon_0=110 +x_0=500 +y_0=600",
     1e-3,
     {{110, 5, 500.0, 552523.0953}, {95.5, -10, -1608790.2187, -1107540.6775}}},
    {"ObliqueMercator",
     R"({"grid_mapping_name": "oblique_mercator", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 590476.87, "false_northing":
         442857.65, "azimuth_of_central_line": 53.31580995, "latitude_of_projection_origin": 4,
         "longitude_of_projection_origin": 115, "scale_factor_at_projection_origin": 0.99984})",
     "m",
     "+ellps=WGS84",
     "+proj=omerc +lat_0=4 +lonc=115 +alpha=53.31580995 +gamma=53.31580995 +k_0=0.99984 "
     "+x_0=590476.87 +y_0=442857.65",
     1e-3,
     {{115.8, 5.4, 679143.7128, 597694.562}, {110, 1, 33850.2426, 112346.7873}}},
    {"Orthographic",
     R"({"grid_mapping_name": "orthographic", "semi_major_axis": 6378137, "inverse_flattening":
         298.257223563, "latitude_of_projection_origin": 40, "longitude_of_projection_origin":
         -100})",
     "m",
     "+ellps=WGS84",
     "+proj=ortho +lat_0=40 +lon_0=-100",
     1e-3,
     {{-100, 45, 0.0, 554710.5068}, {-75.5, 30.25, 2286762.6469, -757343.8736}}},
    {"PolarStereographicNorth",
     R"({"grid_mapping_name": "polar_stereographic", "semi_major_axis": 6378273,
         "semi_minor_axis": 6356889.449, "standard_parallel": 70,
         "latitude_of_projection_origin": 90, "straight_vertical_longitude_from_pole": -45})",
     "m",
     "+a=6378273 +b=6356889.449",
     "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45",
     1e-3,
     {{-45, 80, 0.0, -1085943.1879}, {100, 65, 1577510.5722, 2252918.5793}}},
    {"PolarStereographicSouth",
     R"({"grid_mapping_name": "polar_stereographic", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 1000, "false_northing": 2000,
         "standard_parallel": -71, "latitude_of_projection_origin": -90,
         "straight_vertical_longitude_from_pole": 0})",
     "m",
     "+ellps=WGS84",
     "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +x_0=1000 +y_0=2000",
     1e-3,
     {{-45, -80, -769166.179, 772166.179}, {100, -65, 2717594.1091, -477008.8371}}},
    {"PolarStereographicScale",
     R"({"grid_mapping_name": "polar_stereographic", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 2000000, "false_northing":
         2000000, "latitude_of_projection_origin": 90, "straight_vertical_longitude_from_pole":
         0, "scale_factor_at_projection_origin": 0.994})",
     "m",
     "+ellps=WGS84",
     "+proj=stere +lat_0=90 +k_0=0.994 +lon_0=0 +x_0=2000000 +y_0=2000000",
     1e-3,
     {{-45, 80, 1213024.7039, 1213024.7039}, {100, 65, 4775884.6228, 2489463.3543}}},
    {"PolarStereographicOriginLongitude",
     R"({"grid_mapping_name": "polar_stereographic", "earth_radius": 6371229,
         "standard_parallel": 60, "latitude_of_projection_origin": 90,
         "longitude_of_projection_origin": -105})",
     "m",
     "+R=6371229",
     "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-105",
     1e-3,
     {{-45, 80, 900789.2217, -520070.8996}, {100, 65, -1113895.0241, 2388755.5878}}},
    {"RotatedPole",
     R"({"grid_mapping_name": "rotated_latitude_longitude", "earth_radius": 6371229,
         "grid_north_pole_latitude": 39.25, "grid_north_pole_longitude": -162})",
     "degrees",
     "+R=6371229",
     "+proj=ob_tran +o_proj=longlat +o_lat_p=39.25 +o_lon_p=0 +lon_0=18",
     1e-9,
     {{10, 45, -5.67329847509, -5.44320833408}, {24.5, 60, 3.288926638878, 9.394515220391}}},
    {"RotatedPoleTurned",
     R"({"grid_mapping_name": "rotated_latitude_longitude", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "grid_north_pole_latitude": 39.25,
         "grid_north_pole_longitude": -162, "north_pole_grid_longitude": 20})",
     "degrees",
     "+ellps=WGS84",
     "+proj=ob_tran +o_proj=longlat +o_lat_p=39.25 +o_lon_p=20 +lon_0=18",
     1e-9,
     {{10, 45, 14.32670152491, -5.44320833408}, {24.5, 60, 23.288926638878, 9.394515220391}}},
    {"Sinusoidal",
     R"({"grid_mapping_name": "sinusoidal", "earth_radius": 6371007.181,
         "longitude_of_projection_origin": 0})",
     "m",
     "+R=6371007.181",
     "+proj=sinu +lon_0=0",
     1e-3,
     {{10, 45, 786267.7529, 5003777.3389}, {-120, -60, -6671703.1186, -6671703.1186}}},
    {"Stereographic",
     R"({"grid_mapping_name": "stereographic", "semi_major_axis": 6378137, "inverse_flattening":
         298.257223563, "false_easting": 155000, "false_northing": 463000,
         "latitude_of_projection_origin": 52.15616055555555, "longitude_of_projection_origin":
         5.38763888888889, "scale_factor_at_projection_origin": 0.9999079})",
     "m",
     "+ellps=WGS84",
     "+proj=stere +lat_0=52.15616055555555 +lon_0=5.38763888888889 +k_0=0.9999079 +x_0=155000 "
     "+y_0=463000",
     1e-3,
     {{5, 52, 128380.4557, 445696.7175}, {7, 53.5, 262001.4594, 613742.1831}}},
    {"TransverseMercator",
     R"({"grid_mapping_name": "transverse_mercator", "semi_major_axis": 6377563.396,
         "inverse_flattening": 299.3249646, "false_easting": 400000, "false_northing": -100000,
         "scale_factor_at_central_meridian": 0.9996012717, "latitude_of_projection_origin": 49,
         "longitude_of_central_meridian": -2})",
     "m",
     "+ellps=airy",
     "+proj=tmerc +lat_0=49 +lon_0=-2 +k_0=0.9996012717 +x_0=400000 +y_0=-100000",
     1e-3,
     {{-3, 55, 336038.7622, 567734.8572}, {0.5, 51, 575395.6451, 125324.6728}}},
    {"VerticalPerspective",
     R"({"grid_mapping_name": "vertical_perspective", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "perspective_point_height": 5000000,
         "latitude_of_projection_origin": 40, "longitude_of_projection_origin": -100})",
     "m",
     "+ellps=WGS84",
     "+proj=nsper +lat_0=40 +lon_0=-100 +h=5000000",
     1e-3,
     {{-100, 45, 0.0, 553205.9245}, {-75.5, 30.25, 2087680.8295, -695575.6152}}},
    {"TransverseMercatorFeet",
     R"({"grid_mapping_name": "transverse_mercator", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 1000000, "false_northing": 500,
         "scale_factor_at_central_meridian": 0.9999, "latitude_of_projection_origin": 38,
         "longitude_of_central_meridian": -74})",
     "US_survey_foot",
     "+ellps=WGS84",
     "+proj=tmerc +lat_0=38 +lon_0=-74 +k_0=0.9999 +x_0=304800.6096012192 +y_0=152.4003048006096 "
     "+units=us-ft",
     3e-3,
     {{-74.5, 40, 859932.1891, 729266.7501}, {-73, 38.5, 1286170.8519, 184124.735}}},
    {"VerticalPerspectiveThousands",
     R"({"grid_mapping_name": "vertical_perspective", "semi_major_axis": 6378137,
         "inverse_flattening": 298.257223563, "false_easting": 1, "false_northing": 2,
         "perspective_point_height": 5000000, "latitude_of_projection_origin": 40,
         "longitude_of_projection_origin": -100})",
     "1000 m",
     "+ellps=WGS84",
     "+proj=nsper +lat_0=40 +lon_0=-100 +h=5000000 +x_0=1000 +y_0=2000 +units=km",
     1e-6,
     {{-100, 45, 1.0, 555.2059245}, {-75.5, 30.25, 2088.6808295, -693.5756152}}},
};

class GridMapping : public testing::TestWithParam<Reference> {};

TEST_P(GridMapping, AgreesWithProj) {
  const Reference& reference = GetParam();
  const auto longlat = from_proj("+proj=longlat +no_defs " + std::string(reference.ellipsoid));
  const auto crs = crs_of(Json::parse(reference.attributes), reference.unit);
  for (const Fixpoint& fixpoint : reference.fixpoints) {
    const auto [x, y] = transform(longlat, crs, {fixpoint.longitude, fixpoint.latitude});
    EXPECT_NEAR(x, fixpoint.x, reference.tolerance);
    EXPECT_NEAR(y, fixpoint.y, reference.tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Cf, GridMapping, testing::ValuesIn(kReferences),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace gdal_zarr::test::cf_grid_mapping_reference_test
