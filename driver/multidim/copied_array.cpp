#include "driver/multidim/copied_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "driver/conventions/evidence.h"
#include "driver/gdal/messages.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::Json;

struct RecordedRead {
  std::shared_ptr<const Array> array;
  zarrcore::Selection selection;
};
using RecordedReads = std::vector<RecordedRead>;

// Where reads of our arrays on this thread are recorded; null if they are not.
thread_local RecordedReads* recorded_reads = nullptr;

// While it lives, they are recorded in `reads`.
class RecordingScope {
 public:
  explicit RecordingScope(RecordedReads& reads) : outer_(std::exchange(recorded_reads, &reads)) {}
  ~RecordingScope() { recorded_reads = outer_; }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  RecordedReads* outer_;
};

// The array of ours that is read for the element at `position` of `source`, at the same position.
std::shared_ptr<const Array> array_read_at(const GDALMDArray& source,
                                           const std::vector<GUInt64>& position) {
  const GDALExtendedDataType& type = source.GetDataType();
  const std::vector<std::size_t> count(position.size(), 1);
  std::vector<GByte> element(type.GetSize());
  // A failing read is reported when the values are copied.
  const QuietErrors quiet;
  RecordedReads reads;
  const bool is_read = [&] {
    const RecordingScope scope(reads);
    return source.Read(position.data(), count.data(), nullptr, nullptr, type, element.data(),
                       element.data(), element.size());
  }();
  if (is_read && type.NeedsFreeDynamicMemory()) type.FreeDynamicMemory(element.data());
  if (!is_read || reads.size() != 1) return nullptr;
  const auto& [array, selection] = reads.front();
  const bool is_same =
      std::equal(selection.start.begin(), selection.start.end(), position.begin(),
                 position.end()) &&
      std::ranges::all_of(selection.count, [](std::uint64_t length) { return length == 1; });
  return is_same ? array : nullptr;
}

// Returns true for equal nodata values, or none, of arrays of one type.
bool has_same_nodata(const GDALMDArray& a, const GDALMDArray& b) {
  const void* of_a = a.GetRawNoDataValue();
  const void* of_b = b.GetRawNoDataValue();
  if (of_a == nullptr || of_b == nullptr) return of_a == of_b;
  return a.GetDataType().NeedsFreeDynamicMemory() ||
         std::memcmp(of_a, of_b, a.GetDataType().GetSize()) == 0;
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

// Returns the array whose elements `source` has, all in the same places: `source` itself, or an
// array that another driver's array (VRT) reads. Null if there is no such array. Reads up to two
// elements of `source`.
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

bool has_same_shape(const GDALMDArray& source, const Array& target) {
  const zarrcore::Shape& shape = target.core().shape();
  const auto& dimensions = source.GetDimensions();
  return std::equal(
      dimensions.begin(), dimensions.end(), shape.begin(), shape.end(),
      [](const auto& dimension, std::uint64_t length) { return dimension->GetSize() == length; });
}

bool is_given_other_than(const CreationOptions& options, const char* name,
                         const std::vector<GUInt64>& lengths) {
  const auto given = options.lengths(name);
  return given && !std::equal(given->begin(), given->end(), lengths.begin(), lengths.end());
}

bool has_shards(const ArrayMetadata& array) {
  return !array.codecs.empty() && array.codecs.front().name == "sharding_indexed";
}

// Gives chunks, which are inner chunks if `layout` has shards, the codecs that those of `old` have.
void copy_codecs(const ArrayMetadata& old, ArrayMetadata& layout) {
  auto codecs = has_shards(old)
                    ? zarrcore::codecs_member(old.codecs.front().configuration, "codecs")
                    : old.codecs;
  if (has_shards(layout)) {
    layout.codecs.front().configuration["codecs"] = zarrcore::format_codec_list(codecs);
  } else {
    layout.codecs = std::move(codecs);
  }
}

// Metadata for an array created by `creation`, without attributes: like the original as far as
// creation options leave that open. The first that the format can express is the best.
std::vector<ArrayMetadata> layouts_like(const Array& original, const ArrayCreation& creation) {
  const CreationOptions options(creation.options.List(), kArrayOption);
  const ArrayMetadata& old = original.metadata();
  const auto is_given = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return options.is_given(name); });
  };
  // GDAL itself states the block size of the source.
  const bool has_chunks =
      is_given({"SHARD_CHUNK_SHAPE", "CHUNKS", "CHUNK_ASPECT_RATIO", "SHARDING", "CODECS"}) ||
      is_given_other_than(options, "BLOCKSIZE", original.GetBlockSize());
  const bool has_codecs = is_given(
      {"COMPRESS", "FILTER", "CHECKSUM", "KEEPBITS", "CODECS", "CHUNK_MEMORY_LAYOUT", "@ENDIAN"});
  NewArray array = creation.array;
  CPLStringList rest(creation.options);
  std::vector<ArrayMetadata> layouts;
  const auto add = [&](bool has_old_codecs) {
    try {
      ArrayMetadata layout = make_array_metadata(array, rest.List());
      layout.fill_value = old.fill_value;
      if (layout.fill_value_is_mandatory && !layout.fill_value) {
        layout.fill_value.emplace(layout.data_type.is_variable() ? 0 : layout.data_type.item_size);
      }
      // A fill value that only the format required would mean nodata.
      const bool is_of_format = old.fill_value_is_mandatory && !original.packing().nodata;
      if (is_of_format && !layout.fill_value_is_mandatory) layout.fill_value.reset();
      if (has_old_codecs && has_chunks) {
        copy_codecs(old, layout);
      } else if (has_old_codecs) {
        layout.codecs = old.codecs;
        layout.chunk_shape = old.chunk_shape;
        layout.chunk_runs = old.chunk_runs;
      }
      layouts.push_back(std::move(layout));
    } catch (const zarrcore::Error&) {
      // The format does not have this type.
    }
  };
  if (!options.is_given("STRING_FORMAT") && !old.data_type.is_long_double()) {
    array.stored_type = old.data_type;
  }
  if (!has_chunks) {
    const std::string inner = zarrcore::shape_text(original.core().inner_chunk_shape(), ",");
    const std::string outer = zarrcore::shape_text(old.chunk_shape, ",");
    if (!inner.empty()) rest.SetNameValue("BLOCKSIZE", inner.c_str());
    if (has_shards(old) && old.chunk_runs.empty() && array.format->new_array_rules()->has_shards) {
      rest.SetNameValue("BLOCKSIZE", outer.c_str());
      rest.SetNameValue("SHARD_CHUNK_SHAPE", inner.c_str());
    }
  }
  if (array.stored_type && !has_codecs && original.core().can_encode()) add(true);
  add(false);
  return layouts;
}

