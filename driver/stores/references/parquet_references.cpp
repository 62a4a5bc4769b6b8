#include "driver/stores/references/parquet_references.h"

#include <unordered_map>

#include "driver/stores/references/parquet/parquet_file.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/documents.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;
using zarrcore::Json;

constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxTableFileBytes = std::uint64_t{256} << 20;
constexpr std::string_view kArrayDocument = ".zarray";

// The text of a member of the object `json`; empty if the member does not exist.
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

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{256} << 20;

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Some writers store the text that encodes bytes in JSON ("base64:…").
Buffer inline_value(ByteSpan raw) {
  constexpr std::string_view kBase64 = "base64:";
  if (text_of(raw).starts_with(kBase64)) {
    const auto bytes = zarrcore::decode_base64(text_of(raw).substr(kBase64.size()));
    if (bytes) return Buffer::copy_of(*bytes);
  }
  return Buffer::copy_of(raw);
}

std::uint64_t checked_number(std::int64_t number, const char* name) {
  if (number < 0) throw Error(std::string(name) + " is " + std::to_string(number));
  return static_cast<std::uint64_t>(number);
}

std::int64_t stored_number(std::uint64_t number) {
  if (number > INT64_MAX) throw Error(std::to_string(number) + " does not fit 63 bits");
  return static_cast<std::int64_t>(number);
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

}  // namespace

void ReferenceTable::count_bytes(std::uint64_t bytes) {
  byte_count_ += bytes;
  if (byte_count_ > kMaxTableBytes) {
    throw Error("its references take more than " + std::to_string(kMaxTableBytes) + " bytes");
  }
}

ReferenceTable ReferenceTable::read(ByteSpan file) {
  const ParquetFooter footer = read_parquet_footer(file);
  const auto numbers = [&](std::string_view name) {
    auto column = read_parquet_column(file, footer, name, ParquetKind::numbers);
    if (!column) throw Error("it has no column " + std::string(name));
    return *std::move(column);
  };
  ReferenceTable table;
  const auto paths = read_parquet_column(file, footer, "path", ParquetKind::texts);
  const auto values = read_parquet_column(file, footer, "raw", ParquetKind::texts);
  if (!paths && !values) throw Error("it has neither a column path nor a column raw");
  ParquetValues offsets;
  ParquetValues sizes;
  if (paths) {
    offsets = numbers("offset");
    sizes = numbers("size");
  }
  table.count_bytes(footer.row_count * sizeof(Row));
  table.rows_.resize(footer.row_count);
  std::unordered_map<std::string_view, std::uint32_t> known_paths;
  for (std::uint64_t i = 0; i < table.rows_.size(); ++i) {
    Row& row = table.rows_[i];
    if (values && !values->is_null[i]) {
      table.values_.push_back(inline_value(values->texts[i]));
      table.count_bytes(sizeof(Buffer) + table.values_.back().size());
      row.value = static_cast<std::uint32_t>(table.values_.size());
      continue;
    }
    // Some writers store an empty text instead of no path.
    if (!paths || paths->is_null[i] || paths->texts[i].empty()) continue;
    const std::string_view path = text_of(paths->texts[i]);
    const auto number = static_cast<std::uint32_t>(table.paths_.size() + 1);
    const auto [it, is_new] = known_paths.emplace(path, number);
    if (is_new) {
      table.count_bytes(sizeof(std::string) + path.size());
      table.paths_.emplace_back(path);
    }
    row = {it->second, 0, offsets.numbers[i], sizes.numbers[i]};
  }
  return table;
}

bool ReferenceTable::has(std::uint64_t row) const {
  return row < rows_.size() && (rows_[row].value != 0 || rows_[row].path != 0);
}

std::optional<Reference> ReferenceTable::find(std::uint64_t row_number) const {
  if (!has(row_number)) return std::nullopt;
  const Row& row = rows_[row_number];
  Reference reference;
  if (row.value != 0) {
    reference.value = Buffer::copy_of(values_[row.value - 1].span());
    return reference;
  }
  reference.target = paths_[row.path - 1];
  reference.offset = checked_number(row.offset, "offset");
  const std::uint64_t size = checked_number(row.size, "size");
  if (row.offset != 0 || size != 0) reference.length = size;
  return reference;
}

