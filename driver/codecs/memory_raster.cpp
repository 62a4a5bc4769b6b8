#include "driver/codecs/memory_raster.h"

#include <cpl_error.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

namespace {

std::string driver_list(const MemoryFormat& format) {
  std::string list;
  for (const char* driver : format.drivers) {
    if (driver != nullptr) list += (list.empty() ? "" : " or ") + std::string(driver);
  }
  return list;
}

}  // namespace

MemoryRaster::MemoryRaster(std::string_view codec, const MemoryFormat& format, ByteSpan bytes,
                           bool has_four_colors)
    : options_{{{"GDAL_PAM_ENABLED", "NO", false},
                {"GDAL_NUM_THREADS", "1", false},
                // Truncated and damaged JPEG images would only be warnings.
                {"GDAL_ERROR_ON_LIBJPEG_WARNING", "YES", false},
                {"GDAL_JPEG_TO_RGB", has_four_colors ? "NO" : "YES", false},
                {"GRIB_NORMALIZE_UNITS", "NO", false},
                {"GRIB_ADJUST_LONGITUDE_RANGE", "NO", false},
                {"GTIFF_IGNORE_READ_ERRORS", "NO", false},
                {"GTIFF_IMPLICIT_JPEG_OVR", "NO", false}}},
      codec_(codec) {
  const auto& drivers = format.drivers;
  if (std::none_of(drivers.begin(), drivers.end(), [](const char* driver) {
        return driver != nullptr && GDALGetDriverByName(driver) != nullptr;
      })) {
    fail("GDAL has no driver " + driver_list(format));
  }
  static std::atomic<std::uint64_t> count{0};
  const std::string name = "gdal_zarr_chunk_" + std::to_string(count++) + '.' + format.extension;
  path_ = "/vsimem/" + name;
  // The file is never written to.
  auto* data = const_cast<GByte*>(reinterpret_cast<const GByte*>(bytes.data()));
  VSIFCloseL(VSIFileFromMemBuffer(path_.c_str(), data, bytes.size(), FALSE));
  std::array<const char*, 5> allowed{};
  std::copy(drivers.begin(), drivers.end(), allowed.begin());
  std::array<const char*, 5> open_options{};
  std::copy(format.open_options.begin(), format.open_options.end(), open_options.begin());
  // GDAL must not look for sidecar files.
  const char* const siblings[] = {name.c_str(), nullptr};
  dataset_.reset(GDALDataset::Open(path_.c_str(), GDAL_OF_RASTER | GDAL_OF_INTERNAL, allowed.data(),
                                   open_options.data(), siblings));
  if (dataset_ == nullptr) {
    VSIUnlink(path_.c_str());
    fail(std::string("the chunk is not a ") + format.noun + " that GDAL reads");
  }
}

MemoryRaster::~MemoryRaster() {
  dataset_.reset();
  VSIUnlink(path_.c_str());
}

void MemoryRaster::fail(const std::string& problem) const {
  std::string reason = CPLGetLastErrorMsg();
  // The file's name means nothing outside of this program.
  for (const std::string& before : {path_ + ": ", path_}) {
    if (before.size() <= 2) continue;
    for (auto at = reason.find(before); at != std::string::npos; at = reason.find(before)) {
      reason.replace(at, before.size(), before == path_ ? "the chunk" : "");
    }
  }
  throw Error(codec_ + ": " + problem + (reason.empty() ? "" : ": " + reason));
}

MemoryFileCodec::MemoryFileCodec(std::string name, std::string files,
                                 const zarrcore::ChunkSpec& spec)
    : name_(std::move(name)),
      files_(std::move(files)),
      spec_(spec),
      byte_count_(spec.byte_count()) {}

Error MemoryFileCodec::error(const std::string& problem) const {
  return Error(name_ + ": " + problem);
}

std::string MemoryFileCodec::chunk_text() const {
  return zarrcore::shape_text(spec_.shape.empty() ? zarrcore::Shape{1} : spec_.shape, " x ");
}

Buffer MemoryFileCodec::encode(ByteSpan /*decoded*/) const {
  throw error("chunks that are " + files_ + " are not written");
}

Buffer MemoryFileCodec::decode(ByteSpan encoded, std::uint64_t max_size) const {
  zarrcore::check_max_size(name_ + ": ", byte_count_, max_size);
  Buffer decoded(byte_count_);
  decode(encoded, decoded.span());
  return decoded;
}

}  // namespace gdal_zarr
