#include "driver/stores/references/parquet_references.h"

#include <unordered_map>

#include "driver/gdal/compat.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/json_members.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Json;

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxCachedBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;
constexpr std::string_view kMetadataKey = ".zmetadata";

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

std::uint64_t unsigned_field(const OGRFeature& feature, int field, const char* name) {
  if (field < 0 || !feature.IsFieldSetAndNotNull(field)) return 0;
  const GIntBig value = feature.GetFieldAsInteger64(field);
  if (value < 0) throw Error(std::string(name) + " is " + std::to_string(value));
  return static_cast<std::uint64_t>(value);
}

// The number of a chunk in C order, by the part of its key below the array.
std::uint64_t chunk_number(const Json& array, std::string_view place) {
  const Json* shape = zarrcore::find_member(array, "shape");
  const Json* chunks = zarrcore::find_member(array, "chunks");
  if (shape == nullptr || chunks == nullptr) throw Error("\"shape\" or \"chunks\" is missing");
  const auto lengths = zarrcore::as_unsigned_list(*shape, "\"shape\"");
  const auto chunk_lengths = zarrcore::as_unsigned_list(*chunks, "\"chunks\"");
  if (lengths.size() != chunk_lengths.size()) {
    throw Error("\"shape\" and \"chunks\" differ in length");
  }
  const auto fail = [&] {
    return Error("\"" + std::string(place) + "\" is not a chunk of the array");
  };
  if (lengths.empty()) {
    if (place != "0") throw fail();
    return 0;
  }
  std::uint64_t number = 0;
  std::string_view rest = place;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (chunk_lengths[i] == 0) throw Error("\"chunks\" holds a zero");
    const std::uint64_t count = zarrcore::ceil_divide(lengths[i], chunk_lengths[i]);
    const auto index = zarrcore::take_number<std::uint64_t>(rest);
    const bool is_last = i + 1 == lengths.size();
    const bool is_separated =
        is_last ? rest.empty() : rest.starts_with('.') || rest.starts_with('/');
    if (!index || !is_separated || *index >= count) throw fail();
    if (!is_last) rest.remove_prefix(1);
    const auto scaled = zarrcore::checked_multiply(number, count);
    const auto next = scaled ? zarrcore::checked_add(*scaled, *index) : std::nullopt;
    if (!next) throw Error("the array has more chunks than can be counted");
    number = *next;
  }
  return number;
}

ReferenceTable read_parquet_file(const std::string& path) {
  // GDAL does not distinguish a missing file from an unreadable one.
  if (!open_file(path)) return {};
  const char* const drivers[] = {"PARQUET", nullptr};
  const std::unique_ptr<GDALDataset> dataset(GDALDataset::Open(
      path.c_str(), GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, drivers));
  if (!dataset || dataset->GetLayerCount() != 1) throw Error(path + ": cannot be read as Parquet");
  return zarrcore::with_context(path, [&] { return ReferenceTable::read(*dataset->GetLayer(0)); });
}

}  // namespace

ReferenceTable ReferenceTable::read(OGRLayer& layer) {
  const OGRFeatureDefn& fields = *layer.GetLayerDefn();
  const int path_field = fields.GetFieldIndex("path");
  const int offset_field = fields.GetFieldIndex("offset");
  const int size_field = fields.GetFieldIndex("size");
  const int raw_field = fields.GetFieldIndex("raw");
  if (path_field < 0 && raw_field < 0) throw Error("it has neither a column path nor a column raw");
  ReferenceTable table;
  std::unordered_map<std::string, std::size_t> known_paths;
  const auto add_bytes = [&table](std::size_t bytes) {
    table.byte_count_ += bytes;
    if (table.byte_count_ > kMaxTableBytes) {
      throw Error("its references take more than " + std::to_string(kMaxTableBytes) + " bytes");
    }
  };
  for (const auto& feature : layer) {
    Row row;
    add_bytes(sizeof(Row));
    if (raw_field >= 0 && feature->IsFieldSetAndNotNull(raw_field)) {
      if (fields.GetFieldDefn(raw_field)->GetType() == OFTBinary) {
        int size = 0;
        const GByte* bytes = feature->GetFieldAsBinary(raw_field, &size);
        table.values_.push_back(
            Buffer::copy_of(std::as_bytes(std::span(bytes, static_cast<std::size_t>(size)))));
      } else {
        table.values_.push_back(
            Buffer::copy_of(std::string_view(feature->GetFieldAsString(raw_field))));
      }
      add_bytes(sizeof(Buffer) + table.values_.back().size());
      row.value = table.values_.size();
    } else if (path_field >= 0 && feature->IsFieldSetAndNotNull(path_field)) {
      const std::string path = feature->GetFieldAsString(path_field);
      const auto [it, is_new] = known_paths.emplace(path, table.paths_.size() + 1);
      if (is_new) {
        add_bytes(sizeof(std::string) + path.size());
        table.paths_.push_back(path);
      }
      // Some writers store an empty text instead of no path.
      if (!path.empty()) row.path = it->second;
      row.offset = unsigned_field(*feature, offset_field, "offset");
      row.size = unsigned_field(*feature, size_field, "size");
    }
    table.rows_.push_back(row);
  }
  // The loop also ends on errors.
  if (const GIntBig count = layer.GetFeatureCount();
      count != static_cast<GIntBig>(table.rows_.size())) {
    throw Error("only " + std::to_string(table.rows_.size()) + " of " + std::to_string(count) +
                " rows could be read");
  }
  return table;
}

