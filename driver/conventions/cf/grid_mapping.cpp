#include "driver/conventions/cf/grid_mapping.h"

#include <cpl_conv.h>
#include <cpl_error.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/names.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using Crs = OGRSpatialReference;
using cf::Attributes;
using cf::simplified;
using zarrcore::Error;

using cf::kCentralMeridian;
using cf::kOriginLatitude;
using cf::kOriginLongitude;
using cf::kOriginScale;

// The row of `table` with this name; null when there is none.
template <typename Row, std::size_t size>
const Row* find_by_name(const Row (&table)[size], const std::string& name) {
  const Row* row = std::find_if(std::begin(table), std::end(table), [&](const Row& candidate) {
    return simplified(candidate.name) == simplified(name);
  });
  return row == std::end(table) ? nullptr : row;
}

void check(OGRErr result) {
  if (result == OGRERR_NONE) return;
  const std::string reason = CPLGetLastErrorMsg();
  throw Error(reason.empty() ? "GDAL makes no CRS of the parameters" : reason);
}

struct LinearUnit {
  std::string name;
  double metres;
};

// A unit as UDUNITS writes it: a word, maybe after a factor ("1000 m"). The coordinates of a
// geostationary grid may be angles: they count as lengths at the height of the satellite.
LinearUnit read_linear_unit(const std::string& text, std::optional<double> satellite_height) {
  if (text.empty()) return {"metre", 1};
  char* word = nullptr;
  double factor = CPLStrtod(text.c_str(), &word);
  if (word == text.c_str()) factor = 1;
  while (*word == ' ') ++word;
  const auto is_meant = [&](const cf::UnitWord& unit) { return EQUAL(unit.word, word); };
  if (factor > 0 && std::isfinite(factor)) {
    const auto* length = std::find_if(std::begin(cf::kLengths), std::end(cf::kLengths), is_meant);
    if (length != std::end(cf::kLengths)) {
      const double metres = factor * length->size;
      for (const cf::UnitWord& known : cf::kLengths) {
        if (std::abs(metres / known.size - 1) < 1e-12) return {known.name, known.size};
      }
      return {text, metres};
    }
    const auto* angle = std::find_if(std::begin(cf::kAngles), std::end(cf::kAngles), is_meant);
    if (angle != std::end(cf::kAngles) && satellite_height) {
      return {std::string(angle->name) + " at satellite height",
              factor * angle->size * *satellite_height};
    }
  }
  throw Error("the unit of the coordinates is no length: " + text);
}

struct Ellipsoid {
  std::string name;
  double semi_major_axis;     // metres
  double inverse_flattening;  // 0 for a sphere

  // Whether it is `other` but for digits that were lost on the way.
  bool resembles(const Ellipsoid& other) const {
    return std::abs(semi_major_axis - other.semi_major_axis) < 0.01 &&
           std::abs(inverse_flattening - other.inverse_flattening) < 1e-4;
  }
};

// Numbers win over the name. Nothing when the attributes tell no ellipsoid.
std::optional<Ellipsoid> read_ellipsoid(const Attributes& attributes) {
  const std::string name = attributes.name("reference_ellipsoid_name");
  const std::string label = name.empty() ? "unknown" : name;
  const auto semi_major = attributes.positive("semi_major_axis");
  const auto semi_minor = attributes.positive("semi_minor_axis");
  // 0 stands for a sphere, and for a flattening that the writer left to the axes.
  const double inverse_flattening = attributes.number("inverse_flattening").value_or(0.0);
  if (semi_major) {
    if (inverse_flattening != 0) {
      if (inverse_flattening <= 1) throw Error("inverse_flattening is not above 1");
      return Ellipsoid{label, *semi_major, inverse_flattening};
    }
    if (!semi_minor || *semi_minor == *semi_major) return Ellipsoid{label, *semi_major, 0};
    if (*semi_minor > *semi_major) throw Error("semi_minor_axis is longer than semi_major_axis");
    return Ellipsoid{label, *semi_major, *semi_major / (*semi_major - *semi_minor)};
  }
  if (const auto radius = attributes.positive("earth_radius")) return Ellipsoid{label, *radius, 0};
  if (!name.empty()) {
    const auto* known = find_by_name(cf::kEllipsoids, name);
    if (known == nullptr) throw Error("reference_ellipsoid_name is unknown: " + name);
    return Ellipsoid{name, known->semi_major_axis, known->inverse_flattening};
  }
  if (semi_minor || inverse_flattening != 0) throw Error("semi_major_axis is missing");
  return std::nullopt;
}

