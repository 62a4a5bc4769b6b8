#include "driver/stores/references/reference_store.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

using zarrcore::Buffer;
using zarrcore::ByteRange;

namespace {

// Of values that are read by one request, in bytes; and between them.
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxGap = std::uint64_t{16} << 10;

}  // namespace

struct ReferenceStore::Run {
  Reference all;
  std::size_t count = 0;  // of the values that nobody has taken yet
  std::mutex mutex;
  std::optional<Buffer> bytes;
  bool is_over = false;

  // Nullopt if the value is to be read by itself: all are taken, or the run cannot be read.
  std::optional<Buffer> take(const Reference& part, TargetFiles& targets) {
    const std::lock_guard lock(mutex);
    if (is_over) return std::nullopt;
    try {
      if (!bytes) bytes = targets.get(all, kMaxRunBytes);
    } catch (const zarrcore::Error&) {
      is_over = true;
      return std::nullopt;
    }
    Buffer value = Buffer::copy_of(bytes->span().subspan(part.offset - all.offset, *part.length));
    is_over = --count == 0;
    if (is_over) bytes.reset();
    return value;
  }
};

// Forgets them at the end.
struct ReferenceStore::ExpectedRuns {
  explicit ExpectedRuns(ReferenceStore& of) : store(of) {}
  ~ExpectedRuns() {
    const std::lock_guard lock(store.runs_mutex_);
    for (const auto& place : places) store.runs_.erase(place);
  }
  ExpectedRuns(const ExpectedRuns&) = delete;
  ExpectedRuns& operator=(const ExpectedRuns&) = delete;

  ReferenceStore& store;
  std::vector<decltype(runs_)::iterator> places;
};

ReferenceStore::ReferenceStore(std::shared_ptr<const References> references, std::string document,
                               std::string prefix)
    : references_(std::move(references)),
      targets_(document),
      document_(std::move(document)),
      prefix_(std::move(prefix)) {}

std::optional<Reference> ReferenceStore::find(std::string_view key) const {
  return references_->find(zarrcore::join_path(prefix_, key));
}

Reference ReferenceStore::resolved(Reference reference) const {
  if (!reference.target.empty() && !reference.is_path) {
    reference.target = targets_.resolve(reference.target);
    reference.is_path = true;
  }
  return reference;
}

std::optional<Reference> ReferenceStore::locate(std::string_view key) const {
  auto reference = find(key);
  if (reference) reference = resolved(*std::move(reference));
  return reference;
}

std::optional<Buffer> ReferenceStore::get(std::string_view key, std::uint64_t max_size) {
  auto reference = locate(key);
  if (!reference) return std::nullopt;
  if (!reference->target.empty()) {
    std::shared_ptr<Run> run;
    {
      const std::lock_guard lock(runs_mutex_);
      if (const auto found = runs_.find(key); found != runs_.end()) run = found->second;
    }
    if (run) {
      zarrcore::check_value_size(*reference->length, max_size);
      if (auto value = run->take(*reference, targets_)) return value;
    }
    return targets_.get(*reference, max_size);
  }
  zarrcore::check_value_size(reference->value.size(), max_size);
  return std::move(reference->value);
}

std::shared_ptr<void> ReferenceStore::expect(std::span<const std::string_view> keys) {
  struct Part {
    Reference reference;
    std::string_view key;
  };
  std::vector<Part> parts;
  for (const std::string_view key : keys) {
    std::optional<Reference> reference;
    try {
      reference = locate(key);
    } catch (const zarrcore::Error&) {
      // Reading the value reports it.
    }
    if (!reference) continue;
    const bool is_remote = is_network_path(reference->target);
    if (!is_remote && parts.empty()) return nullptr;  // files have one protocol
    const std::uint64_t length = reference->length.value_or(0);
    if (is_remote && length > 0 && length <= kMaxValueBytes) {
      parts.push_back({*std::move(reference), key});
    }
  }
  const auto place = [](const Part& part) {
    return std::tie(part.reference.target, part.reference.offset);
  };
  std::ranges::sort(parts, {}, place);
  auto runs = std::make_shared<ExpectedRuns>(*this);
  for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
    auto run = std::make_shared<Run>();
    run->all.target = parts[first].reference.target;
    run->all.is_path = true;
    run->all.offset = parts[first].reference.offset;
    std::uint64_t length = *parts[first].reference.length;
    for (end = first + 1; end < parts.size(); ++end) {
      const Reference& next = parts[end].reference;
      const std::uint64_t distance = next.offset - run->all.offset;
      if (next.target != run->all.target || distance > length + kMaxGap ||
          distance + *next.length > kMaxRunBytes) {
        break;
      }
      length = std::max(length, distance + *next.length);
    }
    if (end == first + 1) continue;
    run->all.length = length;
    run->count = end - first;
    const std::lock_guard lock(runs_mutex_);
    for (std::size_t i = first; i < end; ++i) {
      runs->places.push_back(runs_.emplace(parts[i].key, run));
    }
  }
  return runs;
}

std::optional<std::vector<Buffer>> ReferenceStore::get_ranges(std::string_view key,
                                                              std::span<const ByteRange> ranges) {
  const auto reference = locate(key);
  if (!reference) return std::nullopt;
  if (!reference->target.empty()) return targets_.get_ranges(*reference, ranges);
  return zarrcore::copy_ranges(reference->value.span(), ranges);
}

zarrcore::DirectoryListing ReferenceStore::list(std::string_view prefix,
                                                const zarrcore::ListOptions& /*options*/) {
  return references_->list(zarrcore::join_path(prefix_, prefix));
}

void ReferenceStore::visit_values(std::string_view prefix, const VisitValue& visit,
                                  const zarrcore::VisitOptions& options) {
  const zarrcore::DirectoryListing listing = list_chunks(prefix, UINT64_MAX);
  for (const std::string& name : listing.keys) {
    const std::string key = zarrcore::join_path(prefix, name);
    const auto reference = find(key);
    if (!reference) continue;
    visit(key, reference->target.empty() ? std::optional<std::uint64_t>(reference->value.size())
                                         : reference->length);
  }
  for (const std::string& name : listing.prefixes) {
    visit_values(zarrcore::join_path(prefix, name), visit, options);
  }
}

zarrcore::DirectoryListing ReferenceStore::list_chunks(std::string_view prefix,
                                                       std::uint64_t max_count) const {
  return references_->list_all(zarrcore::join_path(prefix_, prefix), max_count);
}

bool ReferenceStore::has_below(std::string_view prefix) const {
  return references_->has_below(zarrcore::join_path(prefix_, prefix));
}

}  // namespace gdal_zarr
