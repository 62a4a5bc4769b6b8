// Names of CF: of attributes that many grid mappings share, and those that files use in place of
// numbers, which are units, ellipsoids, prime meridians and geographic CRSs. The values of the
// ellipsoids and meridians are those of the EPSG data set.
#pragma once

namespace gdal_zarr::cf {

inline constexpr const char* kCentralMeridian = "longitude_of_central_meridian";
inline constexpr const char* kOriginLatitude = "latitude_of_projection_origin";
inline constexpr const char* kOriginLongitude = "longitude_of_projection_origin";
inline constexpr const char* kOriginScale = "scale_factor_at_projection_origin";

struct UnitWord {
  const char* word;
  const char* name;
  double size;  // in metres or radians
};

inline constexpr UnitWord kLengths[] = {
    {"m", "metre", 1},
    {"metre", "metre", 1},
    {"metres", "metre", 1},
    {"meter", "metre", 1},
    {"meters", "metre", 1},
    {"km", "kilometre", 1000},
    {"kilometre", "kilometre", 1000},
    {"kilometres", "kilometre", 1000},
    {"kilometer", "kilometre", 1000},
    {"kilometers", "kilometre", 1000},
    {"ft", "foot", 0.3048},
    {"foot", "foot", 0.3048},
    {"feet", "foot", 0.3048},
    {"international_foot", "foot", 0.3048},
    {"international_feet", "foot", 0.3048},
    {"US_survey_foot", "US survey foot", 1200.0 / 3937.0},
    {"US_survey_feet", "US survey foot", 1200.0 / 3937.0},
    {"US survey foot", "US survey foot", 1200.0 / 3937.0},
};

inline constexpr UnitWord kAngles[] = {
    {"rad", "radian", 1},
    {"radian", "radian", 1},
    {"radians", "radian", 1},
    {"mrad", "milliradian", 1e-3},
    {"milliradian", "milliradian", 1e-3},
    {"milliradians", "milliradian", 1e-3},
    {"urad", "microradian", 1e-6},
    {"microradian", "microradian", 1e-6},
    {"microradians", "microradian", 1e-6},
};

struct KnownEllipsoid {
  const char* name;
  double semi_major_axis;     // metres
  double inverse_flattening;  // 0 for a sphere
};

// EPSG's names, which CF has for reference_ellipsoid_name, and other spellings of some.
inline constexpr KnownEllipsoid kEllipsoids[] = {
    {"Airy 1830", 6377563.396, 299.3249646},
    {"Airy Modified 1849", 6377340.189, 299.3249646},
    {"Australian National Spheroid", 6378160, 298.25},
    {"Average Terrestrial System 1977", 6378135, 298.257},
    {"Bessel 1841", 6377397.155, 299.1528128},
    {"Bessel Modified", 6377492.018, 299.1528128},
    {"Bessel Namibia", 6377483.865, 299.1528128},
    {"Bessel Namibia (GLM)", 6377483.86528, 299.1528128},
    {"CGCS2000", 6378137, 298.257222101},
    {"Clarke 1858", 6378293.645209, 294.2606763693},
    {"Clarke 1866", 6378206.4, 294.9786982139},
    {"Clarke 1866 Authalic Sphere", 6370997, 0},
    {"Clarke 1866 Michigan", 6378450.047549, 294.9786971647},
    {"Clarke 1880", 6378249.144808, 293.4663076556},
    {"Clarke 1880 (Arc)", 6378249.145, 293.4663077},
    {"Clarke 1880 (Benoit)", 6378300.789, 293.466315539},
    {"Clarke 1880 (IGN)", 6378249.2, 293.4660212936},
    {"Clarke 1880 (international foot)", 6378306.3696, 293.4663076556},
    {"Clarke 1880 (RGS)", 6378249.145, 293.465},
    {"Clarke 1880 (SGA 1922)", 6378249.2, 293.46598},
    {"Danish 1876", 6377019.27, 300},
    {"Everest (1830 Definition)", 6377299.365595, 300.8017255434},
    {"Everest 1830 (1937 Adjustment)", 6377276.345, 300.8017},
    {"Everest 1830 (1962 Definition)", 6377301.243, 300.8017255},
    {"Everest 1830 (1967 Definition)", 6377298.556, 300.8017},
    {"Everest 1830 (1975 Definition)", 6377299.151, 300.8017255},
    {"Everest 1830 (RSO 1969)", 6377295.664, 300.8017},
    {"Everest 1830 Modified", 6377304.063, 300.8017},
    {"GEM 10C", 6378137, 298.257223563},
    {"GRS 1967", 6378160, 298.247167427},
    {"GRS 1967 Modified", 6378160, 298.25},
    {"GRS 1980", 6378137, 298.257222101},
    {"GRS 1980 Authalic Sphere", 6371007, 0},
    {"GRS 80", 6378137, 298.257222101},
    {"GSK-2011", 6378136.5, 298.2564151},
    {"Helmert 1906", 6378200, 298.3},
    {"Hough 1960", 6378270, 297},
    {"Hughes 1980", 6378273, 298.2794111231},
    {"IAG 1975", 6378140, 298.257},
    {"Indonesian National Spheroid", 6378160, 298.247},
    {"International 1924", 6378388, 297},
    {"International 1924 Authalic Sphere", 6371228, 0},
    {"Krasovsky 1940", 6378245, 298.3},
    {"Krassowsky 1940", 6378245, 298.3},
    {"NWL 9D", 6378145, 298.25},
    {"OSU86F", 6378136.2, 298.257223563},
    {"OSU91A", 6378136.3, 298.257223563},
    {"Plessis 1817", 6376523, 308.64},
    {"Popular Visualisation Sphere", 6378137, 0},
    {"PZ-90", 6378136, 298.257839303},
    {"Sphere", 6371000, 0},
    {"Struve 1860", 6378298.3, 294.73},
    {"War Office", 6378300, 296},
    {"WGS 1984", 6378137, 298.257223563},
    {"WGS 72", 6378135, 298.26},
    {"WGS 84", 6378137, 298.257223563},
};

struct KnownMeridian {
  const char* name;
  double longitude;  // degrees
};

// CF's list for prime_meridian_name.
inline constexpr KnownMeridian kPrimeMeridians[] = {
    {"Athens", 23.7163375},        {"Bern", 7.439583333333},    {"Bogota", -74.08091666667},
    {"Brussels", 4.367975},        {"Ferro", -17.66666666667},  {"Greenwich", 0},
    {"Jakarta", 106.8077194444},   {"Lisbon", -9.131906111111}, {"Madrid", -3.687375},
    {"Oslo", 10.72291666667},      {"Paris", 2.33722917},       {"Rome", 12.45233333333},
    {"Stockholm", 18.05827777778},
};

struct KnownCrs {
  const char* name;
  const char* code;
};

// Geographic CRSs on the meridian of Greenwich, under their own names and those of their datums.
inline constexpr KnownCrs kGeographicCrss[] = {
    {"WGS 84", "EPSG:4326"},
    {"WGS 1984", "EPSG:4326"},
    {"GCS_WGS_1984", "EPSG:4326"},
    {"D_WGS_1984", "EPSG:4326"},
    {"World Geodetic System 1984", "EPSG:4326"},
    {"World Geodetic System 1984 ensemble", "EPSG:4326"},
    {"ETRS89", "EPSG:4258"},
    {"European Terrestrial Reference System 1989", "EPSG:4258"},
    {"European Terrestrial Reference System 1989 ensemble", "EPSG:4258"},
    {"NAD27", "EPSG:4267"},
    {"North American Datum 1927", "EPSG:4267"},
    {"NAD83", "EPSG:4269"},
    {"North American Datum 1983", "EPSG:4269"},
};

}  // namespace gdal_zarr::cf
