#include "zarrcore/chunk/chunk_key_encoding.h"

#include <array>
#include <charconv>
#include <system_error>

namespace zarrcore {

std::string ChunkKeyEncoding::encode(std::span<const std::uint64_t> chunk,
                                     std::string_view path) const {
  std::array<char, 20> digits;  // of the largest number
  std::string key;
  key.reserve(path.size() + 2 + 4 * chunk.size());
  key += path;
  if (!path.empty()) key += '/';
  if (kind != Kind::v2) key += 'c';
  if (chunk.empty() && kind != Kind::default_) key += '0';
  bool is_separated = kind == Kind::default_;
  for (const std::uint64_t coordinate : chunk) {
    if (is_separated) key += separator;
    is_separated = true;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), coordinate).ptr;
    key.append(digits.data(), end);
  }
  key += suffix;
  return key;
}

std::optional<std::vector<std::uint64_t>> ChunkKeyEncoding::decode(std::string_view key,
                                                                   std::size_t rank) const {
  if (!key.ends_with(suffix)) return std::nullopt;
  std::string_view rest = key.substr(0, key.size() - suffix.size());
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