struct PrimeMeridian {
  std::string name = "Greenwich";
  double longitude = 0;  // degrees
};

PrimeMeridian read_prime_meridian(const Attributes& attributes) {
  const std::string name = attributes.name("prime_meridian_name");
  if (const auto longitude = attributes.number("longitude_of_prime_meridian")) {
    if (*longitude == 0) return {};
    return {name.empty() ? "unknown" : name, *longitude};
  }
  if (name.empty()) return {};
  const auto* known = find_by_name(cf::kPrimeMeridians, name);
  if (known == nullptr) throw Error("prime_meridian_name is unknown: " + name);
  return {name, known->longitude};
}

Crs read_geographic_crs(const Attributes& attributes) {
  const std::string crs_name = attributes.name("geographic_crs_name");
  const std::string datum_name = attributes.name("horizontal_datum_name");
  const std::string& identity = datum_name.empty() ? crs_name : datum_name;
  const PrimeMeridian meridian = read_prime_meridian(attributes);
  std::optional<Ellipsoid> ellipsoid = read_ellipsoid(attributes);

  const bool tells_nothing = !ellipsoid && identity.empty();
  const auto* known = find_by_name(cf::kGeographicCrss, tells_nothing ? "WGS 84" : identity);
  if (known != nullptr) {
    Crs crs;
    check(crs.SetWellKnownGeogCS(known->code));
    const char* name = crs.GetAttrValue("SPHEROID");
    const Ellipsoid own{name != nullptr ? name : "unknown", crs.GetSemiMajor(),
                        crs.GetInvFlattening()};
    if (!ellipsoid) ellipsoid = own;
    if (ellipsoid->resembles(own) && meridian.longitude == 0) return crs;
  }
  if (!ellipsoid) throw Error("no ellipsoid is given, and the datum is unknown: " + identity);
  Crs crs;
  check(crs.SetGeogCS(crs_name.empty() ? "unknown" : crs_name.c_str(),
                      datum_name.empty() ? "unknown" : datum_name.c_str(), ellipsoid->name.c_str(),
                      ellipsoid->semi_major_axis, ellipsoid->inverse_flattening,
                      meridian.name.c_str(), meridian.longitude));
  return crs;
}

// None, one or two.
std::vector<double> standard_parallels(const Attributes& a) {
  const std::vector<double> parallels = a.numbers("standard_parallel");
  if (parallels.size() > 2) throw Error("standard_parallel holds more than two numbers");
  return parallels;
}

// The setters of conversions: `crs` is in metres, and so are the false easting `fe` and the false
// northing `fn`. Where a projection takes a standard parallel or a scale at the origin, the scale
// counts if the parallel is absent or passes through the origin.

OGRErr set_albers(Crs& crs, const Attributes& a, double fe, double fn) {
  const std::vector<double> parallels = standard_parallels(a);
  if (parallels.empty()) throw Error("standard_parallel is missing");
  return crs.SetACEA(parallels.front(), parallels.back(), a.required(kOriginLatitude),
                     a.required(kCentralMeridian), fe, fn);
}

// Whether the outer gimbal of the satellite's view turns about the x axis; y is PROJ's default.
bool sweeps_x(const Attributes& a) {
  const std::string sweep = simplified(a.text("sweep_angle_axis"));
  const std::string fixed = simplified(a.text("fixed_angle_axis"));
  if (sweep == "x" || sweep == "y") return sweep == "x";
  if (!sweep.empty()) throw Error("sweep_angle_axis is neither x nor y");
  if (fixed == "x" || fixed == "y" || fixed.empty()) return fixed == "y";
  throw Error("fixed_angle_axis is neither x nor y");
}

OGRErr set_geostationary(Crs& crs, const Attributes& a, double fe, double fn) {
  if (a.number(kOriginLatitude).value_or(0.0) != 0) {
    throw Error(std::string(kOriginLatitude) + " is not 0");
  }
  check(crs.SetGEOS(a.required(kOriginLongitude), a.height(), fe, fn));
  if (!sweeps_x(a)) return OGRERR_NONE;
  // GDAL has no setter for this sweep, but reads it from WKT.
  constexpr std::string_view kMethod = "METHOD[\"Geostationary Satellite (Sweep Y)\"";
  const char* const options[] = {"FORMAT=WKT2_2019", nullptr};
  char* exported = nullptr;
  const OGRErr result = crs.exportToWkt(&exported, options);
  std::string wkt = exported != nullptr ? exported : "";
  CPLFree(exported);
  check(result);
  const auto method = wkt.find(kMethod);
  if (method == std::string::npos) return OGRERR_UNSUPPORTED_SRS;
  wkt[method + kMethod.find("Y)")] = 'X';
  return crs.importFromWkt(wkt.c_str());
}

