#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "driver/conventions/cf/projection.h"
#include "driver/gdal/crs_text.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::cf {
namespace {

using Crs = OGRSpatialReference;
using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

struct KnownEllipsoid {
  const char* name;
  double semi_major_axis;     // metres
  double inverse_flattening;  // 0 for a sphere
};

// EPSG's names, which CF prescribes for reference_ellipsoid_name, and other spellings of some.
constexpr KnownEllipsoid kEllipsoids[] = {
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

// The names that CF lists for prime_meridian_name.
constexpr KnownMeridian kPrimeMeridians[] = {
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

// Geographic CRSs on the meridian of Greenwich, by their own names and the names of their datums.
constexpr KnownCrs kGeographicCrss[] = {
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

// The row of `table` with this name; null when there is none.
template <typename Row, std::size_t Size>
const Row* find_by_name(const Row (&table)[Size], const std::string& name) {
  const Row* row = std::find_if(std::begin(table), std::end(table), [&](const Row& candidate) {
    return simplified(candidate.name) == simplified(name);
  });
  return row == std::end(table) ? nullptr : row;
}

struct Ellipsoid {
  std::string name;
  double semi_major_axis;     // metres
  double inverse_flattening;  // 0 for a sphere

  // Returns true if it is `other` but for digits that were lost on the way.
  bool resembles(const Ellipsoid& other) const {
    return std::abs(semi_major_axis - other.semi_major_axis) < 0.01 &&
           std::abs(inverse_flattening - other.inverse_flattening) < 1e-4;
  }
};

// Numbers win over the name. Empty when the attributes do not state an ellipsoid.
std::optional<Ellipsoid> read_ellipsoid(const Attributes& attributes) {
  const std::string name = attributes.name("reference_ellipsoid_name");
  const std::string label = name.empty() ? "unknown" : name;
  const auto semi_major = attributes.positive("semi_major_axis");
  const auto semi_minor = attributes.positive("semi_minor_axis");
  // 0 means a sphere, or that the axes define the flattening.
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
    const auto* known = find_by_name(kEllipsoids, name);
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
  const auto* known = find_by_name(kPrimeMeridians, name);
  if (known == nullptr) throw Error("prime_meridian_name is unknown: " + name);
  return {name, known->longitude};
}

// The geodetic CRS from which a CRS, as PROJJSON, is derived.
const Json& geodetic_crs(const Json& projjson) {
  const Json* crs = &projjson;
  while (true) {
    if (const Json* components = find_member(*crs, "components")) {
      crs = &components->front();
    } else if (const Json* base = find_member(*crs, "base_crs")) {
      crs = base;
    } else {
      return *crs;
    }
  }
}

}  // namespace

Crs read_geographic_crs(const Attributes& attributes) {
  const std::string crs_name = attributes.name("geographic_crs_name");
  const std::string datum_name = attributes.name("horizontal_datum_name");
  const std::string& identity = datum_name.empty() ? crs_name : datum_name;
  const PrimeMeridian meridian = read_prime_meridian(attributes);
  std::optional<Ellipsoid> ellipsoid = read_ellipsoid(attributes);

  const bool is_unstated = !ellipsoid && identity.empty();
  const auto* known = find_by_name(kGeographicCrss, is_unstated ? "WGS 84" : identity);
  if (known != nullptr) {
    Crs crs;
    check_crs(crs.SetWellKnownGeogCS(known->code));
    const char* name = crs.GetAttrValue("SPHEROID");
    const Ellipsoid own{name != nullptr ? name : "unknown", crs.GetSemiMajor(),
                        crs.GetInvFlattening()};
    if (!ellipsoid) ellipsoid = own;
    if (ellipsoid->resembles(own) && meridian.longitude == 0) return crs;
  }
  if (!ellipsoid) throw Error("no ellipsoid is given, and the datum is unknown: " + identity);
  Crs crs;
  check_crs(crs.SetGeogCS(crs_name.empty() ? "unknown" : crs_name.c_str(),
                          datum_name.empty() ? "unknown" : datum_name.c_str(),
                          ellipsoid->name.c_str(), ellipsoid->semi_major_axis,
                          ellipsoid->inverse_flattening, meridian.name.c_str(),
                          meridian.longitude));
  return crs;
}

void write_name(Json& attributes, const char* key, const Json* named) {
  const Json* name = named != nullptr ? find_member(*named, "name") : nullptr;
  if (name == nullptr || !name->is_string()) return;
  attributes[key] = *name;
  if (Attributes(attributes).name(key).empty()) attributes.erase(key);
}

void write_datum(Json& attributes, const Crs& crs, const Json& projjson) {
  const Json& geodetic = geodetic_crs(projjson);
  const Json* datum = find_member(geodetic, "datum");
  if (datum == nullptr) datum = find_member(geodetic, "datum_ensemble");
  write_name(attributes, "geographic_crs_name", &geodetic);
  write_name(attributes, "horizontal_datum_name", datum);
  if (datum != nullptr) {
    write_name(attributes, "reference_ellipsoid_name", find_member(*datum, "ellipsoid"));
  }
  attributes["semi_major_axis"] = crs.GetSemiMajor();
  attributes["semi_minor_axis"] = crs.GetSemiMinor();
  attributes["inverse_flattening"] = crs.GetInvFlattening();
  const char* meridian = nullptr;
  attributes["longitude_of_prime_meridian"] = crs.GetPrimeMeridian(&meridian);
  if (meridian != nullptr) attributes["prime_meridian_name"] = meridian;
}

}  // namespace gdal_zarr::cf
