// Turns Kerchunk references in JSON into references in Parquet files, also in a folder of the user.
#include <cpl_conv.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/stores/references/json_references.h"
#include "driver/stores/references/parquet_references.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr std::uint64_t kMaxDocumentSize = std::uint64_t{64} << 20;

// An array and its chunks that have a reference, by their numbers.
struct ReferencedArray {
  explicit ReferencedArray(std::string_view document) : numbers(document) {}

  ChunkNumbers numbers;
  std::vector<std::pair<std::uint64_t, std::string_view>> keys;
};

class ReferenceConversion {
 public:
  ReferenceConversion(const std::string& document, const std::string& folder)
      : references_(open_references(ReferenceKind::json, document, ReferenceCheck::strict)),
        json_(dynamic_cast<const JsonReferences&>(*references_)),
        values_(references_, absolute_path(document)),
        is_beside_(CPLGetPath(absolute_path(document).c_str()) ==
                   std::string(CPLGetPath(absolute_path(folder).c_str()))),
        store_(make_store(folder)) {}

  bool run(const std::function<bool(double)>& progress);

 private:
  void add_document(std::string_view key);
  void add_chunk(std::string_view key);
  void put_record(const std::string& array, std::uint64_t record,
                  std::span<const std::pair<std::uint64_t, std::string_view>> keys);
  Reference reference_of(std::string_view key) const;

  std::shared_ptr<const References> references_;
  const JsonReferences& json_;
  ReferenceStore values_;
  bool is_beside_;
  std::shared_ptr<zarrcore::Store> store_;
  std::string metadata_;  // the members of the object
  std::map<std::string, ReferencedArray, std::less<>> arrays_;
};

bool is_document_key(std::string_view key) {
  const std::string_view name = zarrcore::last_segment(key);
  return name == ".zarray" || name == ".zgroup" || name == ".zattrs";
}

void ReferenceConversion::add_document(std::string_view key) {
  const auto value = values_.get(key, kMaxDocumentSize);
  const zarrcore::Json json = zarrcore::parse_json(value->text());
  if (!json.is_object()) throw Error("it is not a JSON object");
  if (!metadata_.empty()) metadata_ += ',';
  metadata_ += zarrcore::dump_json(std::string(key)) + ':';
  metadata_ += value->text();
  if (zarrcore::last_segment(key) == ".zarray") {
    arrays_.emplace(zarrcore::parent_path(key), ReferencedArray(value->text()));
  }
}

void ReferenceConversion::add_chunk(std::string_view key) {
  for (std::string_view path = zarrcore::parent_path(key);; path = zarrcore::parent_path(path)) {
    if (const auto it = arrays_.find(path); it != arrays_.end()) {
      const auto number = it->second.numbers.find(key.substr(path.empty() ? 0 : path.size() + 1));
      if (number) {
        it->second.keys.emplace_back(*number, key);
        return;
      }
    }
    if (path.empty()) break;
  }
  throw Error("it is not a chunk of an array of Zarr version 2, as references in Parquet must be");
}

Reference ReferenceConversion::reference_of(std::string_view key) const {
  auto reference = values_.find(key);
  // URLs stay as they are: this GDAL may not know their protocols.
  const bool is_url = reference->target.find("://") != std::string::npos;
  return is_beside_ || is_url ? *std::move(reference) : values_.resolved(*std::move(reference));
}

void ReferenceConversion::put_record(
    const std::string& array, std::uint64_t record,
    std::span<const std::pair<std::uint64_t, std::string_view>> keys) {
  // As fsspec writes them, all records have the same number of rows.
  std::vector<std::optional<Reference>> rows(kRecordSize);
  for (const auto& [number, key] : keys) {
    zarrcore::with_context(
        {key}, [&, row = number % kRecordSize, name = key] { rows[row] = reference_of(name); });
  }
  const std::string file = write_reference_table(rows);
  store_->put(zarrcore::join_path(array, "refs." + std::to_string(record) + ".parq"),
              std::as_bytes(std::span(file)));
}

