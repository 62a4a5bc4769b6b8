// The metadata of the classic dataset: attributes of the store.
#include <cpl_string.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/group.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

constexpr const char* kAreaOrPoint = "AREA_OR_POINT";
constexpr const char* kRegistration = "spatial:registration";

// Returns true if AREA_OR_POINT is stored as the registration of the `spatial:` convention.
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
constexpr const char* kWithMeaning[] = {"_FillValue",       "missing_value",
                                        "valid_min",        "valid_max",
                                        "valid_range",      "units",
                                        "scale_factor",     "crs",
                                        "add_offset",       "_Unsigned",
                                        "_TRANSFORM",       "geo:proj",
                                        cf::kGridMapping,   kColorInterpretation,
                                        "_ARRAY_DIMENSIONS"};

bool has_meaning(const std::string& name) {
  return std::ranges::find(kWithMeaning, name) != std::end(kWithMeaning) ||
         shown_attributes({{name, ""}}).empty();
}

using Items = std::vector<std::pair<std::string, std::string>>;

// Parses "NAME=value", and "NAME:value" if there is no "=". Other names may contain colons, as in
// STAC.
Items parse_items(CSLConstList list) {
  Items items;
  for (; list != nullptr && *list != nullptr; ++list) {
    const std::string text = *list;
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
  attributes.erase(cf::kGridMapping);
  if (zarrcore::find_string(attributes, cf::kCoordinates) == nullptr) return attributes;
  std::vector<std::string> words = cf::words_in(attributes, cf::kCoordinates);
  std::erase(words, mapping);
  cf::set_words(attributes, cf::kCoordinates, words);
  return attributes;
}

bool is_default_domain(const char* domain) {
  return domain == nullptr || domain[0] == '\0';
}

}  // namespace

bool RasterDataset::names_slices(const zarrcore::Json& long_name) const {
  return long_name.is_array() && view_.other_axes().size() == 1 &&
         long_name.size() == view_.array().core().shape()[view_.other_axes()[0]];
}