std::string write_reference_table(const std::vector<std::optional<Reference>>& rows) {
  std::vector<std::optional<std::string_view>> paths(rows.size());
  std::vector<std::optional<std::string_view>> values(rows.size());
  std::vector<std::int64_t> offsets(rows.size());
  std::vector<std::int64_t> sizes(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    const Reference& reference = *rows[i];
    if (reference.target.empty()) {
      values[i] = reference.value.text();
      continue;
    }
    paths[i] = reference.target;
    if (!reference.length) {
      if (reference.offset != 0) throw Error("an offset without a length cannot be stored");
      continue;
    }
    offsets[i] = stored_number(reference.offset);
    sizes[i] = stored_number(*reference.length);
    // Both zero mean the whole file.
    if (offsets[i] == 0 && sizes[i] == 0) {
      paths[i].reset();
      values[i] = std::string_view();
    }
  }
  ParquetWriter writer(rows.size());
  writer.add_texts("path", paths, ParquetWriter::Texts::utf8);
  writer.add_numbers("offset", offsets);
  writer.add_numbers("size", sizes);
  writer.add_texts("raw", values, ParquetWriter::Texts::bytes);
  return writer.finish();
}

ChunkNumbers::ChunkNumbers(std::string_view document) {
  const Json array = zarrcore::parse_json(document);
  const Json* chunks = zarrcore::find_member(array, "chunks");
  if (zarrcore::find_member(array, "shape") == nullptr || chunks == nullptr) {
    throw Error("\"shape\" or \"chunks\" is missing");
  }
  const auto shape = zarrcore::parse_shape(array);
  const auto chunk_shape = zarrcore::as_unsigned_list(*chunks, "\"chunks\"");
  if (shape.size() != chunk_shape.size()) throw Error("\"shape\" and \"chunks\" differ in length");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (chunk_shape[i] == 0) throw Error("\"chunks\" holds a zero");
    counts_.push_back(zarrcore::ceil_divide(shape[i], chunk_shape[i]));
  }
  const auto count = zarrcore::checked_product(counts_);
  if (!count) throw Error("the array has more chunks than can be counted");
  count_ = *count;
  const Json* separator = zarrcore::find_member(array, "dimension_separator");
  if (separator != nullptr && *separator == "/") separator_ = '/';
}

std::optional<std::uint64_t> ChunkNumbers::find(std::string_view place) const {
  if (counts_.empty()) return place == "0" ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::uint64_t number = 0;
  std::string_view rest = place;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto index = zarrcore::take_number<std::uint64_t>(rest);
    const bool is_last = i + 1 == counts_.size();
    const bool is_separated =
        is_last ? rest.empty() : rest.starts_with('.') || rest.starts_with('/');
    if (!index || !is_separated || *index >= counts_[i]) return std::nullopt;
    if (!is_last) rest.remove_prefix(1);
    number = number * counts_[i] + *index;  // less than count_
  }
  return number;
}

std::optional<ChunkNumbers::Level> ChunkNumbers::find_level(std::string_view prefix) const {
  if (separator_ == '.' || counts_.size() < 2) {
    return prefix.empty() ? std::optional<Level>(Level{0, count_, true}) : std::nullopt;
  }
  Level level;
  std::size_t dimension = 0;
  for (; !prefix.empty(); ++dimension) {
    const auto index = zarrcore::take_number<std::uint64_t>(prefix);
    if (!index || dimension + 1 >= counts_.size() || *index >= counts_[dimension]) {
      return std::nullopt;
    }
    level.first = (level.first + *index) * counts_[dimension + 1];
    if (prefix.empty()) continue;
    if (!prefix.starts_with('/')) return std::nullopt;
    prefix.remove_prefix(1);
    if (prefix.empty()) return std::nullopt;
  }
  level.count = counts_[dimension];
  level.is_last = dimension + 1 == counts_.size();
  return level;
}

std::string ChunkNumbers::name_of(std::uint64_t number) const {
  if (counts_.empty()) return "0";
  if (separator_ == '/') return std::to_string(number % counts_.back());
  std::vector<std::uint64_t> indexes(counts_.size());
  for (std::size_t i = counts_.size(); i-- > 0; number /= counts_[i]) {
    indexes[i] = number % counts_[i];
  }
  return zarrcore::shape_text(indexes, ".");
}

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
  const auto version = files_.version ? files_.version(file) : std::nullopt;
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

zarrcore::DirectoryListing ParquetReferences::list(std::string_view prefix,
                                                   std::uint64_t max_chunks) const {
  zarrcore::DirectoryListing listing = documents_->list(prefix, max_chunks);
  if (max_chunks == 0) return listing;
  const auto place = find_array(prefix);
  if (!place) return listing;
  std::shared_ptr<const ReferenceTable> current;
  std::uint64_t record = 0;
  const auto exists = [&](std::uint64_t number) {
    if (!current || record != number / record_size_) current = table(place->array, number);
    record = number / record_size_;
    return current->has(number % record_size_);
  };
  place->chunks->list(place->chunk, max_chunks, exists, listing);
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
  files.read = [folder](const std::string& file) {
    return read_table_file(join_vsi_path(folder, file));
  };
  // On the network it would take a request.
  if (!is_network_path(folder)) {
    files.version = [folder](const std::string& file) {
      return find_file_version(join_vsi_path(folder, file));
    };
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
