#include "driver/conventions/position.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/evidence.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
using Values = std::vector<double>;

// Longitudes from which full turns were removed, one after the other.
void unwrap(Values& longitudes) {
  double turns = 0;
  for (std::size_t i = 1; i < longitudes.size(); ++i) {
    const double step = longitudes[i] + turns - longitudes[i - 1];
    if (step > 180) turns -= 360;
    if (step < -180) turns += 360;
    longitudes[i] += turns;
  }
}

// Edges of cells, two for each of these longitudes, without the full turns between the two.
void unwrap_around(Values& edges, const Values& longitudes) {
  if (edges.size() != 2 * longitudes.size()) return;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] += std::round((longitudes[i / 2] - edges[i]) / 360) * 360;
  }
}

bool is_count(const Values& values) {
  const auto axis = find_regular_axis(values);
  return axis && axis->step == 1 && axis->first_centre == std::floor(axis->first_centre);
}

// Returns true if each value is greater than the last one, or each is less: not so where values are
// missing.
bool is_monotonic(const Values& values) {
  const auto is_sorted = [&](auto compare) {
    return std::adjacent_find(values.begin(), values.end(), std::not_fn(compare)) == values.end();
  };
  return is_sorted(std::less<>()) || is_sorted(std::greater<>());
}

// Returns true if attributes describe the coordinates.
bool is_described(const EvidenceAxis& axis) {
  return (axis.attributes && !cf::text_in(*axis.attributes, "standard_name").empty()) ||
         cf::read_unit(axis.unit).kind != cf::UnitKind::none;
}

class Finder {
 public:
  Finder(const Evidence& evidence, const RasterAxes& axes, const OGRSpatialReference* crs)
      : evidence_(evidence), axes_(axes), crs_(crs) {}

  FoundTransform transform() {
    if (!are_on_the_map(evidence_, axes_)) return {};
    if (FoundTransform found = stated_transform(evidence_, axes_); found.transform) return found;
    const auto of_mapping = find_crs_variable(evidence_, axes_);
    auto stated = of_mapping ? parse_geotransform(*of_mapping->attributes) : std::nullopt;
    const std::string source = of_mapping ? "GeoTransform of " + of_mapping->path : std::string();
    if (stated) {
      const double scale = factor({}, {(*stated)[0], (*stated)[1], (*stated)[3], (*stated)[5]});
      for (double& number : *stated) number *= scale;
      if ((*stated)[2] != 0 || (*stated)[4] != 0) return {stated, source};
    }
    read_coordinates();
    // Programs that cut out a part of an array cut its coordinates, but often leave this text.
    // Where both agree, the text is more precise.
    const std::vector<Values>& coordinates = *coordinates_;
    FoundTransform found;
    if (!only_count() && !are_nominal()) {
      const std::vector<Values> edges = bounds();
      found = regular(coordinates[0], coordinates[1],
                      "coordinates of " + x().name + " and " + y().name, edges[0], edges[1]);
    }
    if (!found.transform && !stated) {
      if (const auto pair = find_1d()) {
        Values longitudes = evidence_.values(pair->first->variable);
        unwrap(longitudes);
        found = regular(
            longitudes, evidence_.values(pair->second->variable),
            "coordinates " + pair->first->variable.path + " and " + pair->second->variable.path);
      }
    }
    if (stated && (!found.transform || agree(*stated, *found.transform, static_cast<int>(x().size),
                                             static_cast<int>(y().size)))) {
      return {stated, source};
    }
    if (stated) {
      report(CE_Warning, CPLE_AppDefined,
             "Zarr: array %s: the %s (%s) and the %s (%s) differ; the latter are used",
             evidence_.array.c_str(), source.c_str(), format_geotransform(*stated).c_str(),
             found.source.c_str(), format_geotransform(*found.transform).c_str());
    }
    if (!found.transform && axes_ == find_raster_axes(evidence_)) {
      found = box_transform(evidence_, axes_);
    }
    return found.transform || denies_transform(evidence_) ? found : from_finest();
  }

