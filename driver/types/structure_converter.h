// Conversion between structures: their parts one by one.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "zarrcore/base/strided.h"

namespace gdal_zarr {

// Where a part of a structure comes from and goes to; offsets and sizes are in bytes.
struct StructurePart {
  std::size_t source_offset;
  std::size_t destination_offset;
  std::size_t destination_size;
  std::unique_ptr<const zarrcore::ElementConverter> converter;  // null: the same bytes
};

// Null when structures of these sizes are the same bytes: all parts are, and nothing is between
// them. With `clears_gaps`, bytes of the destination that belong to no part become zero, else they
// stay what they are.
std::unique_ptr<const zarrcore::ElementConverter> make_structure_converter(
    std::vector<StructurePart> parts, std::size_t source_size, std::size_t destination_size,
    bool clears_gaps);

// The one of `items` called `name`, or null. Most often it is at `position`, and there it is looked
// for first, for names need not be unique.
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
