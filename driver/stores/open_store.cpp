#include "driver/stores/open_store.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <string_view>

#include "driver/stores/connection_string.h"
#include "driver/stores/foreign_stores.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/references/json_references.h"
#include "driver/stores/references/parquet_references.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zip_archive.h"
#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/icechunk_store.h"  // IWYU pragma: keep, a Store
#include "zarrcore/store/listed_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// How much of a file is read to decide whether it is a document of references.
constexpr int kMaxSniffedBytes = 1 << 20;

std::shared_ptr<zarrcore::Store> listed(std::shared_ptr<zarrcore::Store> store, bool lists_chunks) {
  if (!lists_chunks) return store;
  return std::make_shared<zarrcore::ListedStore>(std::move(store));
}

std::shared_ptr<zarrcore::Store> make_folder_store(const std::string& folder) {
  auto store = make_store(folder);
  if (!folder.starts_with(kVsiZip)) return store;
  std::optional<ZipTarget> target;
  try {
    target = parse_zip_target(folder);
  } catch (const Error&) {
    // Only GDAL can determine where the name of the archive ends.
  }
  return target ? with_last_entries(std::move(store), *target) : std::move(store);
}

}  // namespace

bool is_json_references(const std::string& path) {
  // Reading the start of files on the network would cost too much.
  if (EQUAL(CPLGetExtension(without_query(path).c_str()), "json")) return is_file(path);
  if (is_network_path(path) || !is_file(path)) return false;
  const File file = open_file(path);
  if (!file) return false;
  const std::uint64_t size = file_size(file.get());
  const auto start = read_bytes(file.get(), 0, std::min<std::uint64_t>(size, kMaxSniffedBytes));
  return is_reference_document(start.text(), start.size() == size).value_or(false);
}

std::unique_ptr<zarrcore::Hierarchy> open_hierarchy(const std::string& path, bool lists_chunks,
                                                    const zarrcore::HierarchyOptions& options,
                                                    const std::optional<ProbedFolder>& known) {
  const auto open = [&](std::shared_ptr<zarrcore::Store> store) {
    return std::make_unique<zarrcore::Hierarchy>(std::move(store), options);
  };
  if (known && known->path == path) {
    zarrcore::HierarchyOptions with_documents = options;
    with_documents.root_documents = known->documents;
    with_documents.lists_root = false;
    with_documents.root_listing = known->listing;
    return std::make_unique<zarrcore::Hierarchy>(listed(known->store, lists_chunks),
                                                 std::move(with_documents));
  }
  if (has_reference_prefix(path))
    return open(open_reference_store(parse_reference_path(path), ReferenceCheck::strict));
  if (has_icechunk_prefix(path)) {
    const IcechunkPath repository = parse_icechunk_path(path);
    zarrcore::HierarchyOptions of_repository = options;
    of_repository.empty_is_group = repository.key.empty();  // before its first commit
    return std::make_unique<zarrcore::Hierarchy>(open_icechunk(repository),
                                                 std::move(of_repository));
  }
  const auto zipped = find_zipped_store(path);
  if (!zipped && is_sqlite_store(path)) return open(open_sqlite_store(path));
  if (!zipped && is_json_references(path)) {
    return open(open_reference_store({ReferenceKind::json, path}, ReferenceCheck::lenient));
  }
  const std::string folder = zipped.value_or(path);
  if (options.is_writable && folder.starts_with(kVsiZip)) {
    const auto target = parse_zip_target(folder);
    if (target && VSIIsLocal(target->archive.c_str())) return open(open_zip_store(folder, *target));
  }
  try {
    return open(listed(make_folder_store(folder), lists_chunks));
  } catch (const Error&) {
    // Checked last, so that opening an ordinary store never pays for it.
    const bool is_parquet = has_parquet_references(folder);
    if (!is_parquet && is_icechunk_folder(folder)) {
      if (!options.is_writable) return open(open_icechunk({folder}));
      throw Error(folder + " is an Icechunk repository, which ICECHUNK:" + folder +
                  " opens for update");
    }
    if (!is_parquet && is_xcube_pyramid(folder)) {
      return open(listed(open_xcube_pyramid(make_store(folder)), lists_chunks));
    }
    if (!is_parquet) throw;
  }
  return open(open_reference_store({ReferenceKind::parquet, folder}, ReferenceCheck::lenient));
}

std::shared_ptr<zarrcore::Store> make_new_store(const std::string& path) {
  const auto archive = parse_zip_target(path);
  return archive ? make_zip_store(path, *archive) : make_store(path);
}

bool is_new_folder(const std::string& name) {
  return !name.starts_with("/vsi") && !has_prefix(name) && !has_file_scheme(name) &&
         !is_icechunk_name(name) && !parse_zip_target(name);
}

std::string path_of_cached_references(const std::string& path) {
  const auto named = [](const std::string& document, const std::string& key) {
    return std::string(kCachedReferencePrefix) + '{' + document + '}' +
           (key.empty() ? key : '/' + key);
  };
  if (has_reference_prefix(path)) {
    const ReferencePath parts = parse_reference_path(path);
    return parts.kind == ReferenceKind::json ? named(parts.document, parts.key) : path;
  }
  return is_json_references(path) ? named(path, "") : path;
}

std::string store_name(const std::string& path) {
  std::string file = CPLGetFilename(without_query(path).c_str());
  if (file.ends_with('}')) file.pop_back();
  std::string name = CPLGetBasename(file.c_str());
  if (is_zip_name(file) && EQUAL(CPLGetExtension(name.c_str()), "zarr")) {
    name = CPLGetBasename(std::string(name).c_str());
  }
  return name.empty() ? "array" : name;
}

bool is_packed_store(GDALOpenInfo* info) {
  const auto header = [info] {
    return std::string_view(reinterpret_cast<const char*>(info->pabyHeader),
                            static_cast<std::size_t>(info->nHeaderBytes));
  };
  if (is_zip_name(info->pszFilename) && (info->bIsDirectory || header().starts_with("PK\3\4"))) {
    try {
      return find_zipped_store(info->pszFilename).has_value();
    } catch (const Error&) {
      return true;  // open() reports the problem
    }
  }
  if (is_sqlite_store(info)) return true;
  const auto is_complete = [&] { return info->nHeaderBytes < 1024; };
  auto result = is_reference_document(header(), is_complete());
  if (!result && info->TryToIngest(kMaxSniffedBytes)) {
    result = is_reference_document(header(), info->nHeaderBytes < kMaxSniffedBytes);
  }
  return result.value_or(false);
}

}  // namespace gdal_zarr
