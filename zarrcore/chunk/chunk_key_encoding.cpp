#include "zarrcore/chunk/chunk_key_encoding.h"

namespace zarrcore {

std::string ChunkKeyEncoding::encode(std::span<const std::uint64_t> chunk) const {
  if (kind == Kind::v2 && chunk.empty()) return "0";
  std::string key = kind == Kind::default_ ? "c" : "";
  for (const std::uint64_t coordinate : chunk) {
    if (!key.empty()) key += separator;
    key += std::to_string(coordinate);
  }
  return key;
}

}  // namespace zarrcore
