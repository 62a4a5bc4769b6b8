// Reading and writing the elements of an array, and where they are stored.
#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/stores/references/reference_store.h"
#include "driver/types/element_encoder.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/array/resize.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/byte_range.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

zarrcore::ReadOptions read_options(CallerState& caller, const char* threads = nullptr) {
  zarrcore::ReadOptions options;
  options.threads = thread_count(threads);
  options.worker_scope = caller.scope();
  return options;
}

zarrcore::WriteOptions write_options(CallerState& caller) {
  zarrcore::WriteOptions options;
  options.threads = thread_count();
  options.worker_scope = caller.scope();
  return options;
}

}  // namespace

Array::Region Array::region(const GUInt64* start, const size_t* count, const GInt64* step,
                            const GPtrDiff_t* stride,
                            const GDALExtendedDataType& buffer_type) const {
  // GDAL sized its arguments by the dimensions, which may have been unavailable.
  if (GetDimensions().size() != rank()) {
    throw Error("array " + GetFullName() + ": its dimensions are not known");
  }
  Region region;
  const auto item_size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
  for (std::size_t i = 0; i < rank(); ++i) {
    region.selection.start.push_back(start[i]);
    region.selection.count.push_back(count[i]);
    region.selection.step.push_back(step[i]);
    region.strides.push_back(stride[i] * item_size);
  }
  return region;
}

void Array::read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                 void* buffer, zarrcore::Strides strides) const {
  check_exists();
  const auto converter = make_converter(array_->data_type(), buffer_type);
  CallerState caller;
  const zarrcore::Destination destination{static_cast<std::byte*>(buffer), std::move(strides),
                                          converter.get()};
  zarrcore::ReadOptions options = read_options(caller);
  options.missing_chunks_are_errors = session_->missing_chunks_are_errors();
  if (const auto writer = writer_if_any()) {
    writer->read(selection, destination, options);
  } else {
    array_->read(selection, destination, options);
  }
}

void Array::write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                  const void* buffer, zarrcore::Strides strides) {
  check_exists();
  // The metadata needed to read a chunk is stored before the first chunk.
  session_->writable_hierarchy().flush_node(node_path());
  is_new_ = false;
  const auto encoder = make_element_encoder(buffer_type, array_->data_type());
  CallerState caller;
  writer()->write(selection,
                  {static_cast<const std::byte*>(buffer), std::move(strides), encoder.get()},
                  write_options(caller));
  session_->write_limit().enforce(*this);
}

bool Array::transfer(GDALRWFlag flag, const zarrcore::Selection& selection,
                     const GDALExtendedDataType& buffer_type, void* buffer,
                     zarrcore::Strides strides) {
  return guarded(false, [&] {
    if (flag == GF_Read) {
      read(selection, buffer_type, buffer, std::move(strides));
    } else {
      write(selection, buffer_type, buffer, std::move(strides));
    }
    return true;
  });
}

bool Array::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                  const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                  void* buffer) const {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    read(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
    return true;
  });
}

bool Array::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                   const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                   const void* buffer) {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    write(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
    return true;
  });
}

bool Array::read_coordinates(std::uint64_t start, std::size_t count,
                             const GDALExtendedDataType& buffer_type, void* buffer) const {
  return guarded(false, [&] {
    try {
      read({{start}, {count}, {1}}, buffer_type, buffer,
           {static_cast<std::ptrdiff_t>(buffer_type.GetSize())});
      return true;
    } catch (const std::exception& exception) {
      session_->coordinate_arrays().warn_unreadable(node_path(), exception.what());
      return false;
    }
  });
}

std::vector<std::byte> Array::stored_element(const void* element) const {
  std::vector<std::byte> stored(array_->data_type().item_size);
  const auto* from = static_cast<const std::byte*>(element);
  if (const auto encoder = make_element_encoder(type_, array_->data_type())) {
    encoder->convert(from, 0, stored.data(), 0, 1);
  } else {
    std::copy(from, from + stored.size(), stored.begin());
  }
  return stored;
}

