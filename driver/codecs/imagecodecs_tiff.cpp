#include <cpl_error.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "driver/codecs/gdal_codecs.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/configuration.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::MutableByteSpan;
using zarrcore::TypeKind;

constexpr std::string_view kBefore = "imagecodecs_tiff: ";

// The type of a TIFF's bands for elements of `type`; GDT_Unknown when a TIFF has none.
GDALDataType band_type(const zarrcore::DataType& type) {
  const bool is_plain = type.bits == 0 && type.float_format == zarrcore::FloatFormat::ieee;
  if (!is_plain) return GDT_Unknown;
  switch (type.kind) {
    case TypeKind::unsigned_integer:
      return type.item_size == 1   ? GDT_Byte
             : type.item_size == 2 ? GDT_UInt16
             : type.item_size == 4 ? GDT_UInt32
                                   : GDT_UInt64;
    case TypeKind::signed_integer:
#if GDAL_ZARR_AT_LEAST(3, 7)
      if (type.item_size == 1) return GDT_Int8;
#else
      if (type.item_size == 1) return GDT_Byte;  // see is_signed_byte()
#endif
      return type.item_size == 2 ? GDT_Int16 : type.item_size == 4 ? GDT_Int32 : GDT_Int64;
    case TypeKind::floating:
      return type.item_size == 4 ? GDT_Float32 : type.item_size == 8 ? GDT_Float64 : GDT_Unknown;
    case TypeKind::complex:
      return type.item_size == 8 ? GDT_CFloat32 : type.item_size == 16 ? GDT_CFloat64 : GDT_Unknown;
    default:
      return GDT_Unknown;
  }
}

// Before GDAL 3.7 a band of Int8 was one of Byte that says so.
bool is_signed_byte(GDALRasterBand& band) {
  const char* type = band.GetMetadataItem("PIXELTYPE", "IMAGE_STRUCTURE");
  return type != nullptr && EQUAL(type, "SIGNEDBYTE");
}

// A TIFF in memory, for which GDAL reads nothing but these bytes. GDAL's messages are silenced; the
// last one becomes part of the exception.
class MemoryTiff {
 public:
  explicit MemoryTiff(ByteSpan bytes) {
    static std::atomic<std::uint64_t> count{0};
    const std::string name = "gdal_zarr_chunk_" + std::to_string(count++) + ".tif";
    path_ = "/vsimem/" + name;
    // The file is never written to.
    auto* data = const_cast<GByte*>(reinterpret_cast<const GByte*>(bytes.data()));
    VSIFCloseL(VSIFileFromMemBuffer(path_.c_str(), data, bytes.size(), FALSE));
    static constexpr const char* kDrivers[] = {"GTiff", nullptr};
    static constexpr const char* kOptions[] = {"NUM_THREADS=1", nullptr};
    // GDAL must not look for sidecar files.
    const char* const siblings[] = {name.c_str(), nullptr};
    dataset_.reset(GDALDataset::Open(path_.c_str(), GDAL_OF_RASTER | GDAL_OF_INTERNAL, kDrivers,
                                     kOptions, siblings));
  }
  ~MemoryTiff() {
    dataset_.reset();
    VSIUnlink(path_.c_str());
  }
  MemoryTiff(const MemoryTiff&) = delete;
  MemoryTiff& operator=(const MemoryTiff&) = delete;

  GDALDataset* dataset() const { return dataset_.get(); }

  [[noreturn]] static void fail(const std::string& problem) {
    const std::string reason = CPLGetLastErrorMsg();
    throw Error(std::string(kBefore) + problem + (reason.empty() ? "" : ": " + reason));
  }

 private:
  QuietErrors quiet_;
  std::string path_;
  std::unique_ptr<GDALDataset> dataset_;
};

zarrcore::Shape without_ones(zarrcore::Shape shape) {
  std::erase(shape, std::uint64_t{1});
  return shape;
}

class TiffCodec final : public zarrcore::BytesToBytesCodec {
 public:
  explicit TiffCodec(const ChunkSpec& spec)
      : shape_(spec.shape),
        type_(spec.data_type),
        band_type_(band_type(spec.data_type)),
        byte_count_(spec.byte_count()) {
    if (band_type_ == GDT_Unknown) {
      throw Error("a TIFF has no elements of the data type " + zarrcore::type_name(type_));
    }
  }

