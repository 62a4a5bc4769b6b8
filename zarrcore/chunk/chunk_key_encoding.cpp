#include "zarrcore/chunk/chunk_key_encoding.h"

#include <charconv>
#include <system_error>

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

std::optional<std::vector<std::uint64_t>> ChunkKeyEncoding::decode(std::string_view key,
                                                                   std::size_t rank) const {
  std::string_view rest = key;
  if (kind != Kind::v2 && rest.starts_with('c')) rest.remove_prefix(1);
  if (kind == Kind::default_ && rest.starts_with(separator)) rest.remove_prefix(1);
  std::vector<std::uint64_t> chunk(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (i > 0 && !rest.starts_with(separator)) return std::nullopt;
    if (i > 0) rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), chunk[i]);
    if (error != std::errc()) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  // Other spellings of the numbers, as with leading zeros, are not keys.
  if (encode(chunk) != key) return std::nullopt;
  return chunk;
}

}  // namespace zarrcore
