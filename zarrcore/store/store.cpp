// Default implementations in terms of the other functions of a store.
#include "zarrcore/store/store.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"

namespace zarrcore {
namespace {

void visit_keys(Store& store, const std::string& prefix,
                const std::function<void(const std::string& key)>& visit) {
  const DirectoryListing listing = store.list(prefix);
  for (const std::string& name : listing.prefixes) {
    visit_keys(store, join_path(prefix, name), visit);
  }
  for (const std::string& name : listing.keys) visit(join_path(prefix, name));
}

// Reads the value as it is at the time.
class UnversionedValue final : public OpenValue {
 public:
  UnversionedValue(Store& store, std::string_view key) : store_(store), key_(key) {}

  std::optional<Buffer> get(std::uint64_t max_size) override { return store_.get(key_, max_size); }
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    return store_.get_ranges(key_, ranges);
  }
  ValueVersion version() const override { return {}; }

 private:
  Store& store_;
  std::string key_;
};

}  // namespace

Buffer join_parts(std::span<const ValuePart> parts) {
  std::vector<Buffer> fetched;
  fetched.reserve(parts.size());
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
  return value;
}

std::optional<std::vector<Buffer>> Store::get_ranges(std::string_view key,
                                                     std::span<const ByteRange> ranges) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  std::vector<Buffer> parts;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const auto offset = static_cast<std::size_t>(resolve_range(range, value->size()));
    parts.push_back(
        Buffer::copy_of(value->span().subspan(offset, static_cast<std::size_t>(range.length))));
  }
  return parts;
}

void Store::put_parts(std::string_view key, std::span<const ValuePart> /*parts*/) {
  throw Error(description() + ": " + std::string(key) + ": this store cannot put values");
}

bool Store::erase(std::string_view key) {
  throw Error(description() + ": " + std::string(key) + ": this store cannot erase values");
}

std::shared_ptr<OpenValue> Store::open(std::string_view key) {
  return std::make_shared<UnversionedValue>(*this, key);
}

bool Store::put_if(std::string_view key, const ValueVersion& expected,
                   std::span<const ValuePart> parts) {
  if (!expected.is_unknown() && current_version(key).differs_from(expected)) return false;
  put_parts(key, parts);
  return true;
}

bool Store::erase_if(std::string_view key, const ValueVersion& expected) {
  if (!expected.is_unknown() && current_version(key).differs_from(expected)) return false;
  erase(key);
  return true;
}

void Store::erase_prefix(std::string_view prefix) {
  check_key(prefix);
  visit_keys(*this, std::string(prefix), [this](const std::string& key) { erase(key); });
}

void Store::rename_prefix(std::string_view from, std::string_view to) {
  check_key(from);
  check_key(to);
  visit_keys(*this, std::string(from), [&](const std::string& key) {
    if (const auto value = get(key)) {
      put(std::string(to) + key.substr(from.size()), value->span());
    }
  });
  erase_prefix(from);
}

std::optional<Store::Parent> Store::parent() const {
  return std::nullopt;
}

}  // namespace zarrcore