// The attributes of `copy`, which has those that GDAL has copied from `source`: where these are
// still the original's, and where GDAL shows none, as the original has them.
Json attributes_like(const Array& original, const GDALMDArray& source, const Array& copy) {
  const Json& old = original.metadata().attributes;
  const bool spells_alike = original.metadata().fill_value_attribute_is_base64 ==
                            copy.metadata().fill_value_attribute_is_base64;
  const bool has_packing = has_same_packing(original, source);
  const std::vector<std::string>& packing = original.packing().consumed_attributes;
  Json attributes = copy.metadata().attributes;
  for (const auto& [name, value] : old.items()) {
    const bool is_packing = std::ranges::find(packing, name) != packing.end();
    const bool is_copied = is_packing ? spells_alike && has_packing
                                      : !original.shown_attributes()->contains(name) ||
                                            has_same_attribute(original, source, name);
    if (is_copied) attributes[name] = value;
  }
  // Units and fill value are left out where the data type or the array's fill value expresses them.
  if (has_packing && copy.metadata().data_type.is_time() && !old.contains("units")) {
    attributes.erase("units");
  }
  const bool has_fill_value = copy.metadata().fill_value == original.metadata().fill_value;
  if (spells_alike && has_packing && has_fill_value && !old.contains("_FillValue")) {
    attributes.erase("_FillValue");
  }
  return attributes;
}

// Returns true if the CRS comes with the copy: in these attributes, or in the grid mapping variable
// that they name, which `dataset` (may be null) has as well.
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

// Returns true if it is in another variable of the source, which no attribute names as a grid
// mapping.
bool has_crs_beside(const Array& original, GDALDataset* source_dataset) {
  const auto root = source_dataset != nullptr ? source_dataset->GetRootGroup() : nullptr;
  if (!root || original.core().shape().size() < 2) return false;
  const auto variable = find_crs_variable(original.evidence(), original.raster_axes());
  return variable && !variable->path.empty() &&
         root->OpenMDArrayFromFullname('/' + variable->path, nullptr) != nullptr;
}

}  // namespace

void note_read(const Array& array, const zarrcore::Selection& selection) {
  if (recorded_reads == nullptr) return;
  recorded_reads->push_back({array.session()->array(array.node_path()), selection});
}

