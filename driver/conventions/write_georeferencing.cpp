#include "driver/conventions/write_georeferencing.h"

#include <algorithm>
#include <cmath>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/crs_variable.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/crs_text.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

constexpr const char* kGridMapping = "grid_mapping";
constexpr const char* kCoordinates = "coordinates";

bool has_member(const Json& attributes, std::string_view prefix) {
  const auto items = attributes.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.key().starts_with(prefix); });
}

// `attributes` without georeferencing. The names of the dimensions X and Y and the registration
// stay.
Json without_georeferencing(const Json& attributes) {
  Json others = Json::object();
  for (const auto& [name, value] : attributes.items()) {
    // GDAL's built-in driver writes and reads `gdal:geotransform`.
    const bool is_georeferencing = name == "_CRS" || name == "_TRANSFORM" || name == kGridMapping ||
                                   name == "gdal:geotransform" || name == kCoordinateEpoch ||
                                   name.starts_with("proj:") || name == "geo:proj" ||
                                   (name == "geo" && find_member(value, "proj") != nullptr) ||
                                   (name == "crs" && import_crs(value) != nullptr) ||
                                   (name.starts_with("spatial:") && name != "spatial:dimensions" &&
                                    name != "spatial:registration");
    if (!is_georeferencing) others[name] = value;
  }
  // Of a transform, it is written again with the next one.
  if (find_member(attributes, "spatial:transform") != nullptr &&
      spatial_registration(attributes) == Registration::pixel) {
    others.erase("spatial:registration");
  }
  return others;
}

class Writer {
 public:
  Writer(GeoreferencingConvention convention, const GeoreferencedArray& array,
         const WrittenGeoreferencing& written)
      : convention_(convention),
        array_(array),
        transform_(written.transform),
        crs_(written.crs != nullptr && !written.crs->IsEmpty() ? written.crs : nullptr),
        gcps_(written.gcps),
        attributes_(without_georeferencing(array.attributes)) {
    if (transform_ && !std::all_of(transform_->begin(), transform_->end(),
                                   [](double number) { return std::isfinite(number); })) {
      throw zarrcore::Error("the geotransform of array " + array.name + " is not finite");
    }
    if (convention_ == GeoreferencingConvention::cf && !array.find_node) {
      convention_ = GeoreferencingConvention::gdal;
    }
  }

  GeoreferencingChange write() {
    write_transform(write_coordinates(array_, transform_, crs_, change_));
    write_crs();
    declare_convention(attributes_, ZarrConvention::proj, has_member(attributes_, "proj:"));
    declare_convention(attributes_, ZarrConvention::spatial, has_member(attributes_, "spatial:"));
    change_.array = difference(array_.attributes, attributes_);
    change_.meanwhile = state_all();
    return std::move(change_);
  }

 private:
  bool covered_by(std::string_view prefix) const {
    return std::any_of(array_.groups.begin(), array_.groups.end(),
                       [&](const auto& group) { return group && has_member(*group, prefix); });
  }

  void write_transform(bool is_in_coordinates) {
    const bool is_covered =
        covered_by("spatial:transform") || covered_by("proj:transform") || covered_by("geo:proj");
    if (!transform_) {
      if (is_covered) attributes_["spatial:transform"] = nullptr;
      return;
    }
    if (is_in_coordinates && !is_covered && convention_ != GeoreferencingConvention::spatial_proj) {
      return;
    }
    write_spatial_to(attributes_, *transform_);
  }

  void write_spatial_to(Json& attributes, const GeoTransform& transform) const {
    std::optional<SpatialDimensions> dimensions;
    if (!array_.x.name.empty() && !array_.y.name.empty()) {
      dimensions = {array_.y.name, array_.x.name};
    }
    auto registration = spatial_registration(attributes);
    const std::string* stated = zarrcore::find_string(attributes, "AREA_OR_POINT");
    if (!registration && stated != nullptr) registration = registration_of(*stated);
    write_spatial(attributes, transform, array_.x.size, array_.y.size, dimensions,
                  registration.value_or(Registration::pixel));
  }

  Json state_all() const {
    Json attributes = without_georeferencing(array_.attributes);
    if (transform_) {
      write_spatial_to(attributes, *transform_);
    } else {
      attributes["spatial:transform"] = nullptr;
    }
    if (crs_ != nullptr) {
      write_proj(attributes, *crs_);
    } else {
      attributes["proj:code"] = nullptr;
    }
    declare_convention(attributes, ZarrConvention::proj, true);
    declare_convention(attributes, ZarrConvention::spatial, true);
    return attributes;
  }

