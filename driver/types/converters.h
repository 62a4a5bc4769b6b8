// Conversion of elements: between GDAL's number types by GDAL's rules, and between structures part
// by part.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

inline std::size_t number_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// Converts like GDALCopyWords(), which rounds and clamps. Null if the types are equal.
std::unique_ptr<const zarrcore::ElementConverter> make_number_converter(GDALDataType source,
                                                                        GDALDataType destination);

// The offsets, in bytes, of a part in the source and in the destination.
struct StructurePart {
  std::size_t source_offset;
  std::size_t destination_offset;
  std::size_t destination_size;
  std::unique_ptr<const zarrcore::ElementConverter> converter;  // null if the bytes are the same
};

// Null if structures of these sizes are the same bytes: all parts are, without gaps between them.
// With `clears_gaps`, bytes of the destination that belong to no part become zero; otherwise they
// are not changed.
std::unique_ptr<const zarrcore::ElementConverter> make_structure_converter(
    std::vector<StructurePart> parts, std::size_t source_size, std::size_t destination_size,
    bool clears_gaps);

// The item named `name`, or null. Names need not be unique, so the item at `position`, where it
// usually is, has precedence.
template <typename Items, typename NameOf>
auto find_named(const Items& items, std::size_t position, const std::string& name,
                const NameOf& name_of) -> decltype(&items.front()) {
  if (position < items.size() && name_of(items[position]) == name) return &items[position];
  for (const auto& item : items) {
    if (name_of(item) == name) return &item;
  }
  return nullptr;
}

}  // namespace gdal_zarr