OGRErr set_lambert_conic(Crs& crs, const Attributes& a, double fe, double fn) {
  const std::vector<double> parallels = standard_parallels(a);
  const double meridian = a.required(kCentralMeridian);
  // CF wants a parallel; other writers (GDAL) give only the scale at the origin.
  if (parallels.empty() && !a.number(kOriginScale)) throw Error("standard_parallel is missing");
  const double latitude = parallels.size() == 1
                              ? a.number(kOriginLatitude).value_or(parallels.front())
                              : a.required(kOriginLatitude);
  if (parallels.empty() || (parallels.size() == 1 && parallels.front() == latitude)) {
    return crs.SetLCC1SP(latitude, meridian, a.scale(kOriginScale), fe, fn);
  }
  // One parallel that is not the origin's is a cone that touches there: two that coincide.
  return crs.SetLCC(parallels.front(), parallels.back(), latitude, meridian, fe, fn);
}

OGRErr set_lambert_cylindrical(Crs& crs, const Attributes& a, double fe, double fn) {
  double parallel = a.number("standard_parallel").value_or(0.0);
  if (const double scale = a.scale(kOriginScale); parallel == 0 && scale != 1) {
    if (scale > 1) throw Error(std::string(kOriginScale) + " is above 1");
    // The parallel whose circle is as long as the grid's equator.
    const double square = scale * scale;
    const double sine = std::sqrt((1 - square) / (1 - square * crs.GetSquaredEccentricity()));
    parallel = std::asin(sine) * 180 / std::numbers::pi;
  }
  return crs.SetCEA(parallel, a.required(kCentralMeridian), fe, fn);
}

OGRErr set_mercator(Crs& crs, const Attributes& a, double fe, double fn) {
  const double longitude = a.required(kOriginLongitude);
  const double parallel = a.number("standard_parallel").value_or(0.0);
  if (parallel == 0) return crs.SetMercator(0, longitude, a.scale(kOriginScale), fe, fn);
  return crs.SetMercator2SP(parallel, 0, longitude, fe, fn);
}

// CF leaves open how the grid is turned and where its false origin is. As with PROJ, to which it
// points: the grid is turned from its central line to the north of the projection's centre, and
// this centre is the false origin (EPSG's variant B).
OGRErr set_oblique_mercator(Crs& crs, const Attributes& a, double fe, double fn) {
  const double azimuth = a.required("azimuth_of_central_line");
  return crs.SetHOMAC(a.required(kOriginLatitude), a.required(kOriginLongitude), azimuth, azimuth,
                      a.scale(kOriginScale), fe, fn);
}

OGRErr set_polar_stereographic(Crs& crs, const Attributes& a, double fe, double fn) {
  const auto vertical = a.number("straight_vertical_longitude_from_pole");
  const double longitude = vertical ? *vertical : a.required(kOriginLongitude);
  const auto parallel = a.number("standard_parallel");
  const auto latitude = a.number(kOriginLatitude);
  const double pole =
      parallel && !latitude ? std::copysign(90.0, *parallel) : a.required(kOriginLatitude);
  if (std::abs(pole) != 90) throw Error(std::string(kOriginLatitude) + " is neither 90 nor -90");
  // Some files of the south have no sign before the parallel.
  const double true_latitude = std::copysign(parallel.value_or(pole), pole);
  const double scale = true_latitude == pole ? a.scale(kOriginScale) : 1;
  return crs.SetPS(true_latitude, longitude, scale, fe, fn);
}

struct Projection {
  const char* name;
  OGRErr (*set)(Crs& crs, const Attributes& a, double fe, double fn);
};

