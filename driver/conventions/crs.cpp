// The CRS of an array: the rules by which one of several statements is chosen.
#include <cpl_error.h>
#include <cpl_port.h>

#include <cmath>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/position.h"
#include "driver/conventions/product.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/crs_text.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;
using CrsPtr = std::shared_ptr<OGRSpatialReference>;

bool is_same(const OGRSpatialReference& a, const OGRSpatialReference& b) {
  const char* const options[] = {"CRITERION=EQUIVALENT", "IGNORE_COORDINATE_EPOCH=YES",
                                 "IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", nullptr};
  return a.IsSame(&b, options) != 0;
}

// Returns true if CRS and coordinates are both lengths, or both angles.
bool fits_unit(const OGRSpatialReference& crs, const std::string& unit) {
  switch (cf::read_unit(unit).kind) {
    case cf::UnitKind::length:
      return !crs.IsGeographic();
    case cf::UnitKind::angle: {
      if (!crs.IsProjected()) return true;
      const bool is_longitude = STARTS_WITH_CI(unit.c_str(), "degree") &&
                                !EQUAL(unit.c_str(), "degree") && !EQUAL(unit.c_str(), "degrees");
      return (!is_longitude && satellite_height(crs)) ||
             proj4_text(crs).find("+proj=ob_tran") != std::string::npos;
    }
    default:
      return true;
  }
}

// Gives a projected CRS the unit of the coordinates: every position stays where it is.
void adopt_unit(OGRSpatialReference& crs, const std::string& text) {
  const cf::Unit unit = cf::read_unit(text);
  // Units of feet often differ from the CRS's unit in name only.
  if (unit.kind != cf::UnitKind::length || !crs.IsProjected() ||
      std::abs(crs.GetLinearUnits() / unit.size - 1) < 1e-5) {
    return;
  }
  crs.SetLinearUnitsAndUpdateParameters(unit.name.c_str(), unit.size);
}

class CrsSearch {
 public:
  CrsSearch(const Evidence& evidence, const std::optional<RasterAxes>& axes)
      : evidence_(evidence), axes_(axes), is_denied_(proj_denies_crs(*evidence.attributes)) {
    if (!axes) return;
    unit_ = evidence.axes[axes->x].unit;
    // A wrong one is reported where the transform is looked for.
    const QuietErrors quiet;
    has_own_unit_ = stated_transform(evidence, *axes).transform.has_value();
  }

  // The CRS of the first rule that has one. Warns of others in the array's own attributes.
  FoundCrs run() {
    static constexpr Rule kRules[] = {
        {&CrsSearch::from_proj, Rule::Scope::array},
        {&CrsSearch::from_gdal_attribute, Rule::Scope::array},
        {&CrsSearch::from_grid_mapping, Rule::Scope::array},
        {&CrsSearch::from_coordinates, Rule::Scope::lonely},
        {&CrsSearch::from_crs_attribute, Rule::Scope::denied},
        {&CrsSearch::from_neighbours, Rule::Scope::lonely},
        {&CrsSearch::from_product, Rule::Scope::lonely},
    };
    FoundCrs found;
    for (const Rule& rule : kRules) {
      if (is_denied_ && rule.scope != Rule::Scope::array) continue;
      if (found.crs && rule.scope == Rule::Scope::lonely) continue;
      FoundCrs next = accepted((this->*rule.find)());
      if (!next.crs) continue;
      if (!found.crs) {
        found = std::move(next);
        is_comparing_ = true;
      } else if (!is_same(*found.crs, *next.crs)) {
        return decide(found, next);
      }
    }
    return found;
  }

 private:
  struct Rule {
    FoundCrs (CrsSearch::*find)() const;
    enum class Scope : std::uint8_t {
      array,   // of the array itself
      denied,  // not for an array that states that it has no CRS
      lonely,  // nor for one that has another CRS
    } scope;
  };

  FoundCrs from_proj() const {
    for (const EvidenceScope& scope : evidence_.scopes) {
      const bool is_array = scope.attributes == evidence_.attributes;
      if (is_denied_ && !is_array) break;
      if (CrsPtr crs = crs_from_proj(*scope.attributes)) return {crs, "proj: of " + scope.name};
    }
    return {};
  }

  // `_CRS`: {"url": …, "wkt": …, "projjson": {…}, "epoch": 2021.3}, or one of the first three as
  // text.
  FoundCrs from_gdal_attribute() const {
    const std::string source = "the attribute _CRS";
    const Json* value = find_member(*evidence_.attributes, "_CRS");
    if (value == nullptr) return {};
    if (value->is_string()) {
      if (CrsPtr crs = import_crs(*value)) return {crs, source};
    }
    for (const char* key : {"url", "wkt", "projjson"}) {
      const Json* member = find_member(*value, key);
      if (member == nullptr) continue;
      if (CrsPtr crs = import_crs(*member)) {
        const Json* epoch = find_member(*value, "epoch");
        if (epoch != nullptr && epoch->is_number()) crs->SetCoordinateEpoch(*epoch);
        return {crs, source};
      }
    }
    warn("the attribute _CRS is not understood");
    return {};
  }

