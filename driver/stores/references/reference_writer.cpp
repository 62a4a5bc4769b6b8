#include "driver/stores/references/reference_writer.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <random>
#include <utility>

#include "driver/stores/references/parquet_references.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Json;

constexpr const char* kChunksSuffix = ".chunks-";

// The value as a text of JSON, where bytes that are not ASCII are base64.
std::string json_value(const Buffer& value) {
  constexpr std::string_view kBase64 = "base64:";
  const std::string_view text = value.text();
  const bool is_text = !text.starts_with(kBase64) && std::ranges::all_of(text, [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  });
  if (is_text) return zarrcore::dump_json(std::string(text));
  return '"' + std::string(kBase64) + zarrcore::encode_base64(value.span()) + '"';
}

}  // namespace

std::vector<std::string> find_side_files(const std::string& path) {
  std::vector<std::string> files;
  const bool is_inside = is_folder(path);
  if (is_network_path(path) || (!is_inside && !(path.ends_with(".json") && is_file(path)))) {
    return files;
  }
  const std::string stem = is_inside ? path + '/' : path;
  const std::string folder = is_inside ? path : std::string(CPLGetPath(path.c_str()));
  const std::string start = stem.substr(stem.rfind('/') + 1) + kChunksSuffix;
  const CPLStringList names(VSIReadDir(folder.empty() ? "." : folder.c_str()));
  Buffer document;
  for (int i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (!name.starts_with(start)) continue;
    if (!is_inside && document.empty()) {
      const File file = open_file(path);
      if (file) document = read_bytes(file.get(), 0, file_size(file.get()));
    }
    // A document that had this name before may have left its own.
    const std::string_view suffix =
        name.substr(start.size() - std::string_view(kChunksSuffix).size());
    if (is_inside || document.text().find(suffix) != std::string_view::npos) {
      files.push_back(stem.substr(0, stem.rfind('/') + 1).append(name));
    }
  }
  return files;
}

ReferenceWriter::ReferenceWriter(ReferenceKind kind, const std::string& path, TargetNames names)
    : kind_(kind), path_(path), names_(names), targets_(absolute_path(path)) {}

ReferenceWriter::~ReferenceWriter() {
  beside_.reset();
  if (!beside_path_.empty() && !names_beside_) VSIUnlink(beside_path_.c_str());
}

// The name in the references of the file at a path for GDAL.
std::string ReferenceWriter::stored_name(const std::string& path) const {
  const std::string absolute = absolute_path(path);
  if (names_ == TargetNames::absolute) return url_of_path(absolute);
  const std::string folder = CPLGetPath(absolute_path(path_).c_str());
  const std::string relative = relative_path(absolute, folder);
  return relative.empty() ? url_of_path(absolute) : relative;
}

void ReferenceWriter::put_reference(std::string_view key, Reference reference) {
  Entry entry;
  const std::lock_guard lock(mutex_);
  if (reference.target.empty() || reference.length == 0) {
    entry.value = std::move(reference.value);
  } else {
    if (!reference.length) throw Error("a reference needs a length");
    entry.target = name_of(reference.target);
    entry.offset = reference.offset;
    entry.length = *reference.length;
  }
  put_entry(key, std::move(entry));
}

// The name, which stays where it is.
const std::string* ReferenceWriter::name_of(const std::string& target) {
  const auto known = target_names_.find(target);
  if (known != target_names_.end()) return &known->second;
  return &target_names_.emplace(target, stored_name(target)).first->second;
}

// Makes the value of the entry a part of the file beside the references.
void ReferenceWriter::put_beside(Entry& entry) {
  if (beside_path_.empty()) {
    if (kind_ == ReferenceKind::parquet) VSIMkdir(path_.c_str(), 0755);
    std::random_device random;
    const std::string name =
        std::string(kChunksSuffix) + CPLSPrintf("%08x%08x", random(), random());
    beside_path_ = path_ + (kind_ == ReferenceKind::parquet ? "/" : "") + name;
    beside_.reset(VSIFOpenL(beside_path_.c_str(), "wb"));
  }
  zarrcore::with_context({beside_path_}, [&] {
    const std::size_t size = entry.value.size();
    if (!beside_ || VSIFWriteL(entry.value.data(), 1, size, beside_.get()) != size) {
      throw Error("it cannot be written");
    }
  });
  entry.target = beside_name_ = name_of(beside_path_);
  entry.offset = std::exchange(beside_bytes_, beside_bytes_ + entry.value.size());
  entry.length = entry.value.size();
  entry.value = Buffer();
}

