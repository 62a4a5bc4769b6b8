#include "driver/stores/references/reference_store.h"

#include <cpl_string.h>

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/stores/references/json_references.h"
#include "driver/stores/references/parquet_references.h"
#include "driver/stores/references/store_file_system.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/lru_cache.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;

constexpr std::array<std::pair<std::string_view, ReferenceKind>, 3> kPrefixes{
    {{"/vsikerchunk_json_ref/", ReferenceKind::json},
     {kCachedReferencePrefix, ReferenceKind::cached_json},
     {"/vsikerchunk_parquet_ref/", ReferenceKind::parquet}}};

// Where the name after the prefix is divided.
struct Division {
  std::string_view document;
  std::string_view rest;  // the key, mostly with a slash before it
};

std::optional<Division> divide_at_braces(std::string_view name) {
  const auto end = closing_brace(name);
  if (!end) return std::nullopt;
  return Division{name.substr(1, *end - 1), name.substr(*end + 1)};
}

// After the first ".json" that ends a segment; after the first that is a file, if there are more.
// Else after one with another extension: GDAL looks for x.json.aux.xml.
std::optional<Division> divide_at_extension(std::string_view name) {
  constexpr std::string_view kExtension = ".json";
  std::optional<Division> first;
  std::optional<Division> other;
  const std::string lower = zarrcore::lower_case(name);
  for (auto at = lower.find(kExtension); at != std::string::npos;
       at = lower.find(kExtension, at + 1)) {
    const std::size_t end = at + kExtension.size();
    const Division division{name.substr(0, end), name.substr(end)};
    if (end < name.size() && name[end] != '/') {
      if (name[end] == '.') other = division;
      continue;
    }
    if (end == name.size() && !first) return division;
    if (is_file(std::string(division.document))) return division;
    if (!first) first = division;
  }
  return first ? first : other;
}

constexpr std::uint64_t kMaxCachedDocuments = std::uint64_t{512} << 20;  // in bytes
struct CachedReferences {
  FileVersion version;
  std::size_t content_hash = 0;
  std::shared_ptr<const References> references;
  // True if other content may have the same version.
  mutable std::atomic<bool> is_ambiguous{false};
  mutable std::atomic<bool> is_checked{false};
};

using ReferenceCache = zarrcore::LruCache<CachedReferences>;

ReferenceCache& reference_cache() {
  static auto& cache = *new ReferenceCache(kMaxCachedDocuments);
  return cache;
}

Buffer read_document(const std::string& path) {
  const File file = open_file(path);
  if (!file) throw Error("this document of references does not exist");
  const std::uint64_t size = file_size(file.get());
  if (size > kMaxReferenceDocumentBytes) {
    throw Error("the document has " + std::to_string(size) + " bytes; the limit is " +
                std::to_string(kMaxReferenceDocumentBytes));
  }
  return read_bytes(file.get(), 0, size);
}

std::shared_ptr<const CachedReferences> find_or_read(ReferenceKind kind,
                                                     const std::string& document,
                                                     const std::string& file) {
  const std::string key = (kind == ReferenceKind::parquet ? "parquet " : "json ") + document;
  const auto version = find_file_version(file);
  auto cached = reference_cache().find(key);
  if (cached && version && cached->version == *version && !cached->is_ambiguous) return cached;
  // Determined before reading, so that a later change is noticed.
  const bool is_ambiguous = version && version->is_ambiguous();
  Buffer content = read_document(file);
  const std::size_t hash = std::hash<std::string_view>()(content.text());
  if (cached && version && cached->version == *version && cached->content_hash == hash) {
    cached->is_ambiguous = is_ambiguous;
    return cached;
  }
  auto read = std::make_shared<CachedReferences>();
  read->content_hash = hash;
  read->is_ambiguous = is_ambiguous;
  std::uint64_t bytes = 0;
  if (kind == ReferenceKind::parquet) {
    read->references = make_parquet_references(std::move(content), document);
    bytes = kMaxCachedTableBytes;
  } else {
    read->references = std::make_shared<const JsonReferences>(std::move(content));
  }
  if (!version) return read;
  read->version = *version;
  reference_cache().insert(key, read, bytes + read->references->byte_count());
  return read;
}

NamedValue open_named_value(const std::string& name) {
  ReferencePath path = parse_reference_path(name);
  std::string key = std::exchange(path.key, {});
  return {open_reference_store(path, ReferenceCheck::strict), std::move(key)};
}

}  // namespace

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
  if (!reference->target.empty()) return targets_.get(*reference, max_size);
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
  return targets_.expect(std::move(parts));
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
  return references_->list(zarrcore::join_path(prefix_, prefix), 0);
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
  return references_->list(zarrcore::join_path(prefix_, prefix), max_count);
}

zarrcore::StoreTraits ReferenceStore::traits() const {
  return {.parallel_requests = is_on_network_ ? parallel_network_requests() : 1,
          .read_only_reason = "it consists of references to values in other files"};
}

bool ReferenceStore::has_below(std::string_view prefix) const {
  return references_->has_below(zarrcore::join_path(prefix_, prefix));
}

bool has_reference_prefix(std::string_view name) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

ReferencePath parse_reference_path(const std::string& name) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    std::optional<Division> division;
    if (rest.starts_with('{')) {
      division = divide_at_braces(rest);
    } else if (kind != ReferenceKind::parquet) {
      division = divide_at_extension(rest);
    }
    if (!division || division->document.empty()) {
      throw Error(name + ": " + std::string(prefix) + " is followed by a path in braces, as in " +
                  std::string(prefix) + "{path}/group" +
                  (kind == ReferenceKind::parquet ? "" : ", or by a path that ends in .json"));
    }
    std::string_view key = division->rest;
    while (key.starts_with('/')) key.remove_prefix(1);
    return {kind, std::string(division->document),
            std::string(zarrcore::without_trailing(key, '/'))};
  }
  throw Error(name + " does not name references");
}

std::shared_ptr<const References> open_references(ReferenceKind kind, const std::string& document,
                                                  ReferenceCheck check) {
  const std::string file =
      kind == ReferenceKind::parquet ? join_vsi_path(document, kReferenceMetadata) : document;
  return zarrcore::with_context(file, [&] {
    const auto cached = find_or_read(kind, document, file);
    if (check == ReferenceCheck::strict && !cached->is_checked) {
      cached->references->check();
      cached->is_checked = true;
    }
    return cached->references;
  });
}

std::shared_ptr<ReferenceStore> open_reference_store(const ReferencePath& path,
                                                     ReferenceCheck check) {
  const bool uses_cache = path.kind == ReferenceKind::cached_json ||
                          (path.kind == ReferenceKind::json &&
                           CPLTestBool(config_option(ConfigOption::use_reference_cache)));
  const auto copy = uses_cache ? cached_copy(path.document) : std::nullopt;
  return std::make_shared<ReferenceStore>(
      copy ? open_references(ReferenceKind::parquet, *copy, check)
           : open_references(path.kind, path.document, check),
      path.document, zarrcore::normalize_path(path.key));
}

void install_reference_file_systems() {
  for (const auto& [prefix, kind] : kPrefixes) install_store_file_system(prefix, open_named_value);
}

}  // namespace gdal_zarr