std::optional<Reference> ReferenceTable::find(std::uint64_t row_number) const {
  if (row_number >= rows_.size()) return std::nullopt;
  const Row& row = rows_[row_number];
  Reference reference;
  if (row.value != 0) {
    reference.value = Buffer::copy_of(values_[row.value - 1].span());
    return reference;
  }
  if (row.path == 0) return std::nullopt;
  reference.target = paths_[row.path - 1];
  reference.offset = row.offset;
  if (row.offset != 0 || row.size != 0) reference.length = row.size;
  return reference;
}

ParquetReferences::ParquetReferences(Buffer metadata, ReadTable read_table)
    : read_table_(std::move(read_table)), tables_(kMaxCachedBytes) {
  const std::string_view documents = member_text(metadata.text(), "metadata");
  const std::string_view record_size = member_text(metadata.text(), "record_size");
  if (!documents.starts_with('{')) throw Error("\"metadata\" is not an object");
  record_size_ = zarrcore::as_unsigned(zarrcore::parse_json(record_size), "\"record_size\"");
  if (record_size_ == 0) throw Error("\"record_size\" is zero");
  // In version 0 of the JSON format, a document of references is an object of values by key, as
  // here.
  documents_ = std::make_unique<JsonReferences>(Buffer::copy_of(documents));
}

std::shared_ptr<const ReferenceTable> ParquetReferences::table(const std::string& file) const {
  if (auto cached = tables_.find(file)) return cached;
  const std::lock_guard lock(reading_);
  if (auto cached = tables_.find(file)) return cached;
  auto table = std::make_shared<const ReferenceTable>(read_table_(file));
  tables_.insert(file, table, table->byte_count());
  return table;
}

std::optional<Reference> ParquetReferences::find(std::string_view key) const {
  if (auto document = documents_->find(key)) return document;
  const std::string_view name = zarrcore::last_segment(key);
  if (name.starts_with('.')) return std::nullopt;
  // The key is a chunk of the nearest array above.
  for (std::string_view array = zarrcore::parent_path(key);; array = zarrcore::parent_path(array)) {
    if (const auto document = documents_->find(zarrcore::join_path(array, ".zarray"))) {
      const std::string_view place = key.substr(array.empty() ? 0 : array.size() + 1);
      const std::uint64_t number =
          chunk_number(zarrcore::parse_json(document->value.text()), place);
      const std::string file = "refs." + std::to_string(number / record_size_) + ".parq";
      return table(zarrcore::join_path(array, file))->find(number % record_size_);
    }
    if (array.empty()) return std::nullopt;
  }
}

zarrcore::DirectoryListing ParquetReferences::list(std::string_view prefix) const {
  return documents_->list(prefix);
}

std::unique_ptr<References> read_parquet_references(const std::string& folder) {
  const auto store = make_store(folder);
  std::optional<Buffer> metadata;
  try {
    // In the order of the formats, so that this makes no requests that they would not make.
    if (store->get("zarr.json", kMaxMetadataBytes)) return nullptr;
    metadata = store->get(kMetadataKey, kMaxMetadataBytes);
  } catch (const Error&) {
    return nullptr;  // reading it as metadata reports the problem
  }
  if (!metadata || !is_reference_metadata(metadata->text())) return nullptr;
  if (GDALGetDriverByName("PARQUET") == nullptr) {
    throw Error(folder +
                ": its chunks are referenced from Parquet files, which this GDAL cannot read: it "
                "has no Parquet driver");
  }
  return zarrcore::with_context({folder, "/", kMetadataKey}, [&] {
    return std::make_unique<ParquetReferences>(
        std::move(*metadata),
        [folder](const std::string& file) { return read_parquet_file(folder + '/' + file); });
  });
}

}  // namespace gdal_zarr
