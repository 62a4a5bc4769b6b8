#include "driver/multidim/copied_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "driver/conventions/crs_variable.h"
#include "driver/gdal/messages.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::Json;

// The reads of our arrays on this thread, while one exists.
class ReadRecord {
 public:
  struct Entry {
    std::shared_ptr<const Array> array;
    zarrcore::Selection selection;
  };

  ReadRecord() : outer_(std::exchange(active_, this)) {}
  ~ReadRecord() { active_ = outer_; }
  ReadRecord(const ReadRecord&) = delete;
  ReadRecord& operator=(const ReadRecord&) = delete;

  static ReadRecord* active() { return active_; }
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static thread_local ReadRecord* active_;
  ReadRecord* outer_;
  std::vector<Entry> entries_;
};

thread_local ReadRecord* ReadRecord::active_ = nullptr;

// The array of ours that is read for the element at `position` of `source`, at the same position.
std::shared_ptr<const Array> array_read_at(const GDALMDArray& source,
                                           const std::vector<GUInt64>& position) {
  const GDALExtendedDataType& type = source.GetDataType();
  const std::vector<std::size_t> count(position.size(), 1);
  std::vector<GByte> element(type.GetSize());
  // A failing read is reported when the values are copied.
  const UnrelatedFailures unrelated;
  const CPLErrorStateBackuper last_error;
  const ReadRecord record;
  CPLPushErrorHandler(CPLQuietErrorHandler);
  const bool is_read = source.Read(position.data(), count.data(), nullptr, nullptr, type,
                                   element.data(), element.data(), element.size());
  CPLPopErrorHandler();
  if (is_read && type.NeedsFreeDynamicMemory()) type.FreeDynamicMemory(element.data());
  if (!is_read || record.entries().size() != 1) return nullptr;
  const auto& [array, selection] = record.entries().front();
  const bool is_same = std::equal(selection.start.begin(), selection.start.end(), position.begin(),
                                  position.end()) &&
                       std::all_of(selection.count.begin(), selection.count.end(),
                                   [](std::uint64_t length) { return length == 1; });
  return is_same ? array : nullptr;
}

bool has_same_attribute(const GDALMDArray& a, const GDALMDArray& b, const std::string& name) {
  const auto of_a = a.GetAttribute(name);
  const auto of_b = b.GetAttribute(name);
  if (!of_a || !of_b) return of_a == of_b;
  const CPLStringList texts_of_a(of_a->ReadAsStringArray());
  const CPLStringList texts_of_b(of_b->ReadAsStringArray());
  return of_a->GetDataType() == of_b->GetDataType() && texts_of_a.size() == texts_of_b.size() &&
         std::equal(texts_of_a.List(), texts_of_a.List() + texts_of_a.size(), texts_of_b.List(),
                    [](const char* x, const char* y) { return std::strcmp(x, y) == 0; });
}

bool has_same_packing(const GDALMDArray& a, const GDALMDArray& b) {
  return a.GetUnit() == b.GetUnit() && has_same_nodata(a, b) &&
         a.GetScale(nullptr, nullptr) == b.GetScale(nullptr, nullptr) &&
         a.GetOffset(nullptr, nullptr) == b.GetOffset(nullptr, nullptr);
}

bool is_given_other_than(const CreationOptions& options, const char* name,
                         const std::vector<GUInt64>& lengths) {
  const auto given = options.lengths(name);
  return given && !std::equal(given->begin(), given->end(), lengths.begin(), lengths.end());
}

}  // namespace

void note_read(const Array& array, const zarrcore::Selection& selection) {
  if (ReadRecord* record = ReadRecord::active()) {
    record->add({array.session()->array(array.node_path()), selection});
  }
}

std::shared_ptr<const Array> find_original(const GDALMDArray& source) {
  if (const auto* ours = dynamic_cast<const Array*>(&source)) {
    return ours->session()->array(ours->node_path());
  }
  std::vector<GUInt64> first;
  std::vector<GUInt64> last;
  for (const auto& dimension : source.GetDimensions()) {
    if (dimension->GetSize() == 0) return nullptr;
    first.push_back(0);
    last.push_back(dimension->GetSize() - 1);
  }
  const auto original = array_read_at(source, first);
  if (!original || original->core().shape().size() != last.size()) return nullptr;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (original->core().shape()[i] != last[i] + 1) return nullptr;
  }
  const bool is_whole = first == last || array_read_at(source, last) == original;
  const bool is_computed = source.GetDataType() != original->GetDataType() ||
                           source.GetScale(nullptr, nullptr) != original->scale().value_or(1) ||
                           source.GetOffset(nullptr, nullptr) != original->offset().value_or(0);
  return is_whole && !is_computed ? original : nullptr;
}

