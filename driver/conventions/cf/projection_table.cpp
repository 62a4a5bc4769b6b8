#include "driver/conventions/cf/projection.h"

namespace gdal_zarr::cf {
namespace {

// The parameters that several methods have.

constexpr Parameter origin_latitude(const char* attribute = kOriginLatitude) {
  return {attribute, {"Latitude of natural origin", 8801}, Quantity::angle};
}
constexpr Parameter origin_longitude(const char* attribute = kOriginLongitude) {
  return {attribute, {"Longitude of natural origin", 8802}, Quantity::angle};
}
constexpr Parameter origin_scale(const char* attribute = kOriginScale) {
  return {attribute, {"Scale factor at natural origin", 8805}, Quantity::scale};
}

constexpr Parameter kFalseEasting{kEasting, {"False easting", 8806}, Quantity::distance};
constexpr Parameter kFalseNorthing{kNorthing, {"False northing", 8807}, Quantity::distance};
constexpr Parameter kCentreEasting{
    kEasting, {"Easting at projection centre", 8816}, Quantity::distance};
constexpr Parameter kCentreNorthing{
    kNorthing, {"Northing at projection centre", 8817}, Quantity::distance};
constexpr Parameter kFalseOriginLatitude{
    kOriginLatitude, {"Latitude of false origin", 8821}, Quantity::angle};
constexpr Parameter kFalseOriginLongitude{
    kCentralMeridian, {"Longitude of false origin", 8822}, Quantity::angle};
constexpr Parameter kFirstParallel{
    kParallel, {"Latitude of 1st standard parallel", 8823}, Quantity::angle};
constexpr Parameter kSecondParallel{
    kParallel, {"Latitude of 2nd standard parallel", 8824}, Quantity::angle};
constexpr Parameter kFalseOriginEasting{
    kEasting, {"Easting at false origin", 8826}, Quantity::distance};
constexpr Parameter kFalseOriginNorthing{
    kNorthing, {"Northing at false origin", 8827}, Quantity::distance};
constexpr Parameter kSatelliteHeight{kHeight, {"Satellite Height", 0}, Quantity::height};

constexpr Projection kProjections[] = {
    {"albers_conical_equal_area",
     Variant::only,
     {"Albers Equal Area", 9822},
     {kFalseOriginLatitude, kFalseOriginLongitude, kFirstParallel, kSecondParallel,
      kFalseOriginEasting, kFalseOriginNorthing}},

    {"azimuthal_equidistant",
     Variant::only,
     {"Modified Azimuthal Equidistant", 9832},
     {origin_latitude(), origin_longitude(), kFalseEasting, kFalseNorthing}},
    // The method that newer versions of PROJ have for it. Reading takes the first row, which all
    // have.
    {"azimuthal_equidistant",
     Variant::only,
     {"Azimuthal Equidistant", 1125},
     {origin_latitude(), origin_longitude(), kFalseEasting, kFalseNorthing}},

    {"geostationary",
     Variant::sweep_x,
     {"Geostationary Satellite (Sweep X)", 0},
     {origin_longitude(), kSatelliteHeight, kFalseEasting, kFalseNorthing}},

    {"geostationary",
     Variant::sweep_y,
     {"Geostationary Satellite (Sweep Y)", 0},
     {origin_longitude(), kSatelliteHeight, kFalseEasting, kFalseNorthing}},

    {"lambert_azimuthal_equal_area",
     Variant::only,
     {"Lambert Azimuthal Equal Area", 9820},
     {origin_latitude(), origin_longitude(), kFalseEasting, kFalseNorthing}},

    {"lambert_conformal_conic",
     Variant::at_origin,
     {"Lambert Conic Conformal (1SP)", 9801},
     {origin_latitude(), origin_longitude(kCentralMeridian), origin_scale(), kFalseEasting,
      kFalseNorthing}},

    {"lambert_conformal_conic",
     Variant::off_origin,
     {"Lambert Conic Conformal (2SP)", 9802},
     {kFalseOriginLatitude, kFalseOriginLongitude, kFirstParallel, kSecondParallel,
      kFalseOriginEasting, kFalseOriginNorthing}},

    {"lambert_cylindrical_equal_area",
     Variant::only,
     {"Lambert Cylindrical Equal Area", 9835},
     {kFirstParallel, origin_longitude(kCentralMeridian), kFalseEasting, kFalseNorthing}},

    {"mercator",
     Variant::at_origin,
     {"Mercator (variant A)", 9804},
     {origin_latitude(kAlwaysZero), origin_longitude(), origin_scale(), kFalseEasting,
      kFalseNorthing}},

    {"mercator",
     Variant::off_origin,
     {"Mercator (variant B)", 9805},
     {kFirstParallel, origin_longitude(), kFalseEasting, kFalseNorthing}},

    // CF leaves open how the grid is turned and where its false origin is. As in PROJ, to which CF
    // refers, the grid is turned from its central line to the north of the projection's centre, and
    // this centre is the false origin (EPSG's variant B).
    {"oblique_mercator",
     Variant::only,
     {"Hotine Oblique Mercator (variant B)", 9815},
     {{kOriginLatitude, {"Latitude of projection centre", 8811}, Quantity::angle},
      {kOriginLongitude, {"Longitude of projection centre", 8812}, Quantity::angle},
      {kAzimuth, {"Azimuth of initial line", 8813}, Quantity::angle},
      {kAzimuth, {"Angle from Rectified to Skew Grid", 8814}, Quantity::angle},
      {kOriginScale, {"Scale factor on initial line", 8815}, Quantity::scale},
      kCentreEasting,
      kCentreNorthing}},

    {"orthographic",
     Variant::only,
     {"Orthographic", 9840},
     {origin_latitude(), origin_longitude(), kFalseEasting, kFalseNorthing}},

    {"polar_stereographic",
     Variant::at_origin,
     {"Polar Stereographic (variant A)", 9810},
     {origin_latitude(), origin_longitude(kPoleLongitude), origin_scale(), kFalseEasting,
      kFalseNorthing}},

    {"polar_stereographic",
     Variant::off_origin,
     {"Polar Stereographic (variant B)", 9829},
     {{kParallel, {"Latitude of standard parallel", 8832}, Quantity::angle},
      {kPoleLongitude, {"Longitude of origin", 8833}, Quantity::angle},
      kFalseEasting,
      kFalseNorthing}},

    {"sinusoidal",
     Variant::only,
     {"Sinusoidal", 0},
     {origin_longitude(), kFalseEasting, kFalseNorthing}},

    {"stereographic",
     Variant::only,
     {"Stereographic", 0},
     {origin_latitude(), origin_longitude(), origin_scale(), kFalseEasting, kFalseNorthing}},

    {"transverse_mercator",
     Variant::only,
     {"Transverse Mercator", 9807},
     {origin_latitude(), origin_longitude(kCentralMeridian), origin_scale(kMeridianScale),
      kFalseEasting, kFalseNorthing}},

    {"vertical_perspective",
     Variant::only,
     {"Vertical Perspective", 9838},
     {{kOriginLatitude, {"Latitude of topocentric origin", 8834}, Quantity::angle},
      {kOriginLongitude, {"Longitude of topocentric origin", 8835}, Quantity::angle},
      {kAlwaysZero, {"Ellipsoidal height of topocentric origin", 8836}, Quantity::height},
      {kHeight, {"Viewpoint height", 8840}, Quantity::height},
      kFalseEasting,
      kFalseNorthing}},
};

}  // namespace

std::span<const Projection> projections() {
  return kProjections;
}

}  // namespace gdal_zarr::cf