zarrcore::Json RasterDataset::shared_attributes() const {
  zarrcore::Json shared = *view_.array().shown_attributes();
  for (const auto& array : view_.arrays()) {
    if (array == view_.arrays().front() || shared.empty()) continue;
    zarrcore::erase_members(shared, [&](const std::string& name) {
      const zarrcore::Json* other = zarrcore::find_member(*array->shown_attributes(), name);
      return other == nullptr || attribute_text(*other) != attribute_text(shared[name]);
    });
  }
  for (const char* of_bands : {kColorInterpretation, kBandsAttribute}) shared.erase(of_bands);
  const zarrcore::Json* long_name = zarrcore::find_member(shared, "long_name");
  if (long_name != nullptr && names_slices(*long_name)) shared.erase("long_name");
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

// Attributes of arrays override attributes of their groups.
zarrcore::Json RasterDataset::stored_items() const {
  zarrcore::Json items = group_attributes();
  items.update(shared_attributes());
  items.update(plain_metadata());
  std::string area_or_point = gdal_zarr::area_or_point(view_.array().metadata().attributes);
  if (area_or_point.empty() && placing_) area_or_point = gdal_zarr::area_or_point(*placing_);
  if (area_or_point.empty()) return items;
  items[kAreaOrPoint] = area_or_point;
  items.erase(kRegistration);
  return items;
}

void RasterDataset::refresh_metadata() {
  guarded(false, [this] {
    const Session& session = *view_.array().session();
    std::set<std::string> paths;
    if (!session.root_is_array()) {
      paths = {"", std::string(zarrcore::parent_path(view_.array().node_path()))};
    }
    std::vector<Array*> arrays;
    // Programs that write over the network seldom ask for attributes again.
    if (!shares_arrays_ && (!session.is_slow() || !session.is_writable())) {
      for (const auto& array : view_.arrays()) {
        if (array->is_deleted()) continue;
        arrays.push_back(array.get());
        paths.insert(array->node_path());
      }
    }
    session.refresh_nodes({paths.begin(), paths.end()});
    bool has_changed = false;
    for (Array* array : arrays) has_changed |= array->refresh_metadata();
    forget_nodata();
    if (has_changed && std::ranges::none_of(band_values_, &BandValues::has_changed)) {
      band_values_.clear();
    }
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
  const auto all = [&](const auto& test) { return std::ranges::all_of(others, test); };
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

// Replaces the attributes that are shown as metadata, or only the attribute of the item `only`. An
// attribute whose text is unchanged is left as it is now stored in the arrays or the root: with its
// type, and with changes by other programs.
void RasterDataset::change_metadata(CPLStringList metadata, const char* only) {
  const zarrcore::Json root = group_attributes();
  zarrcore::Json shared = shared_attributes();
  std::set<std::string> of_bands;  // names of attributes in which the arrays differ
  for (const auto& array : view_.arrays()) {
    for (const auto shown = array->shown_attributes(); const auto& [name, value] : shown->items()) {
      if (!shared.contains(name)) of_bands.insert(name);
    }
  }
  const Items items = parse_items(metadata.List());
  const std::map<std::string, std::string> given(items.begin(), items.end());
  // Returns true if the new metadata leave the attribute as callers have seen it.
  const auto is_as_shown = [&](const std::string& name) {
    if (only != nullptr) return !EQUAL(only, name.c_str());
    const auto it = given.find(name);
    const zarrcore::Json* read = zarrcore::find_member(read_items_, name);
    return it == given.end() ? read == nullptr
                             : read != nullptr && attribute_text(*read) == it->second;
  };
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
  zarrcore::Json plain_items = plain_metadata();
  zarrcore::erase_members(plain_items, [&](const std::string& name) { return !is_as_shown(name); });
  for (const auto& [name, value] : items) {
    if (is_as_shown(name) || !is_plain(name)) continue;
    if (changes(zarrcore::Json::object(), name, value)) plain_items[name] = value;
  }
  zarrcore::Json plain = zarrcore::Json::array();
  for (const auto& [name, value] : plain_items.items()) {
    plain.push_back(std::string(name).append("=").append(attribute_text(value)));
  }
  bool has_moved = false;
  for (const auto& array : view_.arrays()) {
    const bool is_registered = has_registration(*array);
    if (is_registered) {
      shared.erase(kRegistration);
      if (!is_as_shown(kAreaOrPoint)) {
        has_moved |= change_registration(*array, metadata.FetchNameValue(kAreaOrPoint));
      }
    }
    const std::string mask(zarrcore::last_segment(mask_path(*array)));
    array->change([&](zarrcore::ArrayMetadata& changed) {
      zarrcore::erase_members(changed.attributes, [&](const std::string& name) {
        // Removing all metadata does not remove the georeferencing.
        return name != cf::kCoordinates && shared.contains(name) && !given.contains(name) &&
               !is_as_shown(name);
      });
      for (const auto& [name, value] : items) {
        if (is_as_shown(name) || is_plain(name)) continue;
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
  // Stored immediately: no document may have the new registration with the old transform.
  if (has_moved && geotransform_) store_georeferencing();
  // Changes by other programs are not shown yet.
  zarrcore::Json read = stored_items();
  zarrcore::erase_members(read, is_as_shown);
  for (const auto& [name, value] : read_items_.items()) {
    if (is_as_shown(name)) read[name] = value;
  }
  read_items_ = std::move(read);
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
  complete_icechunk_metadata(*this, *view_.array().session(), domain);
  return GDALPamDataset::GetMetadata(domain);
}

const char* RasterDataset::GetMetadataItem(const char* name, const char* domain) {
  if (domain != nullptr && EQUAL(domain, kStoredChunks)) {
    return CSLFetchNameValue(stored_chunks(), name);
  }
  if (is_changes_item(name, domain)) {
    return flush(false) != CE_None ? nullptr : icechunk_changes(*view_.array().session());
  }
  complete_icechunk_metadata(*this, *view_.array().session(), domain);
  return GDALPamDataset::GetMetadataItem(name, domain);
}

CPLErr RasterDataset::SetMetadata(MetadataList metadata, const char* domain) {
  if (is_icechunk_domain(domain)) {
    if (flush(false) != CE_None) return CE_Failure;
    return run_icechunk_commands(*this, *view_.array().session(), metadata);
  }
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadata(metadata, domain);
  }
  return guarded(CE_Failure,
                 [&] { change_metadata(CPLStringList(CSLDuplicate(metadata)), nullptr); });
}

CPLErr RasterDataset::SetMetadataItem(const char* name, const char* value, const char* domain) {
  if (is_icechunk_domain(domain)) {
    if (flush(false) != CE_None) return CE_Failure;
    return run_icechunk_command(*view_.array().session(), name, value);
  }
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadataItem(name, value, domain);
  }
  return guarded(CE_Failure, [&] {
    CPLStringList metadata(CSLDuplicate(GDALDataset::GetMetadata()));
    metadata.SetNameValue(name, value);
    change_metadata(metadata, name);
  });
}

RasterBand& RasterDataset::band(int number) {
  return static_cast<RasterBand&>(*GetRasterBand(number));
}

}  // namespace gdal_zarr