void Array::gdal_element(const std::vector<std::byte>& stored, void* element) const {
  auto* to = static_cast<std::byte*>(element);
  if (const auto converter = make_converter(array_->data_type(), type_)) {
    converter->convert(stored.data(), 0, to, 0, 1);
  } else {
    std::copy(stored.begin(), stored.end(), to);
  }
}

bool Array::IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const {
  return guarded(false, [&] {
    check_exists();
    const zarrcore::Selection selection{{start, start + rank()}, {count, count + rank()}, {}};
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
    array_->prefetch(selection, read_options(caller, CSLFetchNameValue(options, "NUM_THREADS")));
    return true;
  });
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer() {
  const std::lock_guard lock(writer_mutex_);
  if (!writer_) {
    zarrcore::WriterOptions options = session_->writer_options();
    options.stores_empty_chunks = options.stores_empty_chunks || stores_empty_chunks_;
    writer_ = std::make_shared<zarrcore::ArrayWriter>(array_, std::move(options));
  }
  return writer_;
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer_if_any() const {
  const std::lock_guard lock(writer_mutex_);
  return writer_;
}

void Array::flush() {
  const auto writer = writer_if_any();
  if (!writer) return;
  CallerState caller;
  writer->flush(write_options(caller));
}

std::uint64_t Array::pending_bytes() const {
  const auto writer = writer_if_any();
  return writer ? writer->pending_bytes() : 0;
}

std::vector<GUInt64> Array::GetBlockSize() const {
  return guarded<std::vector<GUInt64>>({}, [&] {
    const zarrcore::Shape block = array_->inner_chunk_shape();
    return std::vector<GUInt64>(block.begin(), block.end());
  });
}

void Array::set_shape(const zarrcore::Shape& shape) {
  flush();
  if (shape == array_->shape()) return;
  const auto old = array_;
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.shape = shape; });
  session_->writable_hierarchy().flush_node(node_path());
  array_ = session_->reopen_array(node_path());
  {
    const std::lock_guard lock(writer_mutex_);
    writer_.reset();
  }
  CallerState caller;
  zarrcore::resize(*old, shape, write_options(caller));
}

#if GDAL_ZARR_AT_LEAST(3, 12)
namespace {

// A block in Kerchunk references: a part of the file that one names, or bytes in them.
void set_referenced_block(const ReferenceStore& references, const zarrcore::StoredRange& block,
                          GDALMDArrayRawBlockInfo& info) {
  auto place = references.locate(block.key);
  if (!place) return;
  if (place->path.empty()) {
    place->length = place->value.size();
  } else if (!place->length) {
    VSIStatBufL status;
    if (VSIStatL(place->path.c_str(), &status) != 0) {
      throw Error(place->path + ": this file, which a reference names, does not exist");
    }
    place->length = static_cast<std::uint64_t>(status.st_size);
  }
  // The block may be a part of the value.
  const zarrcore::ByteRange part = zarrcore::ByteRange::at(
      block.offset, block.length.value_or(*place->length - std::min(*place->length, block.offset)));
  zarrcore::resolve_range(part, *place->length);
  info.nSize = part.length;
  if (!place->path.empty()) {
    info.pszFilename = CPLStrdup(place->path.c_str());
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
    const auto block = array_->find_stored_range({position, rank()});
    if (!block) return true;
    const auto store = session_->hierarchy().store();
    if (const auto* references = dynamic_cast<const ReferenceStore*>(store.get())) {
      set_referenced_block(*references, *block, info);
      if (info.nSize > 0) info.papszInfo = CSLDuplicate(structural_info_.List());
      return true;
    }
    const std::string path = store->description() + '/' + block->key;
    VSIStatBufL status;
    if (VSIStatL(path.c_str(), &status) != 0) return true;
    info.pszFilename = CPLStrdup(path.c_str());
    info.nOffset = block->offset;
    info.nSize = block->length.value_or(static_cast<std::uint64_t>(status.st_size));
    info.papszInfo = CSLDuplicate(structural_info_.List());
    return true;
  });
}
#endif

}  // namespace gdal_zarr
