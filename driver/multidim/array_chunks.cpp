// The chunks of an array: whether and where they are stored, reading them in advance, and blocks of
// other files as the chunks of a new array.
#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/session.h"
#include "driver/stores/icechunk/virtual_chunks.h"
#include "driver/virtual/cube.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#if GDAL_ZARR_AT_LEAST(3, 12)
#include "driver/stores/references/reference_store.h"
#include "zarrcore/store/store.h"
#endif

namespace gdal_zarr {

using zarrcore::Error;

void Array::advise(const zarrcore::Selection& selection, CSLConstList options) const {
  check_exists();
  const char* limit_text = CSLFetchNameValue(options, "CACHE_SIZE");
  const auto limit =
      limit_text != nullptr
          ? static_cast<std::uint64_t>(std::max<GIntBig>(0, CPLAtoGIntBig(limit_text)))
          : static_cast<std::uint64_t>(GDALGetCacheMax64()) / 2;
  const auto bytes = array_->decoded_bytes(selection);
  if (!bytes || *bytes > limit) {
    throw Error("array " + GetFullName() + ": the chunks to be read in advance have " +
                (bytes ? std::to_string(*bytes) : "2^64 or more") +
                " bytes where CACHE_SIZE allows " + std::to_string(limit));
  }
  // In addition to the chunks that are cached anyway.
  session_->context().chunks.reserve(zarrcore::Context::kDefaultChunkCacheBytes + *bytes +
                                     *bytes / 8);
  CallerState caller;
  zarrcore::ReadOptions reading = session_->read_options(caller);
  reading.threads = session_->thread_count(CSLFetchNameValue(options, "NUM_THREADS"));
  session_->report_read("read in advance", GetFullName(), selection, reading,
                        [&] { array_->prefetch(selection, reading); });
}

bool Array::expect_reads(const zarrcore::Selection& selection) const {
  const auto bytes = array_->decoded_bytes(selection);
  constexpr std::uint64_t kLittle = std::uint64_t{16} << 20;
  if ((bytes && *bytes <= kLittle) || writer_if_any()) return false;
  zarrcore::ReadOptions options;
  options.threads = session_->thread_count();
  // With one thread and a store without parallel requests, chunks are decoded when they are read,
  // and need no memory until then.
  if (options.threads <= 1 && session_->hierarchy().store()->traits().parallel_requests == 1)
    return true;
  session_->allow_read_ahead(options);
  if (!options.lasting_scope || options.threads <= 1) return false;
  check_exists();
  array_->expect_reads(selection, options);
  return true;
}

bool Array::IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const {
  return guarded(false,
                 [&] { advise({{start, start + rank()}, {count, count + rank()}, {}}, options); });
}

std::vector<GUInt64> Array::GetBlockSize() const {
  return guarded<std::vector<GUInt64>>({}, [&] {
    const zarrcore::Shape block = array_->inner_chunk_shape();
    std::vector<GUInt64> lengths(block.begin(), block.end());
    // Other drivers create arrays with these blocks, and refuse longer ones than the array.
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      lengths[i] = std::min<GUInt64>(lengths[i], std::max<GUInt64>(1, array_->shape()[i]));
    }
    return lengths;
  });
}

CPLStringList Array::stored_chunks() const {
  check_exists();
  CallerState caller;
  const auto counted = zarrcore::count_stored_chunks(*array_, true, session_->read_options(caller));
  zarrcore::Shape grid;
  for (std::size_t i = 0; i < rank(); ++i) {
    grid.push_back(array_->state().grid.dimension(i).chunk_count());
  }
  CPLStringList items;
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& number) {
    if (number) items.SetNameValue(name, std::to_string(*number).c_str());
  };
  add("CHUNKS", zarrcore::checked_product(grid));
  add("STORED_CHUNKS", counted.chunks);
  add("STORED_BYTES", counted.bytes);
  add("STORED_INNER_CHUNKS", counted.inner_chunks);
  add("STORED_INNER_BYTES", counted.inner_bytes);
  return items;
}

