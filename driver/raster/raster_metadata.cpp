// The metadata of the classic dataset: attributes of the store, the list of files.
#include <cpl_string.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/crs_variable.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/json_values.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/multidim/structural_info.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/icechunk/icechunk_metadata.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "driver/stores/references/open_references.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

constexpr const char* kAreaOrPoint = "AREA_OR_POINT";
constexpr const char* kRegistration = "spatial:registration";
constexpr const char* kGridMapping = "grid_mapping";
constexpr const char* kCoordinates = "coordinates";

// Whether AREA_OR_POINT is stored as the registration of the `spatial:` convention.
bool has_registration(const Array& array) {
  const zarrcore::Json& attributes = array.metadata().attributes;
  return array.convention() == GeoreferencingConvention::spatial_proj ||
         attributes.contains(kRegistration) || attributes.contains("spatial:transform");
}

// Sets the registration for a value of AREA_OR_POINT, which may be null. Returns whether the
// transform, which is stored for the points of the registration, is another one now.
bool change_registration(Array& array, const char* area_or_point) {
  const auto wanted = area_or_point == nullptr ? std::nullopt : registration_of(area_or_point);
  if (area_or_point != nullptr && !wanted) return false;
  const auto current = spatial_registration(array.metadata().attributes);
  if (wanted == current) return false;
  array.change([&](zarrcore::ArrayMetadata& changed) {
    if (wanted) {
      changed.attributes[kRegistration] = registration_name(*wanted);
    } else {
      changed.attributes.erase(kRegistration);
    }
  });
  return wanted.value_or(Registration::pixel) != current.value_or(Registration::pixel);
}

// Attributes of arrays that describe their values or place them, besides those that are not shown.
// A metadata item of such a name must not do so.
constexpr const char* kWithMeaning[] = {
    "_FillValue", "missing_value", "valid_min",  "valid_max",          "valid_range",
    "units",      "scale_factor",  "crs",        "add_offset",         "_Unsigned",
    "_TRANSFORM", "geo:proj",      kGridMapping, kColorInterpretation, "_ARRAY_DIMENSIONS"};

bool has_meaning(const std::string& name) {
  return std::ranges::find(kWithMeaning, name) != std::end(kWithMeaning) ||
         shown_attributes({{name, ""}}).empty();
}

using Items = std::vector<std::pair<std::string, std::string>>;

// Parses "NAME=value", and "NAME:value" if there is no "=". Other names may contain colons, as in
// STAC.
Items parse_items(CSLConstList list) {
  Items items;
  for (int i = 0; i < CSLCount(list); ++i) {
    const std::string text = list[i];
    std::size_t end = text.find('=');
    if (end == std::string::npos) end = text.find(':');
    if (end == std::string::npos || end == 0) continue;
    items.emplace_back(text.substr(0, end), text.substr(end + 1));
  }
  return items;
}

// `attributes` without references to the variable of the CRS, which GDAL shows as the CRS.
zarrcore::Json without_grid_mapping(zarrcore::Json attributes) {
  const std::string mapping = grid_mapping_variable(attributes);
  if (mapping.empty()) return attributes;
  attributes.erase(kGridMapping);
  if (zarrcore::find_string(attributes, kCoordinates) == nullptr) return attributes;
  std::vector<std::string> words = cf::words_in(attributes, kCoordinates);
  std::erase(words, mapping);
  cf::set_words(attributes, kCoordinates, words);
  return attributes;
}

bool is_default_domain(const char* domain) {
  return domain == nullptr || domain[0] == '\0';
}

}  // namespace

zarrcore::Json RasterDataset::shared_attributes() const {
  zarrcore::Json shared = view_.array().shown_attributes();
  for (const auto& array : view_.arrays()) {
    if (array == view_.arrays().front() || shared.empty()) continue;
    zarrcore::erase_members(shared, [&](const std::string& name) {
      const zarrcore::Json* other = zarrcore::find_member(array->shown_attributes(), name);
      return other == nullptr || attribute_text(*other) != attribute_text(shared[name]);
    });
  }
  for (const char* of_bands : {kColorInterpretation, kBandsAttribute}) shared.erase(of_bands);
  shared = without_grid_mapping(std::move(shared));
  const std::string mask(zarrcore::last_segment(mask_path(view_.array())));
  return mask.empty() ? shared : without_mask(std::move(shared), mask);
}

