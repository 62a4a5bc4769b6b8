#include "driver/multidim/mask_arrays.h"

#include <algorithm>

#include "driver/conventions/cf/attributes.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

constexpr const char* kAncillary = "ancillary_variables";
constexpr const char* kMeanings = "flag_meanings";
constexpr const char* kMaskMeanings = "invalid valid";

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool is_mask(const zarrcore::ArrayMetadata& array) {
  const std::string* meanings = zarrcore::find_string(array.attributes, kMeanings);
  return meanings != nullptr && *meanings == kMaskMeanings &&
         array.data_type == zarrcore::DataType{zarrcore::TypeKind::unsigned_integer, 1};
}

// Of the raster, unless it has all dimensions of the array.
bool fits_array(const zarrcore::ArrayMetadata& mask, const Array& array) {
  const zarrcore::Shape& shape = array.core().shape();
  if (mask.shape == shape) return true;
  if (shape.size() < 2) return false;
  const auto [x, y] = array.raster_axes();
  return mask.shape == zarrcore::Shape{shape[y], shape[x]};
}

// Null if the array names none.
std::shared_ptr<Session> session_of_masks(const Array& array) {
  if (!array.metadata().attributes.contains(kAncillary)) return nullptr;
  return array.session()->root_is_array() ? array.session()->parent() : array.session();
}

}  // namespace

std::vector<std::string> mask_paths(const Session& session, const std::string& node_path,
                                    bool for_it_alone) {
  std::vector<std::string> paths;
  const std::string group(zarrcore::parent_path(node_path));
  for (const std::string& word : cf::words_in(*session.attributes(node_path), kAncillary)) {
    if (!zarrcore::is_valid_segment(word)) continue;
    std::string path = zarrcore::join_path(group, word);
    const auto metadata = session.array_metadata(path);
    if (metadata && is_mask(*metadata)) paths.push_back(std::move(path));
  }
  if (paths.empty() || !for_it_alone) return paths;
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string other = zarrcore::join_path(group, child.name);
    if (other == node_path) continue;
    for (const std::string& word : cf::words_in(*session.attributes(other), kAncillary)) {
      std::erase(paths, zarrcore::join_path(group, word));
    }
  }
  return paths;
}

std::string mask_path(const Array& array) {
  const std::shared_ptr<const Session> session = session_of_masks(array);
  if (!session) return {};
  const bool is_alone = array.session()->root_is_array();
  const std::string group(is_alone ? "" : zarrcore::parent_path(array.node_path()));
  for (const std::string& word : cf::words_in(array.metadata().attributes, kAncillary)) {
    if (!zarrcore::is_valid_segment(word)) continue;
    std::string path = zarrcore::join_path(group, word);
    const auto metadata = session->coordinate_metadata(path);
    if (metadata && is_mask(*metadata) && fits_array(*metadata, array)) return path;
  }
  return {};
}

std::shared_ptr<Array> find_mask(const Array& array) {
  const std::string path = mask_path(array);
  return path.empty() ? nullptr : session_of_masks(array)->array(path);
}

std::shared_ptr<Array> create_mask_array(const RasterView& view, bool has_all_dimensions) {
  const Array& array = view.array();
  Session& session = *array.session();
  const zarrcore::ArrayMetadata& data = array.metadata();
  NewArray description;
  description.type = GDALExtendedDataType::Create(GDT_Byte);
  description.format = &session.new_array_format();
  zarrcore::Shape chunk;
  const auto add = [&](std::size_t axis) {
    description.shape.push_back(data.shape[axis]);
    description.dimension_names.push_back(data.dimension_names[axis].value_or(""));
    chunk.push_back(array.core().inner_chunk_shape()[axis]);
  };
  if (has_all_dimensions) {
    for (std::size_t axis = 0; axis < data.shape.size(); ++axis) add(axis);
  } else {
    add(*view.y_axis());
    add(*view.x_axis());
  }
  CPLStringList options;
  options.SetNameValue("COMPRESS", "GZIP");
  options.SetNameValue("BLOCKSIZE", zarrcore::shape_text(chunk, ",").c_str());
  zarrcore::ArrayMetadata metadata = make_array_metadata(description, options.List());
  metadata.attributes = {{"flag_values", {0, 255}}, {kMeanings, kMaskMeanings}};
  const std::string group(zarrcore::parent_path(array.node_path()));
  std::string name = array.GetName() + "_mask";
  for (int i = 2; session.hierarchy().node(zarrcore::join_path(group, name)); ++i) {
    name = array.GetName() + "_mask" + std::to_string(i);
  }
  const auto mask = session.create_array(zarrcore::join_path(group, name), std::move(metadata));
  for (const auto& each : view.arrays()) {
    each->set_attribute(kAncillary, with_mask(each->metadata().attributes, name)[kAncillary]);
  }
  return mask;
}

Json with_mask(Json attributes, const std::string& mask_name) {
  std::vector<std::string> words = cf::words_in(attributes, kAncillary);
  if (std::ranges::find(words, mask_name) != words.end()) return attributes;
  words.push_back(mask_name);
  attributes[kAncillary] = join_words(words);
  return attributes;
}

Json without_mask(Json attributes, const std::string& mask_name) {
  std::vector<std::string> words = cf::words_in(attributes, kAncillary);
  if (std::erase(words, mask_name) == 0) return attributes;
  if (words.empty()) {
    attributes.erase(kAncillary);
  } else {
    attributes[kAncillary] = join_words(words);
  }
  return attributes;
}

}  // namespace gdal_zarr