  void write_crs() {
    if (crs_ != nullptr && crs_->GetCoordinateEpoch() > 0 &&
        convention_ != GeoreferencingConvention::gdal) {
      attributes_[kCoordinateEpoch] = crs_->GetCoordinateEpoch();
    }
    const std::string old_mapping =
        grid_mapping_variable(array_.attributes, array_.x.name, array_.y.name);
    std::string mapping;
    if (crs_ != nullptr) {
      if (convention_ == GeoreferencingConvention::gdal) write_gdal_crs(attributes_, *crs_);
      if (convention_ == GeoreferencingConvention::cf) mapping = write_grid_mapping(old_mapping);
      if (convention_ == GeoreferencingConvention::spatial_proj || covered_by("proj:")) {
        write_proj(attributes_, *crs_);
      }
    }
    name_as_coordinate(old_mapping, mapping);
    std::string removed;
    if (old_mapping != mapping && may_name_mapping(old_mapping)) {
      const auto node = array_.find_node(old_mapping);
      if (node && node->is_own) removed = old_mapping;
    }
    if (!removed.empty()) change_.removed_variables.push_back(removed);
    if (crs_ == nullptr && array_.inherits_crs && array_.inherits_crs(attributes_, removed)) {
      attributes_["proj:code"] = nullptr;
    }
  }

  // xarray makes a coordinate of the grid mapping, with which rioxarray finds it, only if the
  // attribute `coordinates` names it as well.
  void name_as_coordinate(const std::string& old_mapping, const std::string& mapping) {
    const std::string* text = zarrcore::find_string(attributes_, kCoordinates);
    const bool is_text = text != nullptr || !attributes_.contains(kCoordinates);
    if ((old_mapping.empty() && mapping.empty()) || !is_text) return;
    std::vector<std::string> words = cf::words_in(attributes_, kCoordinates);
    std::erase_if(words,
                  [&](const std::string& word) { return word == old_mapping && word != mapping; });
    if (!mapping.empty() && std::ranges::find(words, mapping) == words.end()) {
      words.push_back(mapping);
    }
    cf::set_words(attributes_, kCoordinates, words);
  }

  // Returns the name of the variable.
  std::string write_grid_mapping(const std::string& old_name) {
    Json wanted = grid_mapping_attributes(*crs_);
    if (transform_) wanted["GeoTransform"] = format_geotransform(*transform_);
    if (!gcps_.empty()) wanted["gcps"] = format_gcps(gcps_);
    const auto is_usable = [&](const std::string& name) {
      if (!may_name_mapping(name)) return false;
      const auto node = array_.find_node(name);
      return !node || (node->is_own && name == old_name) || node->attributes == wanted;
    };
    // The variables of other arrays are not changed, but one with the same attributes is shared.
    std::string name = old_name.empty() ? "spatial_ref" : old_name;
    for (int number = 1; !is_usable(name); ++number) {
      name = "spatial_ref_" + (number == 1 ? array_.name : std::to_string(number));
    }
    attributes_[kGridMapping] = name;
    const auto node = array_.find_node(name);
    if (!node || node->attributes != wanted) {
      change_.variables.push_back({name, {}, {}, std::move(wanted)});
    }
    return name;
  }

  bool may_name_mapping(const std::string& name) const {
    return array_.find_node && zarrcore::is_valid_segment(name) && name != array_.name &&
           name != array_.x.name && name != array_.y.name &&
           grid_mapping_variable({{kGridMapping, name}}) == name;
  }

  GeoreferencingConvention convention_;
  const GeoreferencedArray& array_;
  const std::optional<GeoTransform>& transform_;
  const OGRSpatialReference* crs_;  // null when there is none
  std::span<const GroundControlPoint> gcps_;
  Json attributes_;  // the new attributes of the array
  GeoreferencingChange change_;
};

}  // namespace

GeoreferencingConvention georeferencing_convention(const Json& array_attributes) {
  if (find_member(array_attributes, "_CRS") != nullptr) return GeoreferencingConvention::gdal;
  if (find_member(array_attributes, kGridMapping) != nullptr) return GeoreferencingConvention::cf;
  // The other two may have `spatial:` as well, and copies have the registration alone.
  const bool is_spatial = has_member(array_attributes, "spatial:transform") ||
                          has_member(array_attributes, "spatial:bbox") ||
                          has_member(array_attributes, "spatial:dimensions") ||
                          has_member(array_attributes, "spatial:shape");
  return has_member(array_attributes, "proj:") || is_spatial
             ? GeoreferencingConvention::spatial_proj
             : GeoreferencingConvention::gdal;
}

GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const WrittenGeoreferencing& written) {
  return Writer(convention, array, written).write();
}

}  // namespace gdal_zarr