void ReferenceWriter::flush_beside() const {
  if (beside_ && VSIFFlushL(beside_.get()) != 0) {
    throw Error(beside_path_ + " cannot be written");
  }
}

// Readers have limits of the second size for what is not a reference.
void ReferenceWriter::put_entry(std::string_view key, Entry entry) {
  constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{16} << 20;
  constexpr std::uint64_t kMaxBytes = std::uint64_t{192} << 20;
  const auto found = entries_.find(key);
  const std::uint64_t old = found != entries_.end() ? found->second.value.size() : 0;
  if (value_bytes_ - old + entry.value.size() > kMaxChunkBytes && entry.target == nullptr &&
      !zarrcore::is_document_name(zarrcore::last_segment(key)) && !is_network_path(path_)) {
    put_beside(entry);
  }
  if (entry.value.size() > kMaxBytes - (value_bytes_ - old)) {
    throw Error(path_ + ": more than " + std::to_string(kMaxBytes) +
                " bytes cannot be parts of files, which is too much to be stored with references; "
                "without VIRTUAL all is copied");
  }
  value_bytes_ += entry.value.size() - old;
  has_changed_ = true;
  entries_.insert_or_assign(std::string(key), std::move(entry));
}

Reference ReferenceWriter::reference_of(const Entry& entry) const {
  Reference reference;
  if (entry.target == nullptr) {
    reference.value = Buffer::copy_of(entry.value.span());
    return reference;
  }
  reference.target = *entry.target;
  reference.offset = entry.offset;
  reference.length = entry.length;
  return reference;
}

std::optional<Buffer> ReferenceWriter::get(std::string_view key, std::uint64_t max_size) {
  Reference reference;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    reference = reference_of(found->second);
    flush_beside();
  }
  if (reference.target.empty()) {
    zarrcore::check_value_size(reference.value.size(), max_size);
    return std::move(reference.value);
  }
  reference.target = targets_.resolve(reference.target);
  return targets_.get(reference, max_size);
}

bool ReferenceWriter::put_parts(std::string_view key, std::span<const zarrcore::ValuePart> parts,
                                const zarrcore::PutOptions& /*options*/) {
  Entry entry;
  entry.value = zarrcore::join_parts(parts);
  const std::lock_guard lock(mutex_);
  put_entry(key, std::move(entry));
  return true;
}

bool ReferenceWriter::erase(std::string_view key, const zarrcore::EraseOptions& /*options*/) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return true;
  has_changed_ = true;
  value_bytes_ -= found->second.value.size();
  entries_.erase(found);
  return true;
}

zarrcore::DirectoryListing ReferenceWriter::list(std::string_view prefix,
                                                 const zarrcore::ListOptions& /*options*/) {
  const std::lock_guard lock(mutex_);
  return zarrcore::list_sorted(prefix, entries_);
}

void ReferenceWriter::flush() {
  const std::lock_guard lock(mutex_);
  if (!has_changed_) return;
  flush_beside();
  zarrcore::with_context(path_,
                         [&] { kind_ == ReferenceKind::json ? write_json() : write_parquet(); });
  names_beside_ = beside_name_ != nullptr && std::ranges::any_of(entries_, [&](const auto& item) {
                    return item.second.target == beside_name_;
                  });
  has_changed_ = false;
}

std::string ReferenceWriter::json_of(const Entries::value_type& item) const {
  const auto& [key, entry] = item;
  std::string text = zarrcore::dump_json(key) + ':';
  if (entry.target == nullptr) return text + json_value(entry.value);
  return text + '[' + zarrcore::dump_json(*entry.target) + ',' + std::to_string(entry.offset) +
         ',' + std::to_string(entry.length) + ']';
}

