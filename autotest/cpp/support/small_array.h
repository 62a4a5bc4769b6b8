// The metadata of an array that every format can express.
#pragma once

#include <cstddef>
#include <optional>

#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore::test {

// Four bytes in two chunks, with the title "array".
inline ArrayMetadata small_array() {
  ArrayMetadata metadata;
  metadata.shape = {4};
  metadata.chunk_shape = {2};
  metadata.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  metadata.data_type = {TypeKind::unsigned_integer, 1};
  metadata.fill_value = {std::byte{0}};
  metadata.codecs = {{"bytes"}};
  metadata.dimension_names = {std::nullopt};
  metadata.attributes["title"] = "array";
  return metadata;
}

}  // namespace zarrcore::test