CSLConstList Array::GetStructuralInfo() const {
  if (!CPLTestBool(config_option(ConfigOption::count_chunks))) return structural_info_.List();
  return guarded<CSLConstList>(structural_info_.List(), [&]() -> CSLConstList {
    CPLStringList info(structural_info_);
    const CPLStringList counted = stored_chunks();
    for (int i = 0; i < counted.size(); ++i) info.AddString(counted[i]);
    const std::lock_guard lock(counted_mutex_);
    counted_infos_.push_back(std::move(info));
    return counted_infos_.back().List();
  });
}

std::optional<Array::Coverage> Array::coverage(const zarrcore::Selection& selection,
                                               bool stops_at_stored, bool stops_at_missing) {
  check_exists();
  if (!array_->state().grid.is_regular()) return std::nullopt;
  // Each inner chunk of a shard that is compressed as a whole and not cached would decode all of
  // it.
  const zarrcore::CodecChain& chain = *array_->state().first_chain;
  if (chain.sharding() != nullptr && !chain.shard_is_addressable() &&
      chain.decoded_size() > session_->context().chunks.max_bytes()) {
    return std::nullopt;
  }
  flush();
  zarrcore::Store& store = *session_->hierarchy().store();
  const std::uint64_t max_blocks = store.traits().parallel_requests > 1 ? 1000 : 1'000'000;
  const zarrcore::Shape block = array_->inner_chunk_shape();
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (selection.count[i] == 0) return Coverage{};
    first.push_back(selection.start[i] / block[i]);
    counts.push_back((selection.start[i] + selection.count[i] - 1) / block[i] - first[i] + 1);
  }
  const auto blocks = zarrcore::checked_product(counts);
  if (!blocks || *blocks > max_blocks) return std::nullopt;
  Coverage coverage;
  for (std::uint64_t i = 0; i < *blocks; ++i) {
    std::vector<std::uint64_t> index = first;
    std::uint64_t elements = 1;
    std::uint64_t rest = i;
    for (std::size_t axis = rank(); axis-- > 0;) {
      index[axis] += rest % counts[axis];
      rest /= counts[axis];
      const std::uint64_t start = std::max(selection.start[axis], index[axis] * block[axis]);
      const std::uint64_t end =
          std::min(selection.start[axis] + selection.count[axis], (index[axis] + 1) * block[axis]);
      elements *= end - start;
    }
    const auto range = array_->find_stored_range(index);
    const bool is_stored = range && (range->length || store.has(range->key));
    coverage.all += elements;
    if (is_stored) coverage.stored += elements;
    if (is_stored ? stops_at_stored : stops_at_missing) break;
  }
  return coverage;
}

void Array::store_missing_chunks() {
  if (type_.NeedsFreeDynamicMemory()) return;
  const Slabs chunks(zarrcore::Box{zarrcore::Shape(rank(), 0), array_->shape()},
                     array_->inner_chunk_shape());
  std::vector<zarrcore::Selection> missing;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const zarrcore::Box box = chunks[i];
    zarrcore::Selection selection{box.start, box.count, std::vector<std::int64_t>(rank(), 1)};
    const auto found = coverage(selection, true, false);
    if (!found) return;
    if (found->stored == 0) missing.push_back(std::move(selection));
  }
  for (const zarrcore::Selection& selection : missing) {
    const zarrcore::Strides strides = zarrcore::c_strides(selection.count, type_.GetSize());
    zarrcore::Buffer buffer(*zarrcore::checked_product(selection.count) * type_.GetSize());
    read(selection, type_, buffer.data(), strides);
    write(selection, type_, buffer.data(), strides);
  }
  flush();
}