bool ReferenceConversion::run(const std::function<bool(double)>& progress) {
  json_.for_each_key([this](std::string_view key) {
    if (is_document_key(key)) zarrcore::with_context({key}, [&] { add_document(key); });
  });
  std::uint64_t chunk_count = 0;
  json_.for_each_key([&](std::string_view key) {
    if (is_document_key(key) || key == kReferenceMetadata) return;
    zarrcore::with_context({key}, [&] { add_chunk(key); });
    ++chunk_count;
  });
  std::uint64_t done = 0;
  for (auto& [path, array] : arrays_) {
    std::sort(array.keys.begin(), array.keys.end());
    for (auto start = array.keys.begin(); start != array.keys.end();) {
      const std::uint64_t record = start->first / kRecordSize;
      const auto end = std::find_if(start, array.keys.end(), [&](const auto& key) {
        return key.first / kRecordSize != record;
      });
      put_record(path, record, {start, end});
      done += static_cast<std::uint64_t>(end - start);
      start = end;
      if (!progress(static_cast<double>(done) / static_cast<double>(chunk_count))) return false;
    }
  }
  // Last: with it the folder is complete.
  const std::string document =
      "{\"metadata\":{" + metadata_ + "},\"record_size\":" + std::to_string(kRecordSize) + '}';
  store_->put(kReferenceMetadata, std::as_bytes(std::span(document)));
  return progress(1.0);
}

std::string cache_folder() {
  if (const char* folder = config_option(ConfigOption::reference_cache_dir)) return folder;
  const char* home = CPLGetHomeDir();
  if (home == nullptr) throw Error("there is no home folder; set VSIKERCHUNK_CACHE_DIR");
  return std::string(home) + "/.gdal/zarr_kerchunk_cache";
}

// The name of the copy, which differs for documents of the same name and for their versions.
std::string copy_name(const std::string& document) {
  const auto version = find_file_version(document);
  if (!version) throw Error("the document does not exist");
  return std::string(CPLGetBasename(document.c_str())) + '_' +
         std::to_string(std::hash<std::string>()(document)) + '_' + std::to_string(version->size) +
         '_' + std::to_string(version->seconds) + ".parq";
}

bool is_complete(const std::string& folder) {
  return path_exists(folder + '/' + std::string(kReferenceMetadata));
}

std::string find_or_make_copy(const std::string& document) {
  const std::string folder = cache_folder();
  const std::string copy = folder + '/' + copy_name(document);
  if (is_complete(copy)) return copy;
  {
    const VsiCall call;
    if (!is_folder(folder) && VSIMkdirRecursive(folder.c_str(), 0755) != 0) {
      throw Error("the folder " + folder + " cannot be created");
    }
  }
  // Others may make the same copy at the same time: the first one stays.
  const std::string temporary = partial_path(copy);
  convert_references(document, temporary, [](double /*done*/) { return true; });
  const VsiCall call;
  if (VSIRename(temporary.c_str(), copy.c_str()) == 0) return copy;
  VSIRmdirRecursive(temporary.c_str());
  if (!is_complete(copy)) throw Error("the folder " + copy + " cannot be created");
  return copy;
}

}  // namespace

bool convert_references(const std::string& document, const std::string& folder,
                        const std::function<bool(double)>& progress) {
  const auto remove = [&] {
    const VsiCall call;
    VSIRmdirRecursive(folder.c_str());
  };
  try {
    if (ReferenceConversion(document, folder).run(progress)) return true;
  } catch (...) {
    remove();
    throw;
  }
  remove();
  return false;
}

std::optional<std::string> cached_copy(const std::string& document) {
  try {
    return find_or_make_copy(document);
  } catch (const std::exception& exception) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s cannot be cached as references in Parquet: %s",
           document.c_str(), exception.what());
    return std::nullopt;
  }
}

}  // namespace gdal_zarr
