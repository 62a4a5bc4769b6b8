#include "zarrcore/store/memory_store.h"

#include <mutex>

#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// One version of a value, or its absence.
class MemoryStore::Value final : public OpenValue {
 public:
  Value() : version_(ValueVersion::absent()) {}
  Value(Buffer bytes, std::uint64_t number)
      : bytes_(std::move(bytes)), version_(ValueVersion::Identity{number}) {}

  std::optional<Buffer> get(std::uint64_t max_size) override {
    if (!bytes_) return std::nullopt;
    check_value_size(bytes_->size(), max_size);
    return Buffer::copy_of(bytes_->span());
  }

  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    return bytes_ ? std::optional(copy_ranges(bytes_->span(), ranges)) : std::nullopt;
  }

  ValueVersion version() const override { return version_; }

 private:
  std::optional<Buffer> bytes_;
  ValueVersion version_;
};

std::shared_ptr<MemoryStore::Value> MemoryStore::find(std::string_view key) {
  const std::shared_lock lock(mutex_);
  const auto it = values_.find(key);
  return it == values_.end() ? std::make_shared<Value>() : it->second;
}

std::optional<Buffer> MemoryStore::get(std::string_view key, std::uint64_t max_size) {
  return find(key)->get(max_size);
}

std::optional<std::vector<Buffer>> MemoryStore::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  return find(key)->get_ranges(ranges);
}

std::shared_ptr<OpenValue> MemoryStore::open(std::string_view key) {
  return find(key);
}

ValueVersion MemoryStore::current_version(std::string_view key) {
  return find(key)->version();
}

bool MemoryStore::put_parts(std::string_view key, std::span<const ValuePart> parts,
                            const PutOptions& options) {
  check_key(key);
  Buffer value = join_parts(parts);
  const std::unique_lock lock(mutex_);
  if (!has_version(key, options)) return false;
  values_.insert_or_assign(std::string(key), std::make_shared<Value>(std::move(value), ++puts_));
  return true;
}

bool MemoryStore::erase(std::string_view key, const EraseOptions& options) {
  const std::unique_lock lock(mutex_);
  if (!has_version(key, options)) return false;
  if (const auto it = values_.find(key); it != values_.end()) values_.erase(it);
  return true;
}

bool MemoryStore::has_version(std::string_view key, const PutOptions& options) const {
  if (!options.expected) return true;
  const auto it = values_.find(key);
  const ValueVersion current = it == values_.end() ? ValueVersion::absent() : it->second->version();
  return !current.differs_from(*options.expected);
}

DirectoryListing MemoryStore::list(std::string_view prefix, const ListOptions& /*options*/) {
  const std::shared_lock lock(mutex_);
  return list_sorted(prefix, values_);
}

}  // namespace zarrcore