// Piece by piece: the text may be much longer than the entries.
void ReferenceWriter::write_json() const {
  constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20;
  std::vector<zarrcore::ValuePart> parts;
  parts.push_back({.fetch = [] { return Buffer::copy_of("{\"version\":1,\"refs\":{\n"); }});
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto first = next;
    for (std::uint64_t bytes = 0; next != entries_.end() && bytes < kPartBytes; ++next) {
      const auto& [key, entry] = *next;
      bytes += key.size() + entry.value.size();
      if (entry.target != nullptr) bytes += entry.target->size();
    }
    parts.push_back({.fetch = [this, first, next] {
      std::string text;
      for (auto entry = first; entry != next; ++entry) {
        if (entry != entries_.begin()) text += ",\n";
        text += json_of(*entry);
      }
      return Buffer::copy_of(text);
    }});
  }
  parts.push_back({.fetch = [] { return Buffer::copy_of("\n}}\n"); }});
  write_file(path_, parts);
}

void ReferenceWriter::write_parquet() const {
  std::string metadata;
  for (const auto& [key, entry] : entries_) {
    const std::string_view name = zarrcore::last_segment(key);
    if (!zarrcore::is_document_name(name) || name == kReferenceMetadata) continue;
    if (name != ".zarray" && name != ".zgroup" && name != ".zattrs") {
      throw Error("references in Parquet files can only be of Zarr version 2");
    }
    if (!metadata.empty()) metadata += ',';
    metadata += zarrcore::dump_json(key) + ':';
    metadata += entry.value.text();
    if (name == ".zarray") write_records(std::string(zarrcore::parent_path(key)));
  }
  // Last: with it the folder is complete.
  const std::string document =
      "{\"metadata\":{" + metadata + "},\"record_size\":" + std::to_string(kRecordSize) + '}';
  make_store(path_)->put(kReferenceMetadata, std::as_bytes(std::span(document)));
}

void ReferenceWriter::write_records(const std::string& array) const {
  const auto document = entries_.find(zarrcore::join_path(array, ".zarray"));
  const ChunkNumbers numbers(document->second.value.text());
  const std::string prefix = array.empty() ? array : array + '/';
  std::vector<std::pair<std::uint64_t, const Entry*>> chunks;
  for (auto it = entries_.lower_bound(prefix); it != entries_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    const auto number = numbers.find(std::string_view(it->first).substr(prefix.size()));
    if (number) chunks.emplace_back(*number, &it->second);
  }
  std::sort(chunks.begin(), chunks.end());
  // Readers look for files of missing chunks as well.
  constexpr std::uint64_t kMaxEmptyRecords = 1000;
  const std::uint64_t record_count = (numbers.count() + kRecordSize - 1) / kRecordSize;
  const auto store = make_store(path_);
  auto next = chunks.begin();
  std::uint64_t empty_count = 0;
  for (std::uint64_t record = 0; record < record_count; ++record) {
    std::vector<std::optional<Reference>> rows(kRecordSize);
    bool is_empty = true;
    for (; next != chunks.end() && next->first / kRecordSize == record; ++next) {
      rows[next->first % kRecordSize] = reference_of(*next->second);
      is_empty = false;
    }
    if (is_empty && ++empty_count > kMaxEmptyRecords) {
      if (next == chunks.end()) break;
      record = next->first / kRecordSize - 1;
      continue;
    }
    const std::string file = write_reference_table(rows);
    store->put(zarrcore::join_path(array, "refs." + std::to_string(record) + ".parq"),
               std::as_bytes(std::span(file)));
  }
}

std::shared_ptr<ReferenceWriter> make_reference_writer(const std::string& path, TargetNames names) {
  const std::string extension = CPLGetExtension(path.c_str());
  const bool is_parquet = EQUAL(extension.c_str(), "parq") || EQUAL(extension.c_str(), "parquet");
  if (!is_parquet && !EQUAL(extension.c_str(), "json")) {
    throw Error(path + ": a virtual store is a .json document, or a .parq or .parquet folder");
  }
  return std::make_shared<ReferenceWriter>(
      is_parquet ? ReferenceKind::parquet : ReferenceKind::json, path, names);
}

}  // namespace gdal_zarr