  std::optional<Geolocation> geolocation(const std::vector<std::optional<std::uint64_t>>& fixed) {
    const auto pair = find_2d();
    if (!pair) return std::nullopt;
    Geolocation found{pair->first->variable, pair->second->variable};
    const auto& axes = pair->first->axes;
    bool is_fixed = true;
    for (std::size_t i = 0; i + 2 < axes.size(); ++i) {
      const auto index =
          axes[i] && *axes[i] < fixed.size() ? fixed[*axes[i]] : std::optional<std::uint64_t>();
      is_fixed = is_fixed && index;
      found.slice.push_back(index.value_or(0));
    }
    if (is_fixed || (evidence_.is_constant && evidence_.is_constant(found.x) &&
                     evidence_.is_constant(found.y))) {
      return found;
    }
    report(CE_Warning, CPLE_AppDefined,
           "Zarr: array %s: %s and %s differ from one band to the next, so the raster has no "
           "geolocation; a single slice has",
           evidence_.array.c_str(), found.x.path.c_str(), found.y.path.c_str());
    return std::nullopt;
  }

  // Geolocation arrays for columns and rows that are not evenly spaced.
  std::optional<Geolocation> uneven_axes() {
    if (const auto pair = find_1d()) {
      Values longitudes = evidence_.values(pair->first->variable);
      unwrap(longitudes);
      if (!is_monotonic(longitudes) || !is_monotonic(evidence_.values(pair->second->variable))) {
        return std::nullopt;
      }
      return Geolocation{pair->first->variable, pair->second->variable};
    }
    read_coordinates();
    for (std::size_t i = 0; i < 2; ++i) {
      const EvidenceAxis& axis = i == 0 ? x() : y();
      const Values& values = (*coordinates_)[i];
      const bool is_role =
          axis.type == (i == 0 ? GDAL_DIM_TYPE_HORIZONTAL_X : GDAL_DIM_TYPE_HORIZONTAL_Y);
      const bool is_known = crs_ != nullptr || STARTS_WITH_CI(axis.unit.c_str(), "degree");
      if (!is_role || !is_known || !is_monotonic(values) || axis.path.empty() ||
          values.size() < 2 || factor(axis, values) != 1) {
        return std::nullopt;
      }
    }
    return Geolocation{{x().path, x().attributes}, {y().path, y().attributes}, {}, crs_ == nullptr};
  }

 private:
  const EvidenceAxis& x() const { return evidence_.axes[axes_.x]; }
  const EvidenceAxis& y() const { return evidence_.axes[axes_.y]; }

  // Variables that `coordinates` names, with the axes that they have.
  struct Auxiliary {
    EvidenceVariable variable;
    std::vector<std::optional<std::size_t>> axes;
  };

  const std::vector<Auxiliary>& auxiliaries() {
    if (auxiliaries_) return *auxiliaries_;
    auxiliaries_.emplace();
    if (!evidence_.find || !evidence_.axes_of) return *auxiliaries_;
    for (const std::string& name : coordinate_names(evidence_)) {
      auto variable = evidence_.find(name);
      if (!variable || variable->path.empty()) continue;
      auto axes = evidence_.axes_of(*variable);
      if (!axes.empty()) auxiliaries_->push_back({std::move(*variable), std::move(axes)});
    }
    return *auxiliaries_;
  }

  // The variables of longitude and latitude over these axes, after others.
  using Pair = std::optional<std::pair<const Auxiliary*, const Auxiliary*>>;