  FoundCrs from_grid_mapping() const {
    for (const EvidenceScope& scope : evidence_.scopes) {
      if (is_denied_ && scope.attributes != evidence_.attributes) break;
      if (grid_mappings(*scope.attributes).empty()) continue;
      const std::string name = grid_mapping_variable(scope, evidence_, axes_);
      const auto variable = evidence_.find ? evidence_.find(name) : std::nullopt;
      std::string problem = "there is no such variable";
      if (variable) {
        if (is_grid_on_the_sphere(*variable->attributes)) return {};
        // Its parameters alone may leave out what another statement has.
        if (is_comparing_ && find_member(*variable->attributes, "crs_wkt") == nullptr) return {};
        if (CrsPtr crs = crs_of_variable(*variable->attributes, &problem)) {
          return {crs, "the grid mapping \"" + name + "\""};
        }
      }
      warn(std::string("the grid mapping \"")
               .append(name)
               .append("\" is not understood: ")
               .append(problem));
      return {};
    }
    return {};
  }

  FoundCrs from_coordinates() const {
    std::vector<EvidenceVariable> variables;
    for (const std::string& name : coordinate_names(evidence_)) {
      auto variable = evidence_.find ? evidence_.find(name) : std::nullopt;
      if (variable) variables.push_back(std::move(*variable));
    }
    return from_variables(variables);
  }

  // The attribute that open_rasterio, stackstac, odc-geo and ndpyramid write.
  FoundCrs from_crs_attribute() const {
    for (const EvidenceScope& scope : evidence_.scopes) {
      const Json* value = find_member(*scope.attributes, "crs");
      if (value == nullptr || crs_repeats_gdals(*scope.attributes)) continue;
      if (is_comparing_ && scope.attributes != evidence_.attributes) break;
      if (CrsPtr crs = import_crs(*value)) return {crs, "the attribute crs of " + scope.name};
    }
    return {};
  }

  FoundCrs from_neighbours() const { return from_variables(lost_grid_mappings(evidence_)); }

  // The CRS of a product holds for its projected grids.
  FoundCrs from_product() const {
    if (!evidence_.product || !axes_) return {};
    const bool is_eopf = is_eopf_array(*evidence_.attributes);
    if (!is_eopf && !known_raster_axes(evidence_)) return {};
    if (cf::read_unit(unit_).kind == cf::UnitKind::angle) return {};
    const auto root = evidence_.product();
    if (!root) return {};
    const CrsPtr crs =
        is_eopf ? crs_from_eopf(*root, evidence_.store_name) : crs_from_product(*root);
    return {crs, "the product's metadata"};
  }

  // Empty if the CRS cannot be the CRS of the coordinates.
  FoundCrs accepted(FoundCrs found) const {
    if (!found.crs) return found;
    if (!has_own_unit_ && !fits_unit(*found.crs, unit_)) {
      warn("array " + evidence_.array + ": " + found.source + " (" + found.crs->GetName() +
           ") cannot be the CRS of coordinates of " + evidence_.axes[axes_->x].name + " in \"" +
           unit_ + "\", and is not used");
      return {};
    }
    if (!has_own_unit_) adopt_unit(*found.crs, unit_);
    return found;
  }

  // The CRS of several equally preferred variables; warns if they differ.
  FoundCrs from_variables(const std::vector<EvidenceVariable>& variables) const {
    FoundCrs found;
    for (const EvidenceVariable& variable : variables) {
      if (!states_crs(*variable.attributes) || is_grid_on_the_sphere(*variable.attributes))
        continue;
      const std::string source = "the variable \"" + variable.path + '"';
      std::string problem;
      const CrsPtr crs = crs_of_variable(*variable.attributes, &problem);
      if (!crs) {
        warn(std::string(source).append(" is not understood as a CRS: ").append(problem));
      } else if (found.crs && !is_same(*found.crs, *crs)) {
        warn("array " + evidence_.array + ": " + found.source + " (" + found.crs->GetName() +
             ") and " + source + " (" + crs->GetName() + ") differ; none of them is used");
        return {};
      } else {
        found = {crs, source};
      }
    }
    return found;
  }

  // The CRS of a variable: WKT, or if that does not fit the coordinates, CF's parameters.
  CrsPtr crs_of_variable(const Json& attributes, std::string* problem) const {
    const bool is_length = cf::read_unit(unit_).kind == cf::UnitKind::length;
    const bool is_metres = has_own_unit_ || cf::read_unit(unit_).kind == cf::UnitKind::none;
    const std::string unit = is_metres ? std::string() : unit_;
    CrsPtr crs = crs_from_grid_mapping(attributes, unit, problem);
    if (!crs || fits_unit(*crs, unit_) || has_own_unit_ || is_length) return crs;
    Json parameters = attributes;
    for (const char* name : cf::kWktAttributes) parameters.erase(name);
    std::string ignored;
    const CrsPtr other = crs_from_grid_mapping(parameters, unit, &ignored);
    return other && fits_unit(*other, unit_) ? other : crs;
  }