constexpr Projection kProjections[] = {
    {"albers_conical_equal_area", set_albers},
    {"azimuthal_equidistant",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetAE(a.required(kOriginLatitude), a.required(kOriginLongitude), fe, fn);
     }},
    {"geostationary", set_geostationary},
    {"lambert_azimuthal_equal_area",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetLAEA(a.required(kOriginLatitude), a.required(kOriginLongitude), fe, fn);
     }},
    {"lambert_conformal_conic", set_lambert_conic},
    {"lambert_cylindrical_equal_area", set_lambert_cylindrical},
    {"mercator", set_mercator},
    {"oblique_mercator", set_oblique_mercator},
    {"orthographic",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetOrthographic(a.required(kOriginLatitude), a.required(kOriginLongitude), fe,
                                  fn);
     }},
    {"polar_stereographic", set_polar_stereographic},
    {"sinusoidal",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       // Older files call it a central meridian.
       const auto meridian = a.number(kCentralMeridian);
       return crs.SetSinusoidal(meridian ? *meridian : a.required(kOriginLongitude), fe, fn);
     }},
    {"stereographic",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetStereographic(a.required(kOriginLatitude), a.required(kOriginLongitude),
                                   a.scale(kOriginScale), fe, fn);
     }},
    {"transverse_mercator",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetTM(a.required(kOriginLatitude), a.required(kCentralMeridian),
                        a.scale("scale_factor_at_central_meridian"), fe, fn);
     }},
    {"vertical_perspective",
     [](Crs& crs, const Attributes& a, double fe, double fn) {
       return crs.SetVerticalPerspective(a.required(kOriginLatitude), a.required(kOriginLongitude),
                                         0, a.height(), fe, fn);
     }},
};

Crs project(const Crs& geographic, const Projection& projection, const Attributes& attributes,
            const std::string& linear_unit) {
  const bool geostationary = projection.set == set_geostationary;
  const LinearUnit unit = read_linear_unit(
      linear_unit, geostationary ? std::optional(attributes.height()) : std::nullopt);
  const std::string name = attributes.name("projected_crs_name");
  Crs crs;
  check(crs.SetProjCS(name.empty() ? "unknown" : name.c_str()));
  check(crs.CopyGeogCSFrom(&geographic));
  check(crs.SetLinearUnits("metre", 1));
  check(projection.set(crs, attributes,
                       attributes.number("false_easting").value_or(0) * unit.metres,
                       attributes.number("false_northing").value_or(0) * unit.metres));
  // Converts every length among the parameters, among them heights, which CF has in metres.
  check(crs.SetLinearUnitsAndUpdateParameters(unit.name.c_str(), unit.metres));
  return crs;
}

Crs crs_from_parameters(const Attributes& attributes, const std::string& linear_unit) {
  const std::string mapping = attributes.text("grid_mapping_name");
  if (mapping.empty()) throw Error("grid_mapping_name is missing");
  const bool plain = EQUAL(mapping.c_str(), "latitude_longitude");
  const bool rotated = EQUAL(mapping.c_str(), "rotated_latitude_longitude");
  const Projection* projection = find_by_name(kProjections, mapping);
  if (!plain && !rotated && projection == nullptr) {
    throw Error("grid_mapping_name is unknown: " + mapping);
  }

  Crs crs = read_geographic_crs(attributes);
  std::vector<double> shift = attributes.numbers("towgs84");
  if (!shift.empty() && shift.size() != 3 && shift.size() != 6 && shift.size() != 7) {
    throw Error("towgs84 does not hold 3, 6 or 7 numbers");
  }
  // WGS 84 has no shift to itself.
  const char* code = crs.GetAuthorityCode(nullptr);
  if (code != nullptr && EQUAL(code, "4326")) shift.clear();

  if (rotated) {
    check(crs.SetDerivedGeogCRSWithPoleRotationNetCDFCFConvention(
        "rotated_latitude_longitude", attributes.required("grid_north_pole_latitude"),
        attributes.required("grid_north_pole_longitude"),
        attributes.number("north_pole_grid_longitude").value_or(0.0)));
  } else if (projection != nullptr) {
    crs = project(crs, *projection, attributes, linear_unit);
  }
  if (!shift.empty()) {
    shift.resize(7);
    check(crs.SetTOWGS84(shift[0], shift[1], shift[2], shift[3], shift[4], shift[5], shift[6]));
  }
  return crs;
}

}  // namespace

std::shared_ptr<OGRSpatialReference> crs_from_grid_mapping(const zarrcore::Json& attributes,
                                                           const std::string& linear_unit,
                                                           std::string* problem) {
  const CPLErrorStateBackuper error_state;
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  CPLErrorReset();
  const Attributes reader(attributes);
  std::string context;
  for (const char* key : {"crs_wkt", "spatial_ref"}) {
    const std::string wkt = reader.text(key);
    if (wkt.empty()) continue;
    auto crs = std::make_shared<Crs>();
    if (crs->importFromWkt(wkt.c_str()) == OGRERR_NONE) return crs;
    context += std::string(key) + " is not valid WKT, and ";
  }
  CPLErrorReset();
  try {
    return std::make_shared<Crs>(crs_from_parameters(reader, linear_unit));
  } catch (const Error& error) {
    *problem = context + error.what();
    return nullptr;
  }
}

}  // namespace gdal_zarr
