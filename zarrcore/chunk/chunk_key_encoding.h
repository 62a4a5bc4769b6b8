// Chunk key encodings: from the coordinates of a chunk in its grid to its key below the array
// (v3 core, "chunk key encoding"; v2 and v1, "storing a single array").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"

namespace zarrcore {

struct ZARRCORE_API ChunkKeyEncoding {
  enum class Kind : std::uint8_t {
    // "c", then each coordinate after a separator: "c/1/2"; "c" alone for rank 0.
    default_,
    // The coordinates with separators in between: "1.2"; "0" for rank 0.
    v2,
    // "c" before that: "c1/2"; "c0" for rank 0 (v3 draft of 2020).
    draft,
    // The coordinates as in v2, but the last one first: "2/1" (N5).
    n5,
  };

  Kind kind = Kind::default_;
  char separator = '/';
  std::string suffix = {};  // of every key (zarrs.default_suffix)

  bool operator==(const ChunkKeyEncoding&) const = default;

  // The key of a chunk, by its position in the grid, below a path, which may be empty.
  std::string encode(std::span<const std::uint64_t> chunk, std::string_view path = {}) const;

  // The chunk with this key in a grid of `rank` dimensions; nullopt when no chunk has it.
  std::optional<std::vector<std::uint64_t>> decode(std::string_view key, std::size_t rank) const;

  // Another possible key for the chunk of an array of rank 0.
  std::optional<std::string> other_scalar_key() const {
    return kind == Kind::draft ? std::optional<std::string>("c") : std::nullopt;
  }
};

}  // namespace zarrcore