  // Decides between two attributes of the array. rioxarray, for example, writes a grid mapping when
  // it changes the CRS, and leaves `_CRS` unchanged.
  FoundCrs decide(const FoundCrs& first, const FoundCrs& other) const {
    const bool is_second = !contains_raster(*first.crs) && contains_raster(*other.crs);
    const FoundCrs& used = is_second ? other : first;
    report(CE_Warning, CPLE_AppDefined, "Zarr: array %s: %s (%s) and %s (%s) differ; %s is used",
           evidence_.array.c_str(), first.source.c_str(), first.crs->GetName(),
           other.source.c_str(), other.crs->GetName(), used.source.c_str());
    return used;
  }

  // Returns true if the corners are in the area of use of a CRS, by a margin; also if that is
  // unknown.
  bool contains_raster(const OGRSpatialReference& crs) const {
    constexpr double kMargin = 3;  // degrees
    double west = 0;
    double south = 0;
    double east = 0;
    double north = 0;
    if (!axes_ || !crs.GetAreaOfUse(&west, &south, &east, &north, nullptr)) return true;
    const QuietErrors quiet;
    const auto transform = find_transform(evidence_, *axes_, &crs).transform;
    if (!transform) return true;
    OGRSpatialReference from(crs);
    OGRSpatialReference to;
    to.SetWellKnownGeogCS("WGS84");
    for (OGRSpatialReference* one : {&from, &to}) {
      one->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    }
    const std::unique_ptr<OGRCoordinateTransformation> transformation(
        OGRCreateCoordinateTransformation(&from, &to));
    if (!transformation) return true;
    const auto columns = static_cast<double>(evidence_.axes[axes_->x].size);
    const auto rows = static_cast<double>(evidence_.axes[axes_->y].size);
    const GeoTransform& t = *transform;
    for (const auto& [column, row] : {std::pair(0.0, 0.0), std::pair(columns, 0.0),
                                      std::pair(0.0, rows), std::pair(columns, rows)}) {
      double x = t[0] + t[1] * column + t[2] * row;
      double y = t[3] + t[4] * column + t[5] * row;
      if (!transformation->Transform(1, &x, &y) || !std::isfinite(x) || !std::isfinite(y)) continue;
      const double beyond = std::fmod(std::fmod(x - west + kMargin, 360) + 360, 360);
      const double width = east < west ? east - west + 360 : east - west;
      if (beyond > width + 2 * kMargin || y < south - kMargin || y > north + kMargin) return false;
    }
    return true;
  }

  void warn(const std::string& text) const {
    if (is_comparing_) return;
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s", text.c_str());
  }

  const Evidence& evidence_;
  const std::optional<RasterAxes>& axes_;
  bool is_denied_;
  std::string unit_;
  bool has_own_unit_ = false;
  bool is_comparing_ = false;  // a CRS is found already
};

}  // namespace

FoundCrs find_crs(const Evidence& evidence, const std::optional<RasterAxes>& axes) {
  if (axes && !are_on_the_map(evidence, *axes)) return {};
  FoundCrs found = CrsSearch(evidence, axes).run();
  if (found.crs) adopt_epoch(*found.crs, *evidence.attributes);
  if (found.crs || proj_denies_crs(*evidence.attributes)) return found;
  if (const auto finest = evidence.finest ? evidence.finest() : nullptr) {
    if (finest->axes.size() == evidence.axes.size()) found = find_crs(*finest, axes);
  }
  const auto is_angle = [&](std::size_t axis) {
    return STARTS_WITH_CI(evidence.axes[axis].unit.c_str(), "degree");
  };
  if (!found.crs && evidence.assumes_longlat && axes && known_raster_axes(evidence) &&
      is_angle(axes->x) && is_angle(axes->y)) {
    found = {make_wgs84(), "the open option ASSUME_LONGLAT"};
  }
  return found;
}

std::shared_ptr<OGRSpatialReference> make_wgs84() {
  auto crs = std::make_shared<OGRSpatialReference>();
  crs->SetWellKnownGeogCS("WGS84");
  crs->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  return crs;
}

void set_axis_mapping(OGRSpatialReference& crs, int x, int y) {
  OGRAxisOrientation first = OAO_Other;
  OGRAxisOrientation second = OAO_Other;
  const char* first_name = crs.GetAxis(nullptr, 0, &first);
  crs.GetAxis(nullptr, 1, &second);
  // Follows GDAL's traditional order: southing and westing, in this order, are X and Y.
  bool y_is_first = first == OAO_North || (first == OAO_South && second != OAO_West);
  if (first == second) {
    // Around the poles both axes point the same way: there the name decides.
    y_is_first = first_name != nullptr && STARTS_WITH_CI(first_name, "North");
  }
  std::vector<int> mapping = y_is_first ? std::vector{y, x} : std::vector{x, y};
  // Further axes (height) follow; a number past the data axes means that there is no such data
  // axis.
  for (int axis = 3; axis <= crs.GetAxesCount(); ++axis) mapping.push_back(axis);
  crs.SetDataAxisToSRSAxisMapping(mapping);
}

}  // namespace gdal_zarr