zarrcore::Json RasterDataset::plain_metadata() const {
  zarrcore::Json items = zarrcore::Json::object();
  const auto* list = zarrcore::find_member(view_.array().metadata().attributes, kPlainMetadata);
  if (list == nullptr || !list->is_array()) return items;
  CPLStringList texts;
  for (const zarrcore::Json& text : *list) {
    if (text.is_string()) texts.AddString(text.get_ref<const std::string&>().c_str());
  }
  for (auto& [name, value] : parse_items(texts.List())) items[name] = std::move(value);
  return items;
}

zarrcore::Json RasterDataset::group_attributes() const {
  const Session& session = *view_.array().session();
  if (session.root_is_array()) return zarrcore::Json::object();
  zarrcore::Json attributes = shown_attributes(*session.attributes(""));
  const std::string group(zarrcore::parent_path(view_.array().node_path()));
  if (!group.empty()) attributes.update(shown_attributes(*session.attributes(group)));
  attributes.erase(kBandsAttribute);
  return attributes;
}

void RasterDataset::show_attribute(const char* name) {
  const zarrcore::Json items = stored_items();
  const zarrcore::Json* value = zarrcore::find_member(items, name);
  GDALDataset::SetMetadataItem(name, value != nullptr ? attribute_text(*value).c_str() : nullptr);
}

// The attributes of the arrays override those of the groups.
zarrcore::Json RasterDataset::stored_items() const {
  zarrcore::Json items = group_attributes();
  items.update(shared_attributes());
  items.update(plain_metadata());
  return items;
}

void RasterDataset::set_metadata(const zarrcore::Json* placing) {
  set_icechunk_metadata(*this, *view_.array().session()->hierarchy().store());
  read_items_ = stored_items();
  CPLStringList metadata = attribute_items(read_items_);
  // Not GDALPamDataset's: what the store holds need not be in the sidecar as well.
  if (!metadata.empty()) GDALDataset::SetMetadata(metadata.List());
  std::string area_or_point = gdal_zarr::area_or_point(view_.array().metadata().attributes);
  if (area_or_point.empty() && placing != nullptr) {
    area_or_point = gdal_zarr::area_or_point(*placing);
  }
  if (area_or_point.empty()) return;
  GDALDataset::SetMetadataItem(kAreaOrPoint, area_or_point.c_str(), "");
  GDALDataset::SetMetadataItem(kRegistration, nullptr, "");
}

void RasterDataset::refresh_metadata() {
  guarded(false, [this] {
    const Session& session = *view_.array().session();
    const std::string group(zarrcore::parent_path(view_.array().node_path()));
    for (const std::string& path : {std::string(), group}) {
      if (!session.root_is_array()) session.hierarchy().refresh_node(path);
    }
    // Programs that write over the network seldom ask for attributes again.
    if (!shares_arrays_ && (!session.is_slow() || !session.is_writable())) {
      for (const auto& array : view_.arrays()) {
        if (!array->is_deleted()) array->refresh_metadata();
      }
    }
    forget_nodata();
    const zarrcore::Json before = std::exchange(read_items_, stored_items());
    zarrcore::Json names = before;
    names.update(read_items_);
    for (const auto& [name, value] : names.items()) {
      const zarrcore::Json* old = zarrcore::find_member(before, name);
      const zarrcore::Json* now = zarrcore::find_member(read_items_, name);
      const std::string old_text = old != nullptr ? attribute_text(*old) : std::string();
      if (old != nullptr && now != nullptr && attribute_text(*now) == old_text) continue;
      const char* shown = GDALDataset::GetMetadataItem(name.c_str());
      const bool is_as_stored =
          old == nullptr ? shown == nullptr : shown != nullptr && shown == old_text;
      if (!is_as_stored) continue;
      const std::string text = now != nullptr ? attribute_text(*now) : std::string();
      GDALDataset::SetMetadataItem(name.c_str(), now != nullptr ? text.c_str() : nullptr);
    }
    return true;
  });
}