  Pair find_pair(const std::vector<std::size_t>& x_axes, const std::vector<std::size_t>& y_axes) {
    const auto find = [&](const char* word, const std::vector<std::size_t>& wanted) {
      const Auxiliary* best = nullptr;
      int best_certainty = 0;
      for (const Auxiliary& one : auxiliaries()) {
        if (one.axes.size() < wanted.size() || (wanted.size() == 1 && one.axes.size() != 1) ||
            !std::equal(wanted.rbegin(), wanted.rend(), one.axes.rbegin())) {
          continue;
        }
        const int sure = certainty_of(one.variable, word);
        if (sure > best_certainty) best = &one;
        best_certainty = std::max(sure, best_certainty);
      }
      return best;
    };
    const Auxiliary* longitude = find("longitude", x_axes);
    const Auxiliary* latitude = longitude != nullptr ? find("latitude", y_axes) : nullptr;
    const bool is_pair = latitude != nullptr && longitude->axes.size() == latitude->axes.size();
    return is_pair ? Pair(std::pair(longitude, latitude)) : std::nullopt;
  }

  Pair find_2d() { return find_pair({axes_.y, axes_.x}, {axes_.y, axes_.x}); }
  Pair find_1d() { return find_pair({axes_.x}, {axes_.y}); }

  void read_coordinates() {
    if (coordinates_) return;
    coordinates_ = std::vector<Values>(2);
    if (!x().attributes || !y().attributes || !evidence_.coordinates) return;
    coordinates_ = evidence_.coordinates({axes_.x, axes_.y});
    if (x_is_longitude()) unwrap((*coordinates_)[0]);
  }

  // The edges of the cells of X and Y; empty where they are unknown.
  std::vector<Values> bounds() const {
    if (!evidence_.bounds) return std::vector<Values>(2);
    std::vector<Values> bounds = evidence_.bounds({axes_.x, axes_.y});
    if (x_is_longitude()) unwrap_around(bounds[0], (*coordinates_)[0]);
    return bounds;
  }

  // Returns true if the coordinates of X are longitudes, which may jump by full turns.
  bool x_is_longitude() const {
    return x().type == GDAL_DIM_TYPE_HORIZONTAL_X &&
           (cf::read_unit(x().unit).kind == cf::UnitKind::angle ||
            (crs_ != nullptr && crs_->IsGeographic()));
  }

  // Returns true if the coordinates of X and Y are numbers of rows and columns, and longitudes and
  // latitudes are elsewhere.
  bool only_count() {
    if (is_described(x()) || is_described(y())) return false;
    if (crs_ != nullptr && (!crs_->IsGeographic() || crs_->IsDerivedGeographic())) return false;
    return is_count((*coordinates_)[0]) && is_count((*coordinates_)[1]) && find_2d();
  }

  // Returns true if two-dimensional longitudes and latitudes contradict the coordinates of X and Y.
  // These are then nominal, as in ocean models: they are correct only where the grid follows the
  // meridians.
  bool are_nominal() {
    const auto is_angle = [](const EvidenceAxis& axis) {
      return axis.size > 1 && STARTS_WITH_CI(axis.unit.c_str(), "degree");
    };
    const std::vector<Values>& own = *coordinates_;
    if (crs_ != nullptr || !is_angle(x()) || !is_angle(y()) || own[0].empty() || own[1].empty() ||
        !evidence_.corners) {
      return false;
    }
    const auto pair = find_2d();
    if (!pair) return false;
    const Values longitudes = evidence_.corners(pair->first->variable);
    const Values latitudes = evidence_.corners(pair->second->variable);
    const auto cell = [](const Values& values) { return std::abs(values[1] - values[0]); };
    for (std::size_t i = 0; i < std::min(longitudes.size(), latitudes.size()); ++i) {
      const double x = i % 2 == 0 ? own[0].front() : own[0].back();
      const double y = i / 2 == 0 ? own[1].front() : own[1].back();
      const bool is_missing = !(std::abs(latitudes[i]) <= 90) || !(std::abs(longitudes[i]) <= 540);
      if (!is_missing && (std::abs(std::remainder(longitudes[i] - x, 360)) > cell(own[0]) / 2 ||
                          std::abs(latitudes[i] - y) > cell(own[1]) / 2)) {
        return true;
      }
    }
    return false;
  }

