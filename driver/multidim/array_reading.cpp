// What an array gives to those who read its elements, or where they are stored.
#include <algorithm>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

#if GDAL_ZARR_AT_LEAST(3, 12)
// Of blocks that are files of their own or ranges of one; others have no file name.
bool Array::GetRawBlockInfo(const std::uint64_t* position, GDALMDArrayRawBlockInfo& info) const {
  return guarded(false, [&] {
    info.clear();
    const auto block = array_->find_stored_range({position, rank()});
    if (!block) return true;
    // References have no files for what they hold.
    const std::string path = session_->hierarchy().store()->description() + '/' + block->key;
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

void Array::read_elements(const zarrcore::Selection& selection,
                          const GDALExtendedDataType& buffer_type, void* buffer,
                          zarrcore::Strides strides) const {
  check_is_there();
  const auto converter = make_converter(array_->data_type(), buffer_type);
  CallerState caller;
  zarrcore::ReadOptions options;
  options.threads = thread_count();
  options.worker_scope = caller.scope();
  const zarrcore::Destination destination{static_cast<std::byte*>(buffer), std::move(strides),
                                          converter.get()};
  if (const auto writer = writer_if_any()) {
    writer->read(selection, destination, options);
  } else {
    array_->read(selection, destination, options);
  }
}

bool Array::read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                 void* buffer, zarrcore::Strides strides) const {
  return guarded(false, [&] {
    read_elements(selection, buffer_type, buffer, std::move(strides));
    return true;
  });
}

bool Array::read_coordinates(std::uint64_t start, std::size_t count,
                             const GDALExtendedDataType& buffer_type, void* buffer) const {
  return guarded(false, [&] {
    try {
      read_elements({{start}, {count}, {1}}, buffer_type, buffer,
                    {static_cast<std::ptrdiff_t>(buffer_type.GetSize())});
      return true;
    } catch (const std::exception& exception) {
      session_->warn_of_coordinates(node_path(), exception.what());
      return false;
    }
  });
}

bool Array::IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const {
  return guarded(false, [&] {
    const std::size_t rank = this->rank();
    const zarrcore::Selection selection{{start, start + rank}, {count, count + rank}, {}};
    const char* limit_text = CSLFetchNameValue(options, "CACHE_SIZE");
    const auto limit =
        limit_text != nullptr
            ? static_cast<std::uint64_t>(std::max<GIntBig>(0, CPLAtoGIntBig(limit_text)))
            : static_cast<std::uint64_t>(GDALGetCacheMax64()) / 2;
    const auto bytes = array_->decoded_bytes(selection);
    if (!bytes || *bytes > limit) {
      throw zarrcore::Error("array " + GetFullName() + ": the chunks to be read in advance have " +
                            (bytes ? std::to_string(*bytes) : "2^64 or more") +
                            " bytes where CACHE_SIZE allows " + std::to_string(limit));
    }
    session_->reserve_chunk_cache(*bytes);
    CallerState caller;
    zarrcore::ReadOptions read_options;
    read_options.threads = thread_count(CSLFetchNameValue(options, "NUM_THREADS"));
    read_options.worker_scope = caller.scope();
    array_->prefetch(selection, read_options);
    return true;
  });
}

Array::Region Array::region(const GUInt64* start, const size_t* count, const GInt64* step,
                            const GPtrDiff_t* stride,
                            const GDALExtendedDataType& buffer_type) const {
  // GDAL made its arguments for the dimensions, which may have been unavailable.
  if (GetDimensions().size() != rank()) {
    throw zarrcore::Error("array " + GetFullName() + ": its dimensions are not known");
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

bool Array::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                  const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                  void* buffer) const {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    read_elements(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
    return true;
  });
}

}  // namespace gdal_zarr