void RasterDataset::set_image_structure() {
  const std::string compression = compression_name(view_.array().core().metadata());
  if (!compression.empty()) {
    GDALDataset::SetMetadataItem("COMPRESSION", compression.c_str(), kImageStructure);
  }
  if (nBands < 2) return;
  // Where the dimensions that make bands are, among X and Y.
  const auto& others = view_.other_axes();
  const std::size_t x = view_.x_axis().value_or(0);
  const std::size_t y = view_.y_axis().value_or(x);
  const auto all = [&](const auto& test) {
    return std::all_of(others.begin(), others.end(), test);
  };
  const char* interleave = nullptr;
  // Several arrays have no such dimension.
  if (all([&](std::size_t axis) { return axis < x && axis < y; })) {
    interleave = "BAND";
  } else if (all([&](std::size_t axis) { return axis > x && axis > y; })) {
    interleave = "PIXEL";
  }
  if (interleave != nullptr)
    GDALDataset::SetMetadataItem("INTERLEAVE", interleave, kImageStructure);
}

// Replaces the attributes that are shown as metadata. Those that the text leaves as they are, in
// the arrays or the root, keep their type.
void RasterDataset::change_metadata(CPLStringList metadata) {
  const zarrcore::Json root = group_attributes();
  zarrcore::Json shared = shared_attributes();
  std::set<std::string> of_bands;  // names of attributes in which the arrays differ
  for (const auto& array : view_.arrays()) {
    for (const auto& [name, value] : array->shown_attributes().items()) {
      if (!shared.contains(name)) of_bands.insert(name);
    }
  }
  const Items items = parse_items(metadata.List());
  const std::map<std::string, std::string> given(items.begin(), items.end());
  const auto changes = [&](const zarrcore::Json& attributes, const std::string& name,
                           const std::string& value) {
    const zarrcore::Json* known = zarrcore::find_member(attributes, name);
    if (known == nullptr) known = zarrcore::find_member(root, name);
    return known == nullptr || attribute_text(*known) != value;
  };
  // An item with the name of an attribute in which bands differ does not replace theirs.
  const auto is_plain = [&](const std::string& name) {
    return !shared.contains(name) &&
           (of_bands.contains(name) || plain_names_.contains(name) || has_meaning(name));
  };
  zarrcore::Json plain = zarrcore::Json::array();
  for (const auto& [name, value] : items) {
    if (is_plain(name) && changes(zarrcore::Json::object(), name, value)) {
      plain.push_back(std::string(name).append("=").append(value));
    }
  }
  bool has_moved = false;
  for (const auto& array : view_.arrays()) {
    const bool is_registered = has_registration(*array);
    if (is_registered) {
      shared.erase(kRegistration);
      has_moved |= change_registration(*array, metadata.FetchNameValue(kAreaOrPoint));
    }
    const std::string mask(zarrcore::last_segment(mask_path(*array)));
    array->change([&](zarrcore::ArrayMetadata& changed) {
      zarrcore::erase_members(changed.attributes, [&](const std::string& name) {
        // Removing all metadata does not remove the georeferencing.
        return name != kCoordinates && shared.contains(name) && !given.contains(name);
      });
      for (const auto& [name, value] : items) {
        if (is_plain(name)) continue;
        if (is_registered && name == kAreaOrPoint && registration_of(value)) {
          changed.attributes.erase(name);
          continue;
        }
        if (changes(shared, name, value)) changed.attributes[name] = value;
      }
      if (plain.empty()) {
        changed.attributes.erase(kPlainMetadata);
      } else {
        changed.attributes[kPlainMetadata] = plain;
      }
      if (!mask.empty()) changed.attributes = with_mask(std::move(changed.attributes), mask);
    });
  }
  // At once: no document may have the new registration with the old transform.
  if (has_moved && geotransform_) store_georeferencing();
  GDALDataset::SetMetadata(metadata.List());
}

