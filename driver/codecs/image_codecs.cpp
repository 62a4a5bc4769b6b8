// The codecs of the Python package imagecodecs whose chunks are images. An image's values in C
// order are rows, columns, samples; they are reshaped to the chunk, whose size must agree.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/codecs/gdal_codecs.h"
#include "driver/codecs/image_files.h"
#include "driver/codecs/memory_raster.h"
#include "driver/gdal/compat.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {
namespace {

using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::MutableByteSpan;
using zarrcore::Shape;
using zarrcore::TypeKind;

// The conversion of an image's samples.
enum class Samples : std::uint8_t {
  bits,       // of one bit: 0 and 1
  plain,      // as GDAL gives them: palette indices, also samples of fewer bits than their type
  exact,      // the same, without samples of fewer bits
  expanded,   // the palette's colours; gray samples of fewer bits scaled to 8
  by_option,  // an alpha channel is added or removed to fit the chunk (WebP's `hasalpha`)
};

struct ImageFormat {
  std::string_view name;  // after "imagecodecs_"
  Samples samples;
  MemoryFormat file;
  MakeImageFile make_file = nullptr;  // null if the chunk is the file
};

constexpr std::array<const char*, 4> kTiffOptions{"NUM_THREADS=1"};
constexpr std::array<const char*, 4> kJpeg2000Drivers{"JP2OpenJPEG", "JP2KAK", "JP2Grok"};
constexpr std::array<const char*, 4> kJpeg2000Options{"1BIT_ALPHA_PROMOTION=NO",
                                                      "GEOREF_SOURCES=NONE"};

template <std::uint16_t kCompression>
ImageFile make_fax(ByteSpan chunk, const Json& configuration, const ChunkSpec& spec) {
  return make_fax_file(chunk, configuration, spec, kCompression);
}

constexpr ImageFormat kFormats[] = {
    {"bmp", Samples::expanded, {{"BMP"}, "BMP image", "bmp"}},
    {"ccittfax3", Samples::bits, {{"GTiff"}, "fax", "tif", kTiffOptions}, &make_fax<3>},
    {"ccittfax4", Samples::bits, {{"GTiff"}, "fax", "tif", kTiffOptions}, &make_fax<4>},
    {"ccittrle", Samples::bits, {{"GTiff"}, "fax", "tif", kTiffOptions}, &make_fax<2>},
    {"gif", Samples::plain, {{"GIF"}, "GIF image", "gif"}, make_gif_file},
    {"jpeg", Samples::plain, {{"JPEG"}, "JPEG image", "jpg"}, make_jpeg_file},
    {"jpeg2k", Samples::plain, {kJpeg2000Drivers, "JPEG 2000 image", "jp2", kJpeg2000Options}},
    {"jpegxl", Samples::plain, {{"JPEGXL"}, "JPEG XL image", "jxl"}},
    {"lerc", Samples::exact, {{"GTiff"}, "LERC image", "tif", kTiffOptions}, make_lerc_file},
    {"png", Samples::expanded, {{"PNG"}, "PNG image", "png"}},
    {"spng", Samples::expanded, {{"PNG"}, "PNG image", "png"}},
    {"tiff", Samples::exact, {{"GTiff"}, "TIFF", "tif", kTiffOptions}},
    {"webp", Samples::by_option, {{"WEBP"}, "WebP image", "webp"}},
};

// The type of an image's bands for elements of `type`; GDT_Unknown when an image has none.
GDALDataType band_type(const zarrcore::DataType& type) {
  const bool is_plain = type.bits == 0 && type.float_format == zarrcore::FloatFormat::ieee;
  if (!is_plain) return GDT_Unknown;
  switch (type.kind) {
    case TypeKind::boolean:
      return GDT_Byte;
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

// Before GDAL 3.7, a band of Int8 was a band of Byte with an item that states it.
bool is_signed_byte(GDALRasterBand& band) {
  const char* type = band.GetMetadataItem("PIXELTYPE", "IMAGE_STRUCTURE");
  return type != nullptr && EQUAL(type, "SIGNEDBYTE");
}

Shape without_ones(Shape shape) {
  std::erase(shape, std::uint64_t{1});
  return shape;
}

// The bits of a band's samples if they are fewer than its type has.
std::optional<int> sample_bits(GDALRasterBand& band) {
  const char* bits = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
  return bits != nullptr ? std::optional(std::atoi(bits)) : std::nullopt;
}

// "PNG images", "TIFF files".
std::string files_of(const ImageFormat& format) {
  const std::string noun = format.file.noun;
  return noun + (noun.ends_with("image") ? "s" : " files");
}

class ImageCodec final : public MemoryFileCodec {
 public:
  ImageCodec(const ImageFormat& format, const Json& configuration, const ChunkSpec& spec)
      : MemoryFileCodec("imagecodecs_" + std::string(format.name), files_of(format), spec),
        format_(format),
        configuration_(configuration),
        type_(spec.data_type),
        band_type_(band_type(type_)) {
    if (band_type_ == GDT_Unknown ||
        (type_.kind == TypeKind::boolean && format.samples != Samples::bits)) {
      throw Error("a " + std::string(format.file.noun) + " has no elements of the data type " +
                  zarrcore::type_name(type_));
    }
  }

  // Rejects an image of another size or type before much memory is allocated for it; decoding
  // rejects it as well.
  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    constexpr std::uint64_t kMuch = 16 << 20;
    if (byte_count() <= kMuch) return byte_count();
    const ImageFile file = make_file(encoded);
    const MemoryRaster image = open(encoded, file);
    check(image);
    return byte_count();
  }

  using MemoryFileCodec::decode;
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    zarrcore::check_size(name() + ": ", byte_count(), decoded.size());
    const ImageFile file = make_file(encoded);
    const MemoryRaster image = open(encoded, file);
    const Layout layout = check(image);
    if (decoded.empty()) return;
    if (layout.bands < layout.samples) {  // an alpha channel that the image does not have
      std::fill(decoded.begin(), decoded.end(), std::byte{0xFF});
    }
    GDALDataset& dataset = image.dataset();
    const int width = dataset.GetRasterXSize();
    const int height = dataset.GetRasterYSize();
    CPLErrorReset();
    const CPLErr result =
        dataset.RasterIO(GF_Read, 0, 0, width, height, decoded.data(), width, height, band_type_,
                         layout.bands, nullptr, layout.pixel, layout.line, layout.band, nullptr);
    // A fax that is damaged is white from there on, with a warning.
    const bool is_damaged = format_.samples == Samples::bits && CPLGetLastErrorType() >= CE_Warning;
    if (result != CE_None || is_damaged) image.fail("the image cannot be decoded");
    if (file.has_masked_floats) mask_floats(decoded);
    if (format_.samples == Samples::expanded) expand(*dataset.GetRasterBand(1), layout, decoded);
    // GDAL decodes to the byte order of the host; decoded chunks are little-endian.
    if (zarrcore::kHostEndian != zarrcore::Endian::little) {
      zarrcore::swap_bytes(decoded, type_.item_size / (type_.kind == TypeKind::complex ? 2 : 1));
    }
  }

 private:
  struct Layout {
    int bands;    // that are read
    int samples;  // of each pixel in the chunk
    // Distances in bytes, in C order of the chunk.
    GSpacing pixel;
    GSpacing line;
    GSpacing band;
  };

  ImageFile make_file(ByteSpan encoded) const {
    if (format_.make_file == nullptr) return {};
    try {
      return format_.make_file(encoded, configuration_, spec());
    } catch (const Error& problem) {
      throw error(problem.what());
    }
  }

  MemoryRaster open(ByteSpan encoded, const ImageFile& file) const {
    return {name(), format_.file, format_.make_file != nullptr ? file.bytes.span() : encoded,
            file.has_four_colors};
  }

  // Throws Error unless the image holds a chunk of this shape and type.
  Layout check(const MemoryRaster& image) const {
    GDALDataset& dataset = image.dataset();
    if (dataset.GetMetadata("SUBDATASETS") != nullptr) {
      image.fail(std::string("the ") + format_.file.noun + " holds several images");
    }
    const auto width = static_cast<std::uint64_t>(dataset.GetRasterXSize());
    const auto height = static_cast<std::uint64_t>(dataset.GetRasterYSize());
    const auto bands = static_cast<std::uint64_t>(dataset.GetRasterCount());
    if (bands == 0) image.fail(std::string("the ") + format_.file.noun + " holds no image");
    const bool is_tiff = format_.name == "tiff";
    const char* interleave = dataset.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE");
    // The bands of a TIFF may be stored one after the other.
    const bool is_by_pixel =
        !is_tiff || (bands > 1 && interleave != nullptr && EQUAL(interleave, "PIXEL"));
    const Shape found = is_by_pixel ? Shape{height, width, bands} : Shape{bands, height, width};
    const auto samples = sample_count(*dataset.GetRasterBand(1), found, bands);
    if (is_tiff ? without_ones(found) != without_ones(spec().shape) : !samples) {
      image.fail(std::string("the ") + format_.file.noun + " holds " +
                 zarrcore::shape_text(found, " x ") + " pixels where the chunk has " +
                 chunk_text());
    }
    for (int i = 1; i <= dataset.GetRasterCount(); ++i) {
      check(image, *dataset.GetRasterBand(i), bands);
    }
    const auto size = static_cast<GSpacing>(type_.item_size);
    const auto columns = static_cast<GSpacing>(width);
    const auto read = static_cast<int>(std::min(bands, samples.value_or(bands)));
    const auto count = static_cast<int>(samples.value_or(bands));
    if (is_by_pixel) return {read, count, size * count, size * count * columns, size};
    return {read, count, size, size * columns, size * columns * static_cast<GSpacing>(height)};
  }

  // The samples of each pixel in the chunk; nullopt when the image of the shape `found` does not
  // fit it.
  std::optional<std::uint64_t> sample_count(GDALRasterBand& first, const Shape& found,
                                            std::uint64_t bands) const {
    const auto pixels = zarrcore::checked_product(Shape{found[0], found[1]});
    const std::uint64_t elements = element_count();
    if (!pixels || *pixels == 0 || elements % *pixels != 0) return std::nullopt;
    const std::uint64_t samples = elements / *pixels;
    if (format_.samples == Samples::expanded && bands == 1 && first.GetColorTable() != nullptr) {
      return fits_palette(*first.GetColorTable(), samples) ? std::optional(samples) : std::nullopt;
    }
    if (format_.samples == Samples::by_option) {
      const Json* has_alpha = zarrcore::find_member(configuration_, "hasalpha");
      const bool is_given = has_alpha != nullptr && has_alpha->is_boolean();
      if (is_given && (bands == 3 || bands == 4)) {
        return samples == (*has_alpha == true ? 4U : 3U) ? std::optional(samples) : std::nullopt;
      }
    }
    // The mask of LERC is an additional band.
    const bool is_masked = format_.name == "lerc" && bands == samples + 1;
    return samples == bands || is_masked ? std::optional(samples) : std::nullopt;
  }

  // An image with transparent colours has an alpha channel; only a BMP of gray colours has one
  // sample.
  bool fits_palette(const GDALColorTable& palette, std::uint64_t samples) const {
    bool is_gray = format_.name == "bmp" && configuration_.value("asrgb", Json()) != true;
    bool has_alpha = false;
    for (int i = 0; i < palette.GetColorEntryCount(); ++i) {
      const GDALColorEntry& color = *palette.GetColorEntry(i);
      is_gray = is_gray && color.c1 == color.c2 && color.c1 == color.c3;
      has_alpha = has_alpha || (color.c4 != 255 && format_.name != "bmp");
    }
    return samples == (is_gray ? 1U : has_alpha ? 4U : 3U);
  }

  void check(const MemoryRaster& image, GDALRasterBand& band, std::uint64_t band_count) const {
    const GDALDataType found = band.GetRasterDataType();
    const bool is_signed = type_.kind == TypeKind::signed_integer;
    const bool has_sign = found != GDT_Byte || is_signed_byte(band) == is_signed;
    const std::string before = std::string("the ") + format_.file.noun + " holds ";
    if (found != band_type_ || !has_sign) {
      image.fail(before + GDALGetDataTypeName(found) + " where the chunk holds " +
                 zarrcore::type_name(type_));
    }
    if (const auto bits = sample_bits(band); bits && format_.samples == Samples::exact) {
      image.fail(before + "samples of " + std::to_string(*bits) + " bits");
    }
    int has_transparent_color = 0;
    band.GetNoDataValue(&has_transparent_color);
    if (format_.samples == Samples::expanded && has_transparent_color != 0 &&
        band.GetColorTable() == nullptr) {
      image.fail(before + "a transparent colour, which is not supported");
    }
    // GDAL decodes whole blocks, whose size a file can state as it likes.
    constexpr std::uint64_t kMaxBlockSlack = 64 << 20;
    int width = 0;
    int height = 0;
    band.GetBlockSize(&width, &height);
    const auto bytes = zarrcore::checked_product(Shape{static_cast<std::uint64_t>(width),
                                                       static_cast<std::uint64_t>(height),
                                                       band_count, type_.item_size});
    if (!bytes || *bytes > kMaxBlockSlack + 2 * byte_count()) {
      image.fail(std::string("the ") + format_.file.noun + " has blocks of " +
                 std::to_string(width) + " x " + std::to_string(height) +
                 " pixels, far more than the chunk has");
    }
  }

  void mask_floats(MutableByteSpan decoded) const {
    const auto size = static_cast<std::size_t>(type_.item_size);
    for (std::size_t at = 0; at < decoded.size(); at += size) {
      float single = 0;
      double value = 0;
      if (size == sizeof single) {
        std::memcpy(&single, decoded.data() + at, size);
        value = single;
      } else {
        std::memcpy(&value, decoded.data() + at, size);
      }
      if (std::isnan(value)) std::memset(decoded.data() + at, 0, size);
    }
  }

  // Replaces palette indices, each in the first sample of a pixel, by colours, and scales gray
  // samples of fewer bits.
  static void expand(GDALRasterBand& band, const Layout& layout, MutableByteSpan decoded) {
    const auto samples = static_cast<std::size_t>(layout.samples);
    if (const GDALColorTable* palette = band.GetColorTable(); palette != nullptr) {
      for (std::size_t at = 0; at + samples <= decoded.size(); at += samples) {
        const GDALColorEntry* color = palette->GetColorEntry(std::to_integer<int>(decoded[at]));
        if (color == nullptr) throw Error("an index of the image is not in its palette");
        const short channels[] = {color->c1, color->c2, color->c3, color->c4};
        for (std::size_t i = 0; i < samples; ++i) {
          decoded[at + i] = static_cast<std::byte>(channels[i]);
        }
      }
      return;
    }
    const auto bits = sample_bits(band);
    if (!bits || *bits < 1 || *bits > 7) return;
    const int scale = 255 / ((1 << *bits) - 1);
    for (std::byte& sample : decoded) {
      sample = static_cast<std::byte>(std::to_integer<int>(sample) * scale);
    }
  }

  const ImageFormat& format_;
  Json configuration_;
  zarrcore::DataType type_;
  GDALDataType band_type_;
};

zarrcore::Codec make_image(const ImageFormat& format, const Json& configuration,
                           const ChunkSpec& spec) {
  // The first image is decoded. Other members that change what decoding gives are read above; the
  // rest is for encoding.
  for (const char* key : {"index", "asrgb", "planar", "mipmap", "fp2int"}) {
    const Json* value = zarrcore::find_value(configuration, key);
    const bool is_default = value == nullptr || *value == false ||
                            (value->is_number_integer() && *value == 0) ||
                            (format.name == "bmp" && *value == true);
    if (!is_default) {
      throw Error('"' + std::string(key) + "\" is " + zarrcore::excerpt(*value) +
                  ", which is not supported");
    }
  }
  return std::make_unique<ImageCodec>(format, configuration, spec);
}

}  // namespace

zarrcore::CodecFactory find_image_codec(std::string_view name) {
  constexpr std::string_view kPrefix = "imagecodecs_";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const auto* format = std::ranges::find(kFormats, name, &ImageFormat::name);
  if (format == std::end(kFormats)) return nullptr;
  return [format](const Json& configuration, const ChunkSpec& spec) {
    return make_image(*format, configuration, spec);
  };
}

zarrcore::CodecFactory find_gdal_codec(std::string_view name) {
  constexpr std::string_view kNumcodecs = "numcodecs.";
  const std::string_view plain =
      name.starts_with(kNumcodecs) ? name.substr(kNumcodecs.size()) : name;
  if (zarrcore::CodecFactory codec = find_image_codec(plain)) return codec;
  if (zarrcore::CodecFactory codec = find_grib_codec(plain)) return codec;
  return find_registered_codec(name);
}

}  // namespace gdal_zarr