  // The factor from coordinates to the unit of the CRS.
  // Angles of a satellite's view, also without a unit, are multiplied by its height.
  double factor(const EvidenceAxis& axis, const Values& values) const {
    const auto height = crs_ != nullptr ? satellite_height(*crs_) : std::nullopt;
    if (!height) return 1;
    if (const double metres = metres_of_view(axis, *height); metres != 0) {
      return metres / crs_->GetLinearUnits();
    }
    const bool are_small = !values.empty() && std::all_of(values.begin(), values.end(),
                                                          [](double v) { return std::abs(v) < 1; });
    return cf::read_unit(axis.unit).kind == cf::UnitKind::none && are_small
               ? *height / crs_->GetLinearUnits()
               : 1;
  }

  // `x_bounds` and `y_bounds` are the edges of the cells, or empty.
  FoundTransform regular(const Values& x_values, const Values& y_values, const std::string& source,
                         const Values& x_bounds = {}, const Values& y_bounds = {}) const {
    auto x = find_cells(x_values, x_bounds, 1);
    auto y = find_cells(y_values, y_bounds, -1);
    if (!x || !y) return {};
    for (auto [axis, scale] : {std::pair(&*x, factor(this->x(), x_values)),
                               std::pair(&*y, factor(this->y(), y_values))}) {
      axis->first_centre *= scale;
      axis->step *= scale;
    }
    return {make_geotransform(*x, *y), source};
  }

  FoundTransform from_finest() const {
    const auto finest = evidence_.finest ? evidence_.finest() : nullptr;
    if (!finest || finest->axes.size() != evidence_.axes.size()) return {};
    FoundTransform found = find_transform(*finest, axes_, crs_);
    if (!found.transform) return {};
    const auto size = [](const EvidenceAxis& axis) { return static_cast<double>(axis.size); };
    found.transform = coarser_geotransform(*found.transform, size(finest->axes[axes_.x]),
                                           size(finest->axes[axes_.y]), size(x()), size(y()));
    found.source += ", of array " + finest->array;
    return found;
  }

  const Evidence& evidence_;
  const RasterAxes& axes_;
  const OGRSpatialReference* crs_;
  std::optional<std::vector<Auxiliary>> auxiliaries_;
  std::optional<std::vector<Values>> coordinates_;  // of X and Y
};

GeoTransform transposed(const GeoTransform& t) {
  return {t[0], t[2], t[1], t[3], t[5], t[4]};
}

}  // namespace

FoundTransform find_transform(const Evidence& evidence, const RasterAxes& axes,
                              const OGRSpatialReference* crs) {
  return Finder(evidence, axes, crs).transform();
}

Position find_position(const Evidence& evidence, const RasterAxes& axes,
                       const std::vector<std::optional<std::uint64_t>>& fixed) {
  const RasterAxes swapped{axes.y, axes.x};
  Position position;
  if (known_raster_axes(evidence) == swapped) {
    position.crs = find_crs(evidence, swapped);
    position.transform = find_transform(evidence, swapped, position.crs.crs.get());
    if (position.transform.transform) {
      position.transform.transform = transposed(*position.transform.transform);
    }
    return position;
  }
  position.crs = find_crs(evidence, axes);
  const OGRSpatialReference* crs = position.crs.crs.get();
  Finder finder(evidence, axes, crs);
  position.transform = finder.transform();
  if (const auto mapping = find_crs_variable(evidence, axes)) {
    position.gcps = parse_gcps(*mapping->attributes, mapping->path);
  }
  if (!has_discrete_features(evidence)) position.geolocation = finder.geolocation(fixed);
  if (!position.geolocation && !position.transform.transform && are_on_the_map(evidence, axes)) {
    position.geolocation = finder.uneven_axes();
  }
  return position;
}

GeoTransform coarser_geotransform(const GeoTransform& fine, double fine_columns, double fine_rows,
                                  double columns, double rows) {
  const double x = fine_columns / columns;
  const double y = fine_rows / rows;
  return {fine[0], fine[1] * x, fine[2] * y, fine[3], fine[4] * x, fine[5] * y};
}

}  // namespace gdal_zarr