// For several arrays, the sums of what all of them state.
MetadataList RasterDataset::stored_chunks() {
  return guarded<MetadataList>(nullptr, [this] {
    std::map<std::string, std::pair<std::uint64_t, std::size_t>> sums;
    std::vector<std::string> names;
    for (const auto& array : view_.arrays()) {
      const CPLStringList items = array->stored_chunks();
      for (const auto& [name, value] : parse_items(items.List())) {
        auto& [sum, count] = sums[name];
        sum += zarrcore::parse_number<std::uint64_t>(value).value_or(0);
        if (++count == 1) names.push_back(name);
      }
    }
    CPLStringList items;
    for (const std::string& name : names) {
      const auto& [sum, count] = sums[name];
      if (count < view_.arrays().size()) continue;
      items.SetNameValue(name.c_str(), std::to_string(sum).c_str());
    }
    stored_chunks_.push_back(std::move(items));
    return stored_chunks_.back().List();
  });
}

MetadataList RasterDataset::GetMetadata(const char* domain) {
  if (domain != nullptr && EQUAL(domain, kStoredChunks)) return stored_chunks();
  complete_icechunk_metadata(*this, domain, *view_.array().session()->hierarchy().store());
  return GDALPamDataset::GetMetadata(domain);
}

const char* RasterDataset::GetMetadataItem(const char* name, const char* domain) {
  if (domain != nullptr && EQUAL(domain, kStoredChunks)) {
    return CSLFetchNameValue(stored_chunks(), name);
  }
  complete_icechunk_metadata(*this, domain, *view_.array().session()->hierarchy().store());
  return GDALPamDataset::GetMetadataItem(name, domain);
}

CPLErr RasterDataset::SetMetadata(MetadataList metadata, const char* domain) {
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadata(metadata, domain);
  }
  return guarded(CE_Failure, [&] {
    change_metadata(CPLStringList(CSLDuplicate(metadata)));
    return CE_None;
  });
}

CPLErr RasterDataset::SetMetadataItem(const char* name, const char* value, const char* domain) {
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadataItem(name, value, domain);
  }
  return guarded(CE_Failure, [&] {
    CPLStringList metadata(CSLDuplicate(GDALDataset::GetMetadata()));
    metadata.SetNameValue(name, value);
    change_metadata(metadata);
    return CE_None;
  });
}

RasterBand& RasterDataset::band(int number) {
  return static_cast<RasterBand&>(*GetRasterBand(number));
}

char** RasterDataset::GetFileList() {
  return guarded<char**>(nullptr, [this] {
    const Session& session = *view_.array().session();
    // The array, its coordinates, and the groups above it.
    std::set<std::string> nodes{""};
    for (std::string path = view_.array().node_path(); !path.empty();
         path = zarrcore::parent_path(path)) {
      nodes.insert(path);
    }
    for (const auto& dimension : view_.array().GetDimensions()) {
      if (const auto variable = dimension->GetIndexingVariable()) {
        nodes.insert(session.node_path(variable->GetFullName()));
      }
    }
    const std::string root = session.hierarchy().store()->description();
    CPLStringList files;
    if (has_icechunk_prefix(session.path())) {
      // The documents are inside of its files.
      files.AddString(root.c_str());
      return files.StealList();
    }
    if (has_reference_prefix(GetDescription())) {
      // GDAL would look for files by names that are none of references.
      files.AddString(root.c_str());
    } else {
      files.AddString(has_reference_prefix(session.path()) ? root.c_str() : session.path().c_str());
      const CPLStringList of_gdal(GDALDataset::GetFileList());
      for (int i = 0; i < of_gdal.size(); ++i) {
        if (session.path() != of_gdal[i]) files.AddString(of_gdal[i]);
      }
      for (const std::string& sidecar : sidecar_files()) files.AddString(sidecar.c_str());
    }
    for (const std::string& key : session.hierarchy().documents_read()) {
      if (!nodes.contains(std::string(zarrcore::parent_path(key)))) continue;
      // A document inside a file of references is not a file.
      const std::string file = zarrcore::join_path(root, key);
      // PAM has listed the document by whose name the dataset was opened.
      if (file != GetDescription() && path_exists(file)) files.AddString(file.c_str());
    }
    return files.StealList();
  });
}

}  // namespace gdal_zarr
