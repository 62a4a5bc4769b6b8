#include "driver/stores/references/reference_store.h"

#include <vector>

#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

using zarrcore::Buffer;
using zarrcore::ByteRange;

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
    if (auto value = neighbours_.take(*reference, max_size)) return value;
    return targets_.get(*reference, max_size);
  }
  zarrcore::check_value_size(reference->value.size(), max_size);
  return std::move(reference->value);
}

std::shared_ptr<void> ReferenceStore::expect(std::span<const std::string_view> keys) {
  std::vector<Reference> parts;
  for (const std::string_view key : keys) {
    std::optional<Reference> reference;
    try {
      reference = locate(key);
    } catch (const zarrcore::Error&) {
      // Reading the value reports it.
    }
    if (!reference || reference->target.empty()) continue;
    // Files have one protocol.
    if (parts.empty() && !is_network_path(reference->target)) return nullptr;
    is_on_network_ = true;
    parts.push_back(*std::move(reference));
  }
  return neighbours_.expect(std::move(parts));
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

zarrcore::StoreTraits ReferenceStore::traits() const {
  return {.parallel_requests = is_on_network_ ? parallel_network_requests() : 1,
          .read_only_reason = "it consists of references to values in other files"};
}

bool ReferenceStore::has_below(std::string_view prefix) const {
  return references_->has_below(zarrcore::join_path(prefix_, prefix));
}

}  // namespace gdal_zarr
