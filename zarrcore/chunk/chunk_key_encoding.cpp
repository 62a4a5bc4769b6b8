#include "zarrcore/chunk/chunk_key_encoding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace zarrcore {
namespace {

bool has_prefix(ChunkKeyEncoding::Kind kind) {
  return kind == ChunkKeyEncoding::Kind::default_ || kind == ChunkKeyEncoding::Kind::draft;
}

}  // namespace

std::string ChunkKeyEncoding::encode(std::span<const std::uint64_t> chunk,
                                     std::string_view path) const {
  std::array<char, 20> digits;  // of the largest number
  std::string key;
  key.reserve(path.size() + 2 + 4 * chunk.size());
  key += path;
  if (!path.empty()) key += '/';
  if (has_prefix(kind)) key += 'c';
  if (chunk.empty() && kind != Kind::default_) key += '0';
  bool is_separated = kind == Kind::default_;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (is_separated) key += separator;
    is_separated = true;
    const std::uint64_t coordinate = chunk[kind == Kind::n5 ? chunk.size() - 1 - i : i];
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
  if (has_prefix(kind) && rest.starts_with('c')) rest.remove_prefix(1);
  if (kind == Kind::default_ && rest.starts_with(separator)) rest.remove_prefix(1);
  std::vector<std::uint64_t> chunk(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (i > 0 && !rest.starts_with(separator)) return std::nullopt;
    if (i > 0) rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), chunk[i]);
    if (error != std::errc()) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (kind == Kind::n5) std::reverse(chunk.begin(), chunk.end());
  // Other spellings of the numbers, as with leading zeros, are not keys.
  if (encode(chunk) != key) return std::nullopt;
  return chunk;
}

}  // namespace zarrcore