std::vector<ArrayMetadata> layouts_like(const Array& original, const ArrayCreation& creation) {
  const CreationOptions options(creation.options.List(), kArrayOption);
  const ArrayMetadata& old = original.metadata();
  const auto is_given = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return options.is_given(name); });
  };
  // GDAL itself states the block size of the source.
  const bool has_chunks = is_given({"SHARD_CHUNK_SHAPE", "CHUNKS", "SHARDING", "CODECS"}) ||
                          is_given_other_than(options, "BLOCKSIZE", original.GetBlockSize());
  const bool has_codecs = is_given(
      {"COMPRESS", "FILTER", "CHECKSUM", "KEEPBITS", "CODECS", "CHUNK_MEMORY_LAYOUT", "@ENDIAN"});
  NewArray array = creation.array;
  CPLStringList rest(creation.options);
  std::vector<ArrayMetadata> layouts;
  const auto add = [&](bool keeps_codecs) {
    try {
      ArrayMetadata layout = make_array_metadata(array, rest.List());
      layout.fill_value = old.fill_value;
      if (layout.fill_value_is_mandatory && !layout.fill_value) {
        layout.fill_value.emplace(layout.data_type.is_variable() ? 0 : layout.data_type.item_size);
      }
      // A fill value that only the format asked for would mean nodata.
      const bool is_of_format = old.fill_value_is_mandatory && !original.packing().nodata;
      if (is_of_format && !layout.fill_value_is_mandatory) layout.fill_value.reset();
      if (keeps_codecs) {
        layout.codecs = old.codecs;
        layout.chunk_shape = old.chunk_shape;
        layout.chunk_runs = old.chunk_runs;
      }
      layouts.push_back(std::move(layout));
    } catch (const zarrcore::Error&) {
      // The format does not have this type.
    }
  };
  if (!options.is_given("STRING_FORMAT")) array.stored_type = old.data_type;
  if (!has_chunks) {
    std::string lengths;
    for (const std::uint64_t length : original.core().inner_chunk_shape()) {
      lengths += (lengths.empty() ? "" : ",") + std::to_string(length);
    }
    if (!lengths.empty()) rest.SetNameValue("BLOCKSIZE", lengths.c_str());
  }
  if (array.stored_type && !has_chunks && !has_codecs) add(true);
  add(false);
  return layouts;
}

bool has_same_nodata(const GDALMDArray& a, const GDALMDArray& b) {
  const void* of_a = a.GetRawNoDataValue();
  const void* of_b = b.GetRawNoDataValue();
  if (of_a == nullptr || of_b == nullptr) return of_a == of_b;
  return a.GetDataType().NeedsFreeDynamicMemory() ||
         std::memcmp(of_a, of_b, a.GetDataType().GetSize()) == 0;
}

Json attributes_like(const Array& original, const GDALMDArray& source, const Array& copy) {
  const Json& old = original.metadata().attributes;
  const bool spells_alike = original.metadata().fill_value_attribute_is_base64 ==
                            copy.metadata().fill_value_attribute_is_base64;
  const bool has_packing = has_same_packing(original, source);
  const std::vector<std::string>& packing = original.packing().consumed_attributes;
  Json attributes = copy.metadata().attributes;
  for (const auto& [name, value] : old.items()) {
    const bool is_packing = std::find(packing.begin(), packing.end(), name) != packing.end();
    const bool is_kept = is_packing ? spells_alike && has_packing
                                    : !original.shown_attributes().contains(name) ||
                                          has_same_attribute(original, source, name);
    if (is_kept) attributes[name] = value;
  }
  // What the type or the fill value says already.
  if (has_packing && copy.metadata().data_type.is_time() && !old.contains("units")) {
    attributes.erase("units");
  }
  const bool has_fill_value = copy.metadata().fill_value == original.metadata().fill_value;
  if (spells_alike && has_packing && has_fill_value && !old.contains("_FillValue")) {
    attributes.erase("_FillValue");
  }
  return attributes;
}

bool brings_crs(const Json& attributes, const GDALMDArray& source, GDALDataset* dataset) {
  const auto items = attributes.items();
  if (std::any_of(items.begin(), items.end(), [](const auto& item) {
        return item.key() == "_CRS" || item.key().starts_with("proj:");
      })) {
    return true;
  }
  const std::string mapping = grid_mapping_variable(attributes);
  const auto root = dataset != nullptr ? dataset->GetRootGroup() : nullptr;
  if (mapping.empty() || !root) return false;
  const std::string group =
      '/' + std::string(zarrcore::parent_path(source.GetFullName().substr(1)));
  return root->ResolveMDArray(mapping, group, nullptr) != nullptr;
}

bool has_crs_beside(const Array& original, GDALDataset* source_dataset) {
  const auto root = source_dataset != nullptr ? source_dataset->GetRootGroup() : nullptr;
  if (!root || original.core().shape().size() < 2) return false;
  const auto variable = find_crs_variable(original.evidence(), original.raster_axes());
  return variable && !variable->path.empty() &&
         root->OpenMDArrayFromFullname('/' + variable->path, nullptr) != nullptr;
}

}  // namespace gdal_zarr
