// The numbers of an array's chunks in C order, by which references in Parquet files are found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/directory_listing.h"

namespace gdal_zarr {

class ChunkNumbers {
 public:
  // From the text of a `.zarray`. Throws zarrcore::Error when its shape and chunks are invalid.
  explicit ChunkNumbers(std::string_view document);

  std::uint64_t count() const { return count_; }

  // The number of a chunk by the part of its key below the array, with either separator; empty if
  // it is not a chunk of the array.
  std::optional<std::uint64_t> find(std::string_view place) const;

  // Whether `prefix` inside the array is a folder of chunks.
  bool has_level(std::string_view prefix) const { return find_level(prefix).has_value(); }

  // Lists what is below `prefix` inside the array ("" for the array) in C order: keys of chunks for
  // which `exists(number)` is true, or folders of chunks, among the first `max_count` of them.
  template <typename Exists>
  void list(std::string_view prefix, std::uint64_t max_count, const Exists& exists,
            zarrcore::DirectoryListing& listing) const {
    const auto level = find_level(prefix);
    if (!level) return;
    for (std::uint64_t i = 0; i < std::min(level->count, max_count); ++i) {
      if (!level->is_last) {
        listing.prefixes.push_back(std::to_string(i));
      } else if (exists(level->first + i)) {
        listing.keys.push_back(name_of(level->first + i));
      }
    }
  }

 private:
  struct Level {
    std::uint64_t first = 0;  // of the chunks, if this is the last level
    std::uint64_t count = 0;
    bool is_last = true;
  };

  std::optional<Level> find_level(std::string_view prefix) const;
  std::string name_of(std::uint64_t number) const;

  std::vector<std::uint64_t> counts_;  // of chunks along each dimension
  std::uint64_t count_ = 1;
  char separator_ = '.';
};

}  // namespace gdal_zarr
