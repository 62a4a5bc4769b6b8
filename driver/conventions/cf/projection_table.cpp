#include "driver/conventions/cf/projection.h"

namespace gdal_zarr::cf {
namespace {

constexpr Parameter angle(const char* attribute, const char* name, int code) {
  return {attribute, {name, code}, Quantity::angle};
}
constexpr Parameter distance(const char* attribute, const char* name, int code) {
  return {attribute, {name, code}, Quantity::distance};
}
constexpr Parameter height(const char* attribute, const char* name, int code) {
  return {attribute, {name, code}, Quantity::height};
}

// The parameters that several methods have.

constexpr Parameter origin_latitude(const char* attribute = kOriginLatitude) {
  return angle(attribute, "Latitude of natural origin", 8801);
}
constexpr Parameter origin_longitude(const char* attribute = kOriginLongitude) {
  return angle(attribute, "Longitude of natural origin", 8802);
}
constexpr Parameter origin_scale(const char* attribute = kOriginScale) {
  return {attribute, {"Scale factor at natural origin", 8805}, Quantity::scale};
}
constexpr Parameter kFalseEasting = distance(kEasting, "False easting", 8806);
constexpr Parameter kFalseNorthing = distance(kNorthing, "False northing", 8807);
constexpr Parameter kFirstParallel = angle(kParallel, "Latitude of 1st standard parallel", 8823);

// The parameters of each method, in its order.

constexpr Parameter kAtOrigin[] = {origin_latitude(), origin_longitude(), kFalseEasting,
                                   kFalseNorthing};
constexpr Parameter kAtFalseOrigin[] = {angle(kOriginLatitude, "Latitude of false origin", 8821),
                                        angle(kCentralMeridian, "Longitude of false origin", 8822),
                                        kFirstParallel,
                                        angle(kParallel, "Latitude of 2nd standard parallel", 8824),
                                        distance(kEasting, "Easting at false origin", 8826),
                                        distance(kNorthing, "Northing at false origin", 8827)};
constexpr Parameter kOfSatellite[] = {origin_longitude(), height(kHeight, "Satellite Height", 0),
                                      kFalseEasting, kFalseNorthing};
constexpr Parameter kConicAtOrigin[] = {origin_latitude(), origin_longitude(kCentralMeridian),
                                        origin_scale(), kFalseEasting, kFalseNorthing};
constexpr Parameter kCylindrical[] = {kFirstParallel, origin_longitude(kCentralMeridian),
                                      kFalseEasting, kFalseNorthing};
constexpr Parameter kMercatorAtOrigin[] = {origin_latitude(kAlwaysZero), origin_longitude(),
                                           origin_scale(), kFalseEasting, kFalseNorthing};
constexpr Parameter kMercatorOffOrigin[] = {kFirstParallel, origin_longitude(), kFalseEasting,
                                            kFalseNorthing};
constexpr Parameter kOblique[] = {
    angle(kOriginLatitude, "Latitude of projection centre", 8811),
    angle(kOriginLongitude, "Longitude of projection centre", 8812),
    angle(kAzimuth, "Azimuth of initial line", 8813),
    angle(kAzimuth, "Angle from Rectified to Skew Grid", 8814),
    {kOriginScale, {"Scale factor on initial line", 8815}, Quantity::scale},
    distance(kEasting, "Easting at projection centre", 8816),
    distance(kNorthing, "Northing at projection centre", 8817)};
constexpr Parameter kPolarAtOrigin[] = {origin_latitude(), origin_longitude(kPoleLongitude),
                                        origin_scale(), kFalseEasting, kFalseNorthing};
constexpr Parameter kPolarOffOrigin[] = {angle(kParallel, "Latitude of standard parallel", 8832),
                                         angle(kPoleLongitude, "Longitude of origin", 8833),
                                         kFalseEasting, kFalseNorthing};
constexpr Parameter kSinusoidal[] = {origin_longitude(), kFalseEasting, kFalseNorthing};
constexpr Parameter kStereographic[] = {origin_latitude(), origin_longitude(), origin_scale(),
                                        kFalseEasting, kFalseNorthing};
constexpr Parameter kTransverse[] = {origin_latitude(), origin_longitude(kCentralMeridian),
                                     origin_scale(kMeridianScale), kFalseEasting, kFalseNorthing};
constexpr Parameter kVertical[] = {
    angle(kOriginLatitude, "Latitude of topocentric origin", 8834),
    angle(kOriginLongitude, "Longitude of topocentric origin", 8835),
    height(kAlwaysZero, "Ellipsoidal height of topocentric origin", 8836),
    height(kHeight, "Viewpoint height", 8840),
    kFalseEasting,
    kFalseNorthing};

// CF leaves open how the grid of an oblique Mercator is turned and where its false origin is. As in
// PROJ, to which CF refers, the grid is turned from its central line to the north of the
// projection's centre, and this centre is the false origin (EPSG's variant B).
//
// Newer versions of PROJ have another method for azimuthal_equidistant. Reading takes the first
// row, which all have.
constexpr Projection kProjections[] = {
    {"albers_conical_equal_area", Variant::only, {"Albers Equal Area", 9822}, kAtFalseOrigin},
    {"azimuthal_equidistant", Variant::only, {"Modified Azimuthal Equidistant", 9832}, kAtOrigin},
    {"azimuthal_equidistant", Variant::only, {"Azimuthal Equidistant", 1125}, kAtOrigin},
    {"geostationary", Variant::sweep_x, {"Geostationary Satellite (Sweep X)", 0}, kOfSatellite},
    {"geostationary", Variant::sweep_y, {"Geostationary Satellite (Sweep Y)", 0}, kOfSatellite},
    {"lambert_azimuthal_equal_area",
     Variant::only,
     {"Lambert Azimuthal Equal Area", 9820},
     kAtOrigin},
    {"lambert_conformal_conic",
     Variant::at_origin,
     {"Lambert Conic Conformal (1SP)", 9801},
     kConicAtOrigin},
    {"lambert_conformal_conic",
     Variant::off_origin,
     {"Lambert Conic Conformal (2SP)", 9802},
     kAtFalseOrigin},
    {"lambert_cylindrical_equal_area",
     Variant::only,
     {"Lambert Cylindrical Equal Area", 9835},
     kCylindrical},
    {"mercator", Variant::at_origin, {"Mercator (variant A)", 9804}, kMercatorAtOrigin},
    {"mercator", Variant::off_origin, {"Mercator (variant B)", 9805}, kMercatorOffOrigin},
    {"oblique_mercator", Variant::only, {"Hotine Oblique Mercator (variant B)", 9815}, kOblique},
    {"orthographic", Variant::only, {"Orthographic", 9840}, kAtOrigin},
    {"polar_stereographic",
     Variant::at_origin,
     {"Polar Stereographic (variant A)", 9810},
     kPolarAtOrigin},
    {"polar_stereographic",
     Variant::off_origin,
     {"Polar Stereographic (variant B)", 9829},
     kPolarOffOrigin},
    {"sinusoidal", Variant::only, {"Sinusoidal", 0}, kSinusoidal},
    {"stereographic", Variant::only, {"Stereographic", 0}, kStereographic},
    {"transverse_mercator", Variant::only, {"Transverse Mercator", 9807}, kTransverse},
    {"vertical_perspective", Variant::only, {"Vertical Perspective", 9838}, kVertical},
};

}  // namespace

std::span<const Projection> projections() {
  return kProjections;
}

}  // namespace gdal_zarr::cf
