// Default implementations in terms of the other functions of a store.
#include "zarrcore/store/store.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"

namespace zarrcore {
namespace {

// Always reads the present value.
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

[[noreturn]] void fail_to_change(const Store& store, std::string_view key, const char* change) {
  const std::string_view reason = store.traits().read_only_reason;
  throw Error(store.description() + ": " + std::string(key) + " cannot be " + change + ": " +
              (reason.empty() ? "this store cannot be changed" : std::string(reason)));
}

}  // namespace

void check_value_size(std::uint64_t size, std::uint64_t max_size) {
  if (size <= max_size) return;
  throw Error("the value has " + std::to_string(size) + " bytes where at most " +
              std::to_string(max_size) + " can be right");
}

std::uint64_t resolve_range(const ByteRange& range, std::uint64_t size) {
  if (range.value_size && *range.value_size != size) {
    throw Error("the value has " + std::to_string(size) + " bytes where " +
                std::to_string(*range.value_size) + " are expected");
  }
  if (range.from_end) {
    if (range.length <= size) return size - range.length;
    throw Error("the last " + std::to_string(range.length) + " bytes are wanted of a value of " +
                std::to_string(size));
  }
  if (range.offset <= size && range.length <= size - range.offset) return range.offset;
  throw Error(std::to_string(range.length) + " bytes at offset " + std::to_string(range.offset) +
              " are outside a value of " + std::to_string(size) + " bytes");
}

std::vector<Buffer> copy_ranges(ByteSpan value, std::span<const ByteRange> ranges) {
  std::vector<Buffer> parts;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const std::uint64_t offset = resolve_range(range, value.size());
    parts.push_back(Buffer::copy_of(value.subspan(memory_size(offset), memory_size(range.length))));
  }
  return parts;
}

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
  return value ? std::optional(copy_ranges(value->span(), ranges)) : std::nullopt;
}

bool Store::put_parts(std::string_view key, std::span<const ValuePart> /*parts*/,
                      const PutOptions& /*options*/) {
  fail_to_change(*this, key, "written");
}

bool Store::erase(std::string_view key, const EraseOptions& /*options*/) {
  fail_to_change(*this, key, "erased");
}

std::shared_ptr<OpenValue> Store::open(std::string_view key) {
  return std::make_shared<UnversionedValue>(*this, key);
}

void Store::erase_all(std::span<const std::string> keys) {
  std::string problems;
  for (const std::string& key : keys) {
    try {
      erase(key);
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw Error(problems);
}

std::vector<std::string> Store::list_all(std::string_view prefix) {
  std::vector<std::string> keys;
  visit_values(prefix, [&](std::string_view key, const auto& /*size*/) { keys.emplace_back(key); });
  std::sort(keys.begin(), keys.end());
  return keys;
}

void Store::visit_values(std::string_view prefix, const VisitValue& visit,
                         const VisitOptions& options) {
  const DirectoryListing listing = list(prefix);
  for (const std::string& name : listing.keys) visit(join_path(prefix, name), std::nullopt);
  for (const std::string& name : listing.prefixes)
    visit_values(join_path(prefix, name), visit, options);
}

void Store::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  check_key(prefix);
  erase_all(first);
  erase_all(list_all(prefix));
}

bool Store::rename_prefix(std::string_view from, std::string_view to,
                          const RenameOptions& options) {
  if (options.exchanges) return false;
  check_key(from);
  check_key(to);
  // Documents are copied last and erased first: wherever a node exists, it has all its chunks.
  std::vector<std::string> keys = list_all(from);
  const auto documents = std::stable_partition(
      keys.begin(), keys.end(),
      [](const std::string& key) { return !is_document_name(last_segment(key)); });
  std::vector<std::string> copies;
  try {
    for (const std::string& key : keys) {
      const auto value = get(key);
      if (!value) continue;
      copies.push_back(std::string(to) + key.substr(from.size()));
      put(copies.back(), value->span());
    }
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    try {
      std::ranges::reverse(copies);
      erase_all(copies);
    } catch (const Error&) {
      // The first error is the cause.
    }
    std::rethrow_exception(error);
  }
  erase_prefix(from, {documents, keys.end()});
  return true;
}

std::optional<Store::Parent> Store::parent() const {
  return std::nullopt;
}

}  // namespace zarrcore
