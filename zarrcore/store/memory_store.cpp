#include "zarrcore/store/memory_store.h"

#include <list>
#include <mutex>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"

namespace zarrcore {

std::optional<Buffer> MemoryStore::get(std::string_view key, std::uint64_t max_size) {
  const std::shared_lock lock(mutex_);
  const auto it = values_.find(key);
  if (it == values_.end()) return std::nullopt;
  check_value_size(it->second.size(), max_size);
  return Buffer::copy_of(it->second.span());
}

std::optional<std::vector<Buffer>> MemoryStore::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  const std::shared_lock lock(mutex_);
  const auto it = values_.find(key);
  if (it == values_.end()) return std::nullopt;
  const ByteSpan value = it->second.span();
  std::vector<Buffer> parts;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const std::uint64_t offset = resolve_range(range, value.size());
    parts.push_back(Buffer::copy_of(value.subspan(offset, range.length)));
  }
  return parts;
}

void MemoryStore::put_parts(std::string_view key, std::span<const ValuePart> parts) {
  check_key(key);
  std::list<Buffer> fetched;
  std::vector<ByteSpan> all;
  std::size_t size = 0;
  for (const ValuePart& part : parts) {
    if (part.fetch) fetched.push_back(part.fetch());
    all.push_back(part.fetch ? fetched.back().span() : part.bytes);
    size += all.back().size();
  }
  Buffer value(size);
  std::byte* end = value.data();
  for (const ByteSpan bytes : all) end = std::copy(bytes.begin(), bytes.end(), end);
  const std::unique_lock lock(mutex_);
  values_.insert_or_assign(std::string(key), std::move(value));
}

bool MemoryStore::erase(std::string_view key) {
  const std::unique_lock lock(mutex_);
  const auto it = values_.find(key);
  if (it == values_.end()) return false;
  values_.erase(it);
  return true;
}

DirectoryListing MemoryStore::list(std::string_view prefix) {
  const std::shared_lock lock(mutex_);
  return list_sorted(prefix, values_);
}

}  // namespace zarrcore
