// One model for the metadata of arrays and groups in all Zarr formats. Formats (v1, v2, v3…: see
// format.h) differ in how they express it. Where a difference matters outside metadata/, a member
// here states it as a rule; no other code depends on the version.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/chunk/chunk_key_encoding.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

struct ArrayMetadata {
  Shape shape;
  DataType data_type;
  Shape chunk_shape;  // of a regular grid
  // For a rectilinear grid: the chunk lengths along each dimension. Empty for a regular grid.
  std::vector<std::vector<ChunkRun>> chunk_runs;
  ChunkKeyEncoding chunk_key_encoding;
  // The value of elements of missing chunks: item_size bytes in the host's order (for a type of
  // variable length: what the element holds). nullopt when the format allows it to be undefined and
  // it is; then they read as zero bytes, or as empty.
  std::optional<std::vector<std::byte>> fill_value;
  // True if the format requires a fill value: if so, a fill value of zero does not mean that zero
  // is special.
  bool fill_value_is_mandatory = false;
  // How xarray spells a float in the attribute `_FillValue`: as base64 of a little-endian float64
  // (v3), or as a number.
  bool fill_value_attribute_is_base64 = false;
  // Array-to-array codecs, one array-to-bytes codec, bytes-to-bytes codecs, in encoding order.
  std::vector<CodecMetadata> codecs;
  Json attributes = Json::object();
  // One per dimension; unnamed ones are empty.
  std::vector<std::optional<std::string>> dimension_names;
  // Members of the document that a reader may ignore: in v1 and v2 all unknown members, in v3
  // members that state so. They are written back, because other programs may know them.
  Json unknown_members = Json::object();
  // The prefix of all chunk keys in the store. Of a new array, Hierarchy::create_node() sets it.
  std::string chunk_prefix;
};

struct GroupMetadata {
  Json attributes = Json::object();
  Json unknown_members = Json::object();  // as above
};

using NodeMetadata = std::variant<ArrayMetadata, GroupMetadata>;

// The array metadata of a node, which the returned pointer keeps alive; null when the node is a
// group or null.
inline std::shared_ptr<const ArrayMetadata> as_array(std::shared_ptr<const NodeMetadata> node) {
  const auto* array = std::get_if<ArrayMetadata>(node.get());
  return array == nullptr ? nullptr : std::shared_ptr<const ArrayMetadata>(std::move(node), array);
}

}  // namespace zarrcore
