#include "driver/stores/references/parquet_references.h"

#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxTableFileBytes = std::uint64_t{256} << 20;
constexpr std::string_view kArrayDocument = ".zarray";

// The text of a member of the object `json`; empty if there is none.
std::string_view member_text(std::string_view json, std::string_view name) {
  std::string_view found;
  for (zarrcore::JsonMembers members(json); members.next();) {
    if (members.raw_key() == name) found = members.value();
  }
  return found;
}

bool is_reference_metadata(std::string_view text) {
  try {
    return !member_text(text, "record_size").empty();
  } catch (const Error&) {
    return false;  // reading it as metadata reports the problem
  }
}

ReferenceTable read_table_file(const std::string& path) {
  return zarrcore::with_context(path, [&]() -> ReferenceTable {
    const File file = open_file(path);
    if (!file) return {};
    const std::uint64_t size = file_size(file.get());
    if (size > kMaxTableFileBytes) {
      throw Error("the file has " + std::to_string(size) + " bytes; the limit is " +
                  std::to_string(kMaxTableFileBytes));
    }
    return ReferenceTable::read(read_bytes(file.get(), 0, size).span());
  });
}

// Empty if the file does not exist.
std::string file_version(const std::string& path) {
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatL(path.c_str(), &status) != 0) return {};
  return std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtime);
}

}  // namespace

ParquetReferences::ParquetReferences(Buffer metadata, Files files)
    : files_(std::move(files)), tables_(kMaxCachedTableBytes) {
  const std::string_view documents = member_text(metadata.text(), "metadata");
  const std::string_view record_size = member_text(metadata.text(), "record_size");
  if (!documents.starts_with('{')) throw Error("\"metadata\" is not an object");
  if (record_size.empty()) throw Error("\"record_size\" is missing");
  record_size_ = zarrcore::as_unsigned(zarrcore::parse_json(record_size), "\"record_size\"");
  if (record_size_ == 0) throw Error("\"record_size\" is zero");
  // In version 0 of the JSON format, a document of references is an object of values by key, as
  // here.
  documents_ =
      std::make_unique<JsonReferences>(Buffer::copy_of(documents), JsonReferences::Version::zero);
}

std::shared_ptr<const ReferenceTable> ParquetReferences::table(std::string_view array,
                                                               std::uint64_t number) const {
  const std::string file =
      zarrcore::join_path(array, "refs." + std::to_string(number / record_size_) + ".parq");
  const std::string version = files_.version ? files_.version(file) : std::string();
  const auto find_cached = [&]() -> std::shared_ptr<const ReferenceTable> {
    auto cached = tables_.find(file);
    if (!cached || cached->version != version) return nullptr;
    return {cached, &cached->table};
  };
  if (auto cached = find_cached()) return cached;
  const std::lock_guard lock(reading_);
  if (auto cached = find_cached()) return cached;
  auto read = std::make_shared<const VersionedTable>(VersionedTable{version, files_.read(file)});
  tables_.insert(file, read, read->table.byte_count());
  return {read, &read->table};
}

std::shared_ptr<const ChunkNumbers> ParquetReferences::chunk_numbers(std::string_view array) const {
  const std::lock_guard lock(arrays_mutex_);
  if (const auto it = arrays_.find(array); it != arrays_.end()) return it->second;
  std::shared_ptr<const ChunkNumbers> chunks;
  if (const auto document = documents_->find(zarrcore::join_path(array, kArrayDocument))) {
    chunks = zarrcore::with_context({zarrcore::join_path(array, kArrayDocument)}, [&] {
      return std::make_shared<const ChunkNumbers>(document->value.text());
    });
    arrays_.emplace(array, chunks);
  }
  return chunks;
}

// The nearest array above or at `key`.
std::optional<ParquetReferences::Place> ParquetReferences::find_array(std::string_view key) const {
  for (std::string_view array = key;; array = zarrcore::parent_path(array)) {
    if (auto chunks = chunk_numbers(array)) {
      const std::size_t start = array.empty() || array == key ? array.size() : array.size() + 1;
      return Place{array, key.substr(start), std::move(chunks)};
    }
    if (array.empty()) return std::nullopt;
  }
}

std::optional<Reference> ParquetReferences::find(std::string_view key) const {
  if (auto document = documents_->find(key)) return document;
  if (zarrcore::last_segment(key).starts_with('.')) return std::nullopt;
  const auto place = find_array(key);
  const auto number = place ? place->chunks->find(place->chunk) : std::nullopt;
  if (!number) return std::nullopt;
  return table(place->array, *number)->find(*number % record_size_);
}

zarrcore::DirectoryListing ParquetReferences::list(std::string_view prefix) const {
  return documents_->list(prefix);
}

zarrcore::DirectoryListing ParquetReferences::list_all(std::string_view prefix,
                                                       std::uint64_t max_count) const {
  zarrcore::DirectoryListing listing = documents_->list(prefix);
  const auto place = find_array(prefix);
  if (!place) return listing;
  std::shared_ptr<const ReferenceTable> current;
  std::uint64_t record = 0;
  const auto exists = [&](std::uint64_t number) {
    if (!current || record != number / record_size_) current = table(place->array, number);
    record = number / record_size_;
    return current->has(number % record_size_);
  };
  place->chunks->list(place->chunk, max_count, exists, listing);
  return listing;
}

bool ParquetReferences::has_below(std::string_view prefix) const {
  if (documents_->has_below(prefix)) return true;
  const auto place = find_array(prefix);
  return place && place->chunks->has_level(place->chunk);
}

void ParquetReferences::check() const {
  documents_->for_each_key([this](std::string_view key) {
    zarrcore::with_context({key}, [&] {
      if (!documents_->find(key)->value.text().starts_with('{')) throw Error("not a JSON object");
    });
    if (zarrcore::last_segment(key) == kArrayDocument) chunk_numbers(zarrcore::parent_path(key));
  });
}

std::uint64_t ParquetReferences::byte_count() const {
  return documents_->byte_count() + tables_.byte_count();
}

std::unique_ptr<References> make_parquet_references(Buffer metadata, const std::string& folder) {
  ParquetReferences::Files files;
  files.read = [folder](const std::string& file) { return read_table_file(folder + '/' + file); };
  // On the network it would take a request.
  if (!is_network_path(folder)) {
    files.version = [folder](const std::string& file) { return file_version(folder + '/' + file); };
  }
  return std::make_unique<ParquetReferences>(std::move(metadata), std::move(files));
}

bool has_parquet_references(const std::string& folder) {
  const auto store = make_store(folder);
  try {
    // In the order of the formats, so that this makes no requests that they would not make.
    if (store->get("zarr.json", kMaxMetadataBytes)) return false;
    const auto metadata = store->get(kReferenceMetadata, kMaxMetadataBytes);
    return metadata && is_reference_metadata(metadata->text());
  } catch (const Error&) {
    return false;  // reading it as metadata reports the problem
  }
}

}  // namespace gdal_zarr
