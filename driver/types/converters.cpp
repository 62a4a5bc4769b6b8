#include "driver/types/converters.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace gdal_zarr {
namespace {

class NumberConverter final : public zarrcore::ElementConverter {
 public:
  NumberConverter(GDALDataType source, GDALDataType destination)
      : source_(source), destination_(destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    // GDAL takes strides as int.
    if (fits_int(source_stride) && fits_int(destination_stride)) {
      GDALCopyWords64(source, source_, static_cast<int>(source_stride), destination, destination_,
                      static_cast<int>(destination_stride), static_cast<GPtrDiff_t>(count));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      GDALCopyWords64(source, source_, 0, destination, destination_, 0, 1);
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  static bool fits_int(std::ptrdiff_t stride) {
    return stride >= std::numeric_limits<int>::min() && stride <= std::numeric_limits<int>::max();
  }

  GDALDataType source_;
  GDALDataType destination_;
};

class StructureConverter final : public zarrcore::ElementConverter {
 public:
  StructureConverter(std::vector<StructurePart> parts, std::size_t cleared_size)
      : parts_(std::move(parts)), cleared_size_(cleared_size) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t done = 0; done < count; done += kBatch) {
      const std::size_t now = std::min(kBatch, count - done);
      convert_batch(source, source_stride, destination, destination_stride, now);
      source += static_cast<std::ptrdiff_t>(now) * source_stride;
      destination += static_cast<std::ptrdiff_t>(now) * destination_stride;
    }
  }

 private:
  // Few enough elements to stay in the cache while all parts are converted.
  static constexpr std::size_t kBatch = 256;

  void convert_batch(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                     std::ptrdiff_t destination_stride, std::size_t count) const {
    if (cleared_size_ != 0) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memset(destination + static_cast<std::ptrdiff_t>(i) * destination_stride, 0,
                    cleared_size_);
      }
    }
    for (const StructurePart& part : parts_) {
      const std::byte* from = source + part.source_offset;
      std::byte* to = destination + part.destination_offset;
      if (part.converter) {
        part.converter->convert(from, source_stride, to, destination_stride, count);
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to, from, part.destination_size);
        from += source_stride;
        to += destination_stride;
      }
    }
  }

  std::vector<StructurePart> parts_;
  std::size_t cleared_size_;
};

}  // namespace

std::unique_ptr<const zarrcore::ElementConverter> make_number_converter(GDALDataType source,
                                                                        GDALDataType destination) {
  if (source == destination) return nullptr;
  return std::make_unique<NumberConverter>(source, destination);
}

std::unique_ptr<const zarrcore::ElementConverter> make_structure_converter(
    std::vector<StructurePart> parts, std::size_t source_size, std::size_t destination_size,
    bool clears_gaps) {
  std::size_t end = 0;  // of the parts so far that are the same bytes in the same places
  for (const StructurePart& part : parts) {
    if (part.converter || part.source_offset != end || part.destination_offset != end) break;
    end += part.destination_size;
  }
  if (end == destination_size && end == source_size) return nullptr;
  return std::make_unique<StructureConverter>(std::move(parts), clears_gaps ? destination_size : 0);
}

}  // namespace gdal_zarr