  // Rejects a TIFF of another shape or type before memory is allocated for it.
  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    const MemoryTiff tiff(encoded);
    check(tiff);
    return byte_count_;
  }

  Buffer encode(ByteSpan /*decoded*/) const override {
    throw Error(std::string(kBefore) + "chunks that are TIFF files are not written");
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    zarrcore::check_size(kBefore, byte_count_, decoded.size());
    const MemoryTiff tiff(encoded);
    const Layout layout = check(tiff);
    if (decoded.empty()) return;
    GDALDataset* dataset = tiff.dataset();
    const int width = dataset->GetRasterXSize();
    const int height = dataset->GetRasterYSize();
    const CPLErr result = dataset->RasterIO(GF_Read, 0, 0, width, height, decoded.data(), width,
                                            height, band_type_, dataset->GetRasterCount(), nullptr,
                                            layout.pixel, layout.line, layout.band, nullptr);
    if (result != CE_None) MemoryTiff::fail("the TIFF cannot be decoded");
    // GDAL decodes to the byte order of the host; decoded chunks are little-endian.
    if (zarrcore::kHostEndian != zarrcore::Endian::little) swap(decoded);
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    zarrcore::check_max_size(kBefore, byte_count_, max_size);
    Buffer decoded(byte_count_);
    decode(encoded, decoded.span());
    return decoded;
  }

 private:
  // Distances in bytes, in C order of the chunk.
  struct Layout {
    GSpacing pixel;
    GSpacing line;
    GSpacing band;
  };

  // Throws Error unless the TIFF holds a chunk of this shape and type.
  Layout check(const MemoryTiff& tiff) const {
    GDALDataset* dataset = tiff.dataset();
    if (dataset == nullptr) {
      if (GDALGetDriverByName("GTiff") == nullptr) MemoryTiff::fail("GDAL has no GTiff driver");
      MemoryTiff::fail("the chunk is not a TIFF that GDAL reads");
    }
    if (dataset->GetMetadata("SUBDATASETS") != nullptr) {
      MemoryTiff::fail("the TIFF holds several images");
    }
    const auto width = static_cast<std::uint64_t>(dataset->GetRasterXSize());
    const auto height = static_cast<std::uint64_t>(dataset->GetRasterYSize());
    const auto bands = static_cast<std::uint64_t>(dataset->GetRasterCount());
    if (bands == 0) MemoryTiff::fail("the TIFF holds no image");
    const char* interleave = dataset->GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE");
    const bool is_by_pixel = bands > 1 && interleave != nullptr && EQUAL(interleave, "PIXEL");
    const zarrcore::Shape found =
        is_by_pixel ? zarrcore::Shape{height, width, bands} : zarrcore::Shape{bands, height, width};
    if (without_ones(found) != without_ones(shape_)) {
      MemoryTiff::fail("the TIFF holds " + zarrcore::shape_text(found, " x ") +
                       " pixels where the chunk has " +
                       zarrcore::shape_text(shape_.empty() ? zarrcore::Shape{1} : shape_, " x "));
    }
    for (int i = 1; i <= dataset->GetRasterCount(); ++i) check(*dataset->GetRasterBand(i), bands);
    const auto size = static_cast<GSpacing>(type_.item_size);
    const auto columns = static_cast<GSpacing>(width);
    const auto count = static_cast<GSpacing>(bands);
    if (is_by_pixel) return {size * count, size * count * columns, size};
    return {size, size * columns, size * columns * static_cast<GSpacing>(height)};
  }

  void check(GDALRasterBand& band, std::uint64_t band_count) const {
    const GDALDataType found = band.GetRasterDataType();
    const bool is_signed = type_.kind == TypeKind::signed_integer;
    const bool has_sign = found != GDT_Byte || is_signed_byte(band) == is_signed;
    if (found != band_type_ || !has_sign) {
      MemoryTiff::fail(std::string("the TIFF holds ") + GDALGetDataTypeName(found) +
                       " where the chunk holds " + zarrcore::type_name(type_));
    }
    if (const char* bits = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE"); bits != nullptr) {
      MemoryTiff::fail(std::string("the TIFF holds samples of ") + bits + " bits");
    }
    // GDAL decodes whole blocks, whose size a file can state as it likes.
    constexpr std::uint64_t kMaxBlockSlack = 64 << 20;
    int width = 0;
    int height = 0;
    band.GetBlockSize(&width, &height);
    const auto bytes = zarrcore::checked_product(zarrcore::Shape{static_cast<std::uint64_t>(width),
                                                                 static_cast<std::uint64_t>(height),
                                                                 band_count, type_.item_size});
    if (!bytes || *bytes > kMaxBlockSlack + 2 * byte_count_) {
      MemoryTiff::fail("the TIFF has blocks of " + std::to_string(width) + " x " +
                       std::to_string(height) + " pixels, far more than the chunk has");
    }
  }

  void swap(MutableByteSpan decoded) const {
    const std::uint64_t unit = type_.item_size / (type_.kind == TypeKind::complex ? 2 : 1);
    for (std::size_t at = 0; at < decoded.size(); at += unit) {
      const MutableByteSpan element = decoded.subspan(at, unit);
      std::reverse(element.begin(), element.end());
    }
  }

  zarrcore::Shape shape_;
  zarrcore::DataType type_;
  GDALDataType band_type_;
  std::uint64_t byte_count_;
};

// The codec decodes the first image without its colours: other settings are errors.
zarrcore::Codec make_tiff(const Json& configuration, const ChunkSpec& spec) {
  for (const auto& [key, value] : configuration.items()) {
    const bool is_default = value.is_null() || value == false ||
                            (key == "index" && value.is_number_integer() && value == 0) ||
                            (key == "verbose" && value.is_number_integer());
    if (!is_default) {
      throw Error('"' + key + "\" is " + zarrcore::excerpt(value) + ", which is not supported");
    }
  }
  return std::make_unique<TiffCodec>(spec);
}

}  // namespace

zarrcore::CodecFactory find_gdal_codec(std::string_view name) {
  if (name == "imagecodecs_tiff" || name == "numcodecs.imagecodecs_tiff") return &make_tiff;
  return find_registered_codec(name);
}

}  // namespace gdal_zarr