#if GDAL_ZARR_AT_LEAST(3, 12)
namespace {

// A chunk in Kerchunk references: a part of another file, or bytes in the references.
void set_referenced_block(const ReferenceStore& references, const zarrcore::StoredRange& block,
                          GDALMDArrayRawBlockInfo& info) {
  auto place = references.locate(block.key);
  if (!place) return;
  if (place->target.empty()) {
    place->length = place->value.size();
  } else if (!place->length) {
    VSIStatBufL status;
    if (VSIStatL(place->target.c_str(), &status) != 0) {
      throw Error(place->target + ": this file, which a reference names, does not exist");
    }
    place->length = static_cast<std::uint64_t>(status.st_size);
  }
  // The block may be a part of the value.
  const zarrcore::ByteRange part = zarrcore::ByteRange::at(
      block.offset, block.length.value_or(*place->length - std::min(*place->length, block.offset)));
  zarrcore::resolve_range(part, *place->length);
  info.nSize = part.length;
  if (!place->target.empty()) {
    info.pszFilename = CPLStrdup(place->target.c_str());
    info.nOffset = place->offset + part.offset;
    return;
  }
  info.pabyInlineData = static_cast<GByte*>(CPLMalloc(std::max<std::size_t>(part.length, 1)));
  std::copy_n(place->value.data() + part.offset, part.length,
              reinterpret_cast<std::byte*>(info.pabyInlineData));
}

}  // namespace

// For blocks that are a file or a range of one, or stored in Kerchunk references; others have no
// file name.
bool Array::GetRawBlockInfo(const std::uint64_t* position, GDALMDArrayRawBlockInfo& info) const {
  return guarded(false, [&] {
    info.clear();
    check_exists();
    flush();
    const auto block = array_->find_stored_range({position, rank()});
    if (!block || block->is_in_compressed_shard) return;
    const auto store = session_->hierarchy().store();
    if (const auto* references = dynamic_cast<const ReferenceStore*>(store.get())) {
      set_referenced_block(*references, *block, info);
      if (info.nSize == 0) return;
    } else {
      const std::string path = store->description() + '/' + block->key;
      VSIStatBufL status;
      if (VSIStatL(path.c_str(), &status) != 0) return;
      info.pszFilename = CPLStrdup(path.c_str());
      info.nOffset = block->offset;
      info.nSize = block->length.value_or(static_cast<std::uint64_t>(status.st_size));
    }
    info.papszInfo =
        block_info(session_->hierarchy().format(), array_->metadata(), node_path()).StealList();
  });
}
#endif

// Nullopt if the elements of `source` are to be copied.
std::optional<ArrayBlocks> find_blocks_for_copy(const GDALMDArray& source, const Session& session) {
  // Of HDF5, for values that are stored with the description of the array.
  constexpr std::uint64_t kMaxInlineBytes = 64 << 10;
  // Coordinates that a program has computed are in no file.
  const bool copies_others =
      session.copies_blocks() ||
      (source.GetDimensionCount() == 1 && source.GetFilename().empty()) ||
      source.GetDataType().GetClass() != GEDTC_NUMERIC ||
      source.GetTotalElementsCount() <= kMaxInlineBytes / source.GetDataType().GetSize();
  try {
    auto cube = find_cube_blocks(source);
    ArrayBlocks found = cube ? std::move(*cube) : find_array_blocks(source, copies_others);
    if (session.icechunk() != nullptr) {
      found.visit([](std::span<const std::uint64_t> /*index*/, const auto& block) {
        const bool is_in_file = block && !block->target.empty();
        if (is_in_file) virtual_chunk_url(block->target);
        return !is_in_file;
      });
    }
    return found;
  } catch (const zarrcore::Error& problem) {
    if (copies_others) return std::nullopt;
    throw zarrcore::Error("array " + source.GetFullName() + ": " + problem.what() +
                          "; VIRTUAL=AUTO copies such arrays");
  }
}