bool Array::copy_layout(const Array& original) {
  if (!session_->hierarchy().format().has_whole_documents()) return false;
  for (const zarrcore::ArrayMetadata& layout : layouts_like(original, *creation_)) {
    const auto before = metadata_;
    const auto put = [&](const zarrcore::ArrayMetadata& wanted) {
      session_->writable_hierarchy().update_node(
          node_path(),
          [&](zarrcore::NodeMetadata& node) {
            auto& metadata = std::get<zarrcore::ArrayMetadata>(node);
            zarrcore::ArrayMetadata changed = wanted;
            changed.attributes = metadata.attributes;
            changed.dimension_names = metadata.dimension_names;
            changed.chunk_prefix = metadata.chunk_prefix;
            metadata = std::move(changed);
          },
          zarrcore::NodeKind::array);
    };
    try {
      put(layout);  // throws if the format cannot express it
    } catch (const zarrcore::Error&) {
      continue;
    }
    try {
      array_ = session_->reopen_array(node_path());
      element_type_ = seen_type(array_->metadata());
    } catch (const zarrcore::Error&) {
      put(*before);
      continue;
    }
    if (type_.GetClass() == GEDTC_COMPOUND) session_->set_compound(*array_, type_);
    load_layout();
    return true;
  }
  return false;
}

// A program that copies sets the CRS after the attributes, which may contain it.
bool Array::copy_metadata(GDALDataset* source_dataset, const GDALMDArray& source,
                          const Array* original, bool is_strict, GUInt64& cost, GUInt64 total_cost,
                          GDALProgressFunc progress, void* progress_data) {
  bool writes_crs = false;
  brings_crs_ = [&] {
    writes_crs = !brings_crs((original != nullptr ? *original : *this).metadata().attributes,
                             source, source_dataset) &&
                 (original == nullptr || !has_crs_beside(*original, source_dataset));
    return !writes_crs;
  };
  const bool has_layout = original != nullptr && copy_layout(*original);
  const auto fill_value = metadata().fill_value;
  const bool is_copied =
      CopyFromAllExceptValues(&source, is_strict, cost, total_cost, progress, progress_data);
  brings_crs_ = nullptr;
  if (!is_copied || original == nullptr) return is_copied;
  if (has_layout && has_same_nodata(*original, source)) {
    change([&](zarrcore::ArrayMetadata& metadata) { metadata.fill_value = fill_value; });
  }
  Json attributes = attributes_like(*original, source, *this);
  for (const char* name : {"grid_mapping", "coordinates"}) {
    const Json* written = zarrcore::find_member(metadata().attributes, name);
    if (writes_crs && written != nullptr) attributes[name] = *written;
  }
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes = std::move(attributes); });
  array_ = session_->reopen_array(node_path());
  return true;
}

bool Array::copy_metadata(GDALDataset* source_dataset, const Array& source) {
  GUInt64 cost = 0;
  return copy_metadata(source_dataset, source, is_new_ && creation_ ? &source : nullptr, true, cost,
                       0, GDALDummyProgress, nullptr);
}

bool Array::CopyFrom(GDALDataset* source_dataset, const GDALMDArray* source, bool is_strict,
                     GUInt64& cost, GUInt64 total_cost, GDALProgressFunc progress,
                     void* progress_data) {
  return guarded(false, [&] {
    if (session_->end_skipping(node_path())) {
      cost += COPY_COST + source->GetTotalElementsCount() * source->GetDataType().GetSize();
      return true;
    }
    if (!has_same_shape(*source, *this)) {
      return GDALPamMDArray::CopyFrom(source_dataset, source, is_strict, cost, total_cost, progress,
                                      progress_data);
    }
    if (progress == nullptr) progress = GDALDummyProgress;
    cost += COPY_COST;
    const auto blocks = is_new_ && session_->reference_target() != nullptr
                            ? find_blocks_for_copy(*source, *session_)
                            : std::nullopt;
    if (blocks) set_blocks(blocks->layout);
    const bool is_new = is_new_;
    const auto original = is_new && creation_ && !blocks ? find_original(*source) : nullptr;
    if (!copy_metadata(source_dataset, *source, original.get(), is_strict, cost, total_cost,
                       progress, progress_data)) {
      return false;
    }
    const double total = std::max(1.0, static_cast<double>(total_cost));
    const auto before = static_cast<double>(cost);
    cost += source->GetTotalElementsCount() * source->GetDataType().GetSize();
    PartialProgress part(before / total, std::min(1.0, static_cast<double>(cost) / total), progress,
                         progress_data);
    if (blocks) return refer_to(*source, *blocks, part);
    return copy_values(*source, *this, is_new, part.function(), part.data());
  });
}

}  // namespace gdal_zarr
