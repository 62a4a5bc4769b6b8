#include "driver/stores/references/cached_references.h"

#include <cpl_string.h>

#include <atomic>
#include <functional>
#include <optional>

#include "driver/gdal/config_options.h"
#include "driver/stores/references/json_references.h"
#include "driver/stores/references/parquet_references.h"
#include "driver/stores/references/reference_cache.h"
#include "driver/stores/vsi/file_version.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/lru_cache.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

constexpr std::uint64_t kMaxCachedDocuments = std::uint64_t{512} << 20;  // in bytes
struct CachedReferences {
  FileVersion version;
  std::size_t content_hash = 0;
  std::shared_ptr<const References> references;
  // Whether another content may have the same version.
  mutable std::atomic<bool> is_ambiguous{false};
  mutable std::atomic<bool> is_checked{false};
};

using ReferenceCache = zarrcore::LruCache<std::string, CachedReferences>;

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
  // Taken before reading: a change afterwards is found then.
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

}  // namespace

std::shared_ptr<const References> open_references(ReferenceKind kind, const std::string& document,
                                                  ReferenceCheck check) {
  const bool uses_cache = kind == ReferenceKind::cached_json ||
                          (kind == ReferenceKind::json &&
                           CPLTestBool(config_option(ConfigOption::use_reference_cache)));
  if (uses_cache) {
    if (const auto copy = cached_copy(document)) {
      return open_own_references(ReferenceKind::parquet, *copy, check);
    }
  }
  return open_own_references(kind, document, check);
}

std::shared_ptr<const References> open_own_references(ReferenceKind kind,
                                                      const std::string& document,
                                                      ReferenceCheck check) {
  const std::string file =
      kind == ReferenceKind::parquet ? document + "/" + std::string(kReferenceMetadata) : document;
  return zarrcore::with_context(file, [&] {
    const auto cached = find_or_read(kind, document, file);
    if (check == ReferenceCheck::strict && !cached->is_checked) {
      cached->references->check();
      cached->is_checked = true;
    }
    return cached->references;
  });
}

}  // namespace gdal_zarr