void Array::set_blocks(const BlockLayout& layout) {
  if (layout.data_type != metadata_->data_type) {
    throw zarrcore::Error("array " + GetFullName() +
                          ": its data type differs from the blocks of the source");
  }
  session_->writable_hierarchy().update_node(
      node_path(),
      [&](zarrcore::NodeMetadata& node) {
        auto& metadata = std::get<zarrcore::ArrayMetadata>(node);
        metadata.chunk_shape = layout.chunk_shape;
        metadata.chunk_runs.clear();
        metadata.codecs = layout.codecs;
      },
      zarrcore::NodeKind::array);
  // In a repository, references are for chunks of the array as its document describes it.
  session_->writable_hierarchy().flush_node(node_path());
  array_ = session_->reopen_array(node_path());
  load_layout();
}

void Array::put_block(std::span<const std::uint64_t> chunk, Reference reference) {
  const zarrcore::ArrayMetadata& metadata = array_->metadata();
  session_->reference_target()->put_reference(
      metadata.chunk_key_encoding.encode(chunk, metadata.chunk_prefix), std::move(reference));
}

bool Array::refer_to(const GDALMDArray& source, const ArrayBlocks& blocks,
                     PartialProgress& progress) {
  const zarrcore::Shape& lengths = blocks.layout.chunk_shape;
  double count = 1;
  for (std::size_t i = 0; i < rank(); ++i) {
    count *= static_cast<double>(zarrcore::ceil_divide(array_->shape()[i], lengths[i]));
  }
  zarrcore::Buffer buffer;
  std::uint64_t done = 0;
  const auto take = [&](std::span<const std::uint64_t> position, std::optional<Reference> block) {
    if (block && block->length) {
      put_block(position, *std::move(block));
    } else {
      zarrcore::Box box{zarrcore::Shape(position.begin(), position.end()), lengths};
      for (std::size_t k = 0; k < rank(); ++k) {
        box.start[k] *= lengths[k];
        box.count[k] = std::min(lengths[k], array_->shape()[k] - box.start[k]);
      }
      if (!copy_box(source, box, block.has_value(), buffer)) return false;
    }
    if (done++ % 256 != 0) return true;
    const double share = static_cast<double>(done) / count;
    return progress(std::min(1.0, share));
  };
  bool is_complete = true;
  zarrcore::with_context({"array ", source.GetFullName()}, [&] {
    blocks.visit([&](std::span<const std::uint64_t> position, std::optional<Reference> block) {
      return is_complete = take(position, std::move(block));
    });
  });
  if (progress.is_stopped()) report_stop("array " + GetFullName());
  return is_complete && progress(1);
}

// With `may_be_missing`, all elements are equal; nothing is stored if missing chunks read so.
bool Array::copy_box(const GDALMDArray& source, const zarrcore::Box& box, bool may_be_missing,
                     zarrcore::Buffer& buffer) {
  const std::vector<GUInt64> start(box.start.begin(), box.start.end());
  const std::vector<std::size_t> lengths(box.count.begin(), box.count.end());
  const std::uint64_t bytes = box.size() * type_.GetSize();
  if (buffer.size() < bytes) buffer = zarrcore::Buffer(bytes);
  if (!source.Read(start.data(), lengths.data(), nullptr, nullptr, type_, buffer.data(),
                   buffer.data(), bytes)) {
    return false;
  }
  if (may_be_missing) {
    const auto* missing = static_cast<const std::byte*>(GetRawNoDataValue());
    const std::vector<std::byte> zero(type_.GetSize());
    if (std::memcmp(buffer.data(), missing != nullptr ? missing : zero.data(), zero.size()) == 0) {
      return true;
    }
  }
  if (!array_->can_encode()) {
    throw zarrcore::Error("a block at " + zarrcore::shape_text(box.start, ",") +
                          " is not encoded as the others, or missing, and its codecs are for "
                          "reading only");
  }
  return transfer(GF_Write, {box.start, box.count, std::vector<std::int64_t>(rank(), 1)}, type_,
                  buffer.data(), zarrcore::c_strides(box.count, type_.GetSize()));
}

}  // namespace gdal_zarr
