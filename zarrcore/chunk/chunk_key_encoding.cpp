#include "zarrcore/chunk/chunk_key_encoding.h"

namespace zarrcore {

std::string ChunkKeyEncoding::encode(std::span<const std::uint64_t> chunk) const {
  std::string coordinates;
  for (const std::uint64_t coordinate : chunk) {
    if (!coordinates.empty()) coordinates += separator;
    coordinates += std::to_string(coordinate);
  }
  if (kind == Kind::default_)
    return chunk.empty() ? "c" : std::string("c") + separator + coordinates;
  if (chunk.empty()) coordinates = "0";
  return kind == Kind::draft ? "c" + coordinates : coordinates;
}

}  // namespace zarrcore
