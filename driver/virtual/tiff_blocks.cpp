// The tiles and strips of a TIFF that GDAL has opened.
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "driver/gdal/messages.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/virtual/raster_blocks.h"
#include "driver/virtual/tiff_directory.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::CodecMetadata;
using zarrcore::Endian;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::TypeKind;

enum class TiffKind : std::uint8_t {
  stream,  // of bytes: samples in the file's byte order, after the predictor if there is one
  packed,  // the same without predictors
  image,   // samples themselves
};

struct Compression {
  TiffCompression code;
  TiffKind kind;
  const char* codec;  // null for none
  // Of GDAL, for a block that is the same and compressed without loss; null if there is none.
  const char* option;
  const char* lossless = nullptr;
  const char* configuration = "{}";  // what of it does not depend on the file
};

constexpr const char* kDeflateLevel = R"({"level": 6})";
constexpr const char* kZstdLevel = R"({"level": 9})";
constexpr const char* kXzStream = R"({"format": 1, "check": -1, "preset": null, "filters": null})";

constexpr Compression kCompressions[] = {
    {TiffCompression::none, TiffKind::packed, nullptr, "NONE"},
    {TiffCompression::lzw, TiffKind::stream, "numcodecs.imagecodecs_lzw", "LZW"},
    {TiffCompression::adobe_deflate, TiffKind::stream, "numcodecs.zlib", "DEFLATE", nullptr,
     kDeflateLevel},
    {TiffCompression::deflate, TiffKind::stream, "numcodecs.zlib", "DEFLATE", nullptr,
     kDeflateLevel},
    {TiffCompression::packbits, TiffKind::packed, "numcodecs.imagecodecs_packbits", "PACKBITS"},
    {TiffCompression::lzma, TiffKind::stream, "numcodecs.lzma", "LZMA", nullptr, kXzStream},
    {TiffCompression::zstd, TiffKind::stream, "numcodecs.zstd", "ZSTD", nullptr, kZstdLevel},
    {TiffCompression::jpeg, TiffKind::image, "numcodecs.imagecodecs_jpeg", nullptr},
    {TiffCompression::lerc, TiffKind::image, "numcodecs.imagecodecs_lerc", "LERC", "MAX_Z_ERROR=0"},
    {TiffCompression::webp, TiffKind::image, "numcodecs.imagecodecs_webp", "WEBP",
     "WEBP_LOSSLESS=YES"},
    {TiffCompression::jpeg2000, TiffKind::image, "numcodecs.imagecodecs_jpeg2k", nullptr},
    {TiffCompression::jpegxl, TiffKind::image, "numcodecs.imagecodecs_jpegxl", "JXL",
     "JXL_LOSSLESS=YES"},
    {TiffCompression::jpegxl_1_7, TiffKind::image, "numcodecs.imagecodecs_jpegxl", "JXL",
     "JXL_LOSSLESS=YES"},
};

const Compression& compression_of(const TiffDirectory& directory) {
  const auto* found = std::ranges::find(kCompressions, directory.compression, &Compression::code);
  if (found != std::end(kCompressions)) return *found;
  throw Error("no codec of Zarr decodes compression " +
              std::to_string(static_cast<unsigned>(directory.compression)) + " of TIFF");
}

bool is_packed(const TiffDirectory& directory) {
  return directory.bits < 16 && directory.bits != 8;
}

struct SampleFormat {
  std::uint64_t number;
  TypeKind kind;
  std::uint64_t min_size;  // in bytes
  std::uint64_t max_size;
};

constexpr SampleFormat kSampleFormats[] = {{1, TypeKind::unsigned_integer, 1, 8},
                                           {2, TypeKind::signed_integer, 1, 8},
                                           {3, TypeKind::floating, 2, 8},
                                           {6, TypeKind::complex, 8, 16}};

zarrcore::DataType type_of(const TiffDirectory& directory) {
  const std::uint64_t size = zarrcore::ceil_divide(directory.bits, 8);
  if (is_packed(directory) && directory.sample_format == 1) {
    return {TypeKind::unsigned_integer, size};
  }
  const auto* format =
      std::ranges::find(kSampleFormats, directory.sample_format, &SampleFormat::number);
  if (format != std::end(kSampleFormats) && directory.bits == 8 * size &&
      std::has_single_bit(size) && size >= format->min_size && size <= format->max_size) {
    return {format->kind, size};
  }
  throw Error("Zarr has no data type for samples of " + std::to_string(directory.bits) +
              " bits in format " + std::to_string(directory.sample_format) + " of TIFF");
}

Json jpeg_configuration(const TiffDirectory& directory) {
  Json configuration = Json::object();
  if (!directory.jpeg_tables.empty()) {
    configuration["tables"] = zarrcore::encode_base64(directory.jpeg_tables.span());
  }
  constexpr std::uint64_t kRgb = 2;
  constexpr std::uint64_t kYcbcr = 6;
  const bool has_colors = directory.is_by_pixel && directory.samples == 3;
  if (has_colors && (directory.photometric == kRgb || directory.photometric == kYcbcr)) {
    configuration["colorspace_jpeg"] = directory.photometric == kYcbcr ? 3 : 2;
    configuration["colorspace_data"] = 2;
  }
  configuration["bitspersample"] = directory.bits;
  return configuration;
}

std::vector<CodecMetadata> codecs_of(const TiffDirectory& directory,
                                     const zarrcore::DataType& type) {
  const Compression& compression = compression_of(directory);
  if (directory.has_reversed_bits) throw Error("its bits are in reverse order (FillOrder 2)");
  // CMYK, CIE L*a*b* in three forms, LogL and LogLuv.
  constexpr std::array kConverted{5, 8, 9, 10, 32844, 32845};
  if (std::ranges::find(kConverted, static_cast<int>(directory.photometric)) != kConverted.end()) {
    throw Error("GDAL converts its colours (PhotometricInterpretation " +
                std::to_string(directory.photometric) + ")");
  }
  const bool is_lerc = directory.compression == TiffCompression::lerc && directory.bits > 8;
  if (is_lerc && directory.endian == Endian::big) throw Error("its numbers have swapped bytes");
  const bool is_big = compression.kind != TiffKind::image && directory.endian == Endian::big &&
                      !is_packed(directory);
  std::vector<CodecMetadata> codecs{{"bytes", {{"endian", is_big ? "big" : "little"}}}};
  const std::string dtype =
      *zarrcore::format_numpy_type(type, is_big ? Endian::big : Endian::little);
  const std::uint64_t row_samples =
      directory.block_columns * (directory.is_by_pixel ? directory.samples : 1);
  if (compression.kind == TiffKind::stream && directory.predictor != 1) {
    if (directory.predictor > 3 || is_packed(directory)) {
      throw Error("no codec of Zarr undoes predictor " + std::to_string(directory.predictor) +
                  " of TIFF for samples of " + std::to_string(directory.bits) + " bits");
    }
    codecs.push_back({directory.predictor == 2 ? "numcodecs.imagecodecs_delta"
                                               : "numcodecs.imagecodecs_floatpred",
                      {{"shape", nullptr}, {"dtype", dtype}, {"axis", -1}, {"dist", 1}}});
  } else if (is_packed(directory) && compression.kind != TiffKind::image) {
    codecs.push_back(
        {"numcodecs.imagecodecs_packints",
         {{"dtype", dtype}, {"bitspersample", directory.bits}, {"runlen", row_samples}}});
  } else if (is_packed(directory)) {
    throw Error("no codec of Zarr reads its samples of " + std::to_string(directory.bits) +
                " bits");
  }
  if (compression.codec == nullptr) return codecs;
  CodecMetadata codec{compression.codec, zarrcore::parse_json(compression.configuration)};
  if (directory.compression == TiffCompression::jpeg) {
    codec.configuration = jpeg_configuration(directory);
  } else if (directory.compression == TiffCompression::webp) {
    codec.configuration["hasalpha"] = directory.samples == 4;
  }
  codecs.push_back(std::move(codec));
  return codecs;
}

// A file in memory, removed at the end.
class MemoryFile {
 public:
  MemoryFile() : path_(partial_path("/vsimem/strip.tif")) {}
  ~MemoryFile() { VSIUnlink(path_.c_str()); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

// The last strip of some bands as a strip of the usual height, whose other rows are zero.
Buffer padded_strip(const TiffDirectory& directory, GDALDataset& source, std::span<int> bands) {
  const Compression& compression = compression_of(directory);
  const auto columns = static_cast<int>(directory.columns);
  const auto rows = static_cast<int>(directory.block_rows);
  const std::uint64_t first_row = (directory.blocks_down() - 1) * directory.block_rows;
  const auto last_rows = static_cast<int>(directory.rows - first_row);
  const GDALDataType type = source.GetRasterBand(bands[0])->GetRasterDataType();
  const auto size = static_cast<std::uint64_t>(GDALGetDataTypeSizeBytes(type));
  constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;
  const auto all_bytes = zarrcore::checked_product(
      zarrcore::Shape{directory.columns, directory.block_rows, bands.size(), size});
  if (!all_bytes || *all_bytes > kMaxBytes) {
    throw Error("its last strip is shorter than the others, which are too long to pad it");
  }
  std::vector<std::byte> values(*all_bytes);
  const auto band_count = static_cast<int>(bands.size());
  if (source.RasterIO(GF_Read, 0, static_cast<int>(first_row), columns, last_rows, values.data(),
                      columns, last_rows, type, band_count, bands.data(), 0, 0,
                      static_cast<GSpacing>(*all_bytes / bands.size()), nullptr) != CE_None) {
    throw Error("its last strip cannot be read");
  }
  CPLStringList options;
  options.SetNameValue("COMPRESS", compression.option);
  options.SetNameValue("BLOCKYSIZE", std::to_string(rows).c_str());
  options.SetNameValue("INTERLEAVE", "PIXEL");
  // Predictor 3 makes the same bytes of both; libtiff does so in its own order alone.
  const bool is_big = directory.endian == Endian::big && directory.predictor != 3;
  options.SetNameValue("ENDIANNESS", is_big ? "BIG" : "LITTLE");
  if (compression.kind == TiffKind::stream) {
    options.SetNameValue("PREDICTOR", std::to_string(directory.predictor).c_str());
  }
  if (compression.lossless != nullptr) options.AddString(compression.lossless);
  if (is_packed(directory)) {
    options.SetNameValue("NBITS", std::to_string(directory.bits).c_str());
  }
  const MemoryFile file;
  GDALDriver* driver = GetGDALDriverManager()->GetDriverByName("GTiff");
  std::unique_ptr<GDALDataset> strip(
      driver->Create(file.path(), columns, rows, band_count, type, options.List()));
  if (!strip || strip->RasterIO(GF_Write, 0, 0, columns, rows, values.data(), columns, rows, type,
                                band_count, nullptr, 0, 0, 0, nullptr) != CE_None) {
    throw Error("its last strip cannot be padded");
  }
  strip.reset();
  strip.reset(GDALDataset::Open(file.path(), GDAL_OF_RASTER));
  const char* offset =
      strip ? strip->GetRasterBand(1)->GetMetadataItem("IFD_OFFSET", "TIFF") : nullptr;
  if (offset == nullptr) throw Error("its last strip cannot be padded");
  const TiffDirectory padded = read_tiff_directory(file.path(), std::stoull(offset));
  if (padded.offsets.size() != 1) throw Error("its last strip cannot be padded");
  const File bytes = open_file(file.path());
  return read_bytes(bytes.get(), padded.offsets[0], padded.lengths[0]);
}

// Returns true if strips may be cut into shorter ones.
bool can_be_cut(const TiffDirectory& directory) {
  return directory.compression == TiffCompression::none && !directory.is_tiled;
}

// Returns true if the strip at the bottom, which is shorter than the others, must be padded.
bool pads_last_strip(const TiffDirectory& directory) {
  return !directory.is_tiled && !can_be_cut(directory) &&
         directory.rows % directory.block_rows != 0;
}

// The rows of a block: of strips that can be cut, the greatest length that divides all of them, so
// that none of the chunks is short.
std::uint64_t block_rows_of(const TiffDirectory& directory) {
  return can_be_cut(directory)
             ? std::gcd(directory.block_rows, directory.rows % directory.block_rows)
             : directory.block_rows;
}

// Calls `visit` for the parts of a strip that are blocks of `rows` rows. Returns false if it stops.
bool visit_parts(const TiffDirectory& directory, std::uint64_t rows, const RasterBlock& strip,
                 const VisitBlock& visit) {
  const std::uint64_t strip_rows =
      std::min(directory.block_rows, directory.rows - strip.row * directory.block_rows);
  const std::uint64_t row_samples =
      directory.columns * (directory.is_by_pixel ? directory.samples : 1);
  const std::uint64_t row_bytes = zarrcore::ceil_divide(row_samples * directory.bits, 8);
  if (*strip.reference.length < row_bytes * strip_rows) throw Error("a strip is too short");
  const std::uint64_t first = strip.row * (directory.block_rows / rows);
  for (std::uint64_t i = 0; i < strip_rows / rows; ++i) {
    const auto part =
        zarrcore::ByteRange::at(strip.reference.offset + i * rows * row_bytes, rows * row_bytes);
    if (!visit({strip.band, first + i, 0, file_part(strip.reference.target, part)})) return false;
  }
  return true;
}

void visit_blocks(const std::string& path, const TiffDirectory& directory, GDALDataset& dataset,
                  const VisitBlock& visit) {
  const std::uint64_t across = directory.blocks_across();
  const std::uint64_t down = directory.blocks_down();
  for (std::size_t i = 0; i < directory.offsets.size(); ++i) {
    if (directory.lengths[i] == 0) continue;
    RasterBlock block{i / (across * down), i / across % down, i % across, {}};
    if (pads_last_strip(directory) && block.row == down - 1) {
      std::vector<int> bands(directory.is_by_pixel ? directory.samples : 1);
      std::iota(bands.begin(), bands.end(), static_cast<int>(block.band) + 1);
      block.reference.value = padded_strip(directory, dataset, bands);
      block.reference.length = block.reference.value.size();
    } else {
      block.reference =
          file_part(path, zarrcore::ByteRange::at(directory.offsets[i], directory.lengths[i]));
    }
    const bool continues = can_be_cut(directory)
                               ? visit_parts(directory, block_rows_of(directory), block, visit)
                               : visit(std::move(block));
    if (!continues) return;
  }
}

RasterBlocks blocks_of(const std::string& path, TiffDirectory directory, GDALDataset& dataset,
                       BlockCheck check) {
  if (directory.samples != static_cast<std::uint64_t>(dataset.GetRasterCount()) ||
      directory.columns != static_cast<std::uint64_t>(dataset.GetRasterXSize()) ||
      directory.rows != static_cast<std::uint64_t>(dataset.GetRasterYSize())) {
    throw Error("GDAL shows another image than is stored");
  }
  if (pads_last_strip(directory) && compression_of(directory).option == nullptr) {
    throw Error("its last strip is shorter than the others, and padding it would change values");
  }
  RasterBlocks blocks;
  blocks.bands = directory.samples;
  blocks.rows = directory.rows;
  blocks.columns = directory.columns;
  blocks.is_by_pixel = directory.is_by_pixel && directory.samples > 1;
  blocks.block_rows = block_rows_of(directory);
  blocks.block_columns = directory.block_columns;
  blocks.data_type = type_of(directory);
  blocks.codecs = codecs_of(directory, blocks.data_type);
  const auto shared = std::make_shared<const TiffDirectory>(std::move(directory));
  blocks.visit = [path, shared, &dataset, layout = blocks](const VisitBlock& visit) {
    visit_blocks(path, *shared, dataset, [&](RasterBlock block) {
      if (block.reference.target.empty()) check_block(layout, block, dataset, 1);
      return visit(std::move(block));
    });
  };
  // GDAL may do more than decode.
  if (check == BlockCheck::none) return blocks;
  bool is_first = true;
  blocks.visit([&](const RasterBlock& block) {
    if (std::exchange(is_first, false)) check_block(blocks, block, dataset, 1);
    return true;
  });
  return blocks;
}

void check_is_tiff(GDALDataset& dataset) {
  const std::string format = format_of(dataset);
  if (format != "GTiff") throw Error("it is not known where the format " + format + " has blocks");
  if (dataset.GetAccess() == GA_Update)
    throw Error("it is open for update, so that its blocks may still move");
}

std::uint64_t directory_offset(GDALRasterBand& band) {
  const char* offset = band.GetMetadataItem("IFD_OFFSET", "TIFF");
  if (offset == nullptr) throw Error("GDAL does not tell where its directory is");
  return std::strtoull(offset, nullptr, 10);
}

// For the list of its files, GDAL looks for dozens of others beside it.
std::string file_of(GDALDataset& dataset) {
  const std::string name = dataset.GetDescription();
  if (!name.empty() && !STARTS_WITH_CI(name.c_str(), "GTIFF_")) return name;
  const CPLStringList files(dataset.GetFileList());
  if (files.empty()) throw Error("it is not in a file");
  return files[0];
}

}  // namespace

RasterBlocks find_tiff_blocks(GDALDataset& dataset, BlockCheck check) {
  check_is_tiff(dataset);
  const std::string path = file_of(dataset);
  const std::uint64_t offset = directory_offset(*dataset.GetRasterBand(1));
  return zarrcore::with_context(
      {path}, [&] { return blocks_of(path, read_tiff_directory(path, offset), dataset, check); });
}

RasterBlocks find_tiff_overview(GDALDataset& dataset, int index) {
  check_is_tiff(dataset);
  GDALRasterBand* band = dataset.GetRasterBand(1)->GetOverview(index);
  GDALDataset* level = band != nullptr ? band->GetDataset() : nullptr;
  if (level == nullptr) throw Error("overview " + std::to_string(index) + " cannot be opened");
  const std::uint64_t offset = directory_offset(*band);
  const auto is_this = [&](const TiffDirectory& directory) {
    return directory.columns == static_cast<std::uint64_t>(band->GetXSize()) &&
           directory.rows == static_cast<std::uint64_t>(band->GetYSize());
  };
  const std::string path = file_of(dataset);
  for (const std::string& file : {path, path + ".ovr"}) {
    std::optional<TiffDirectory> directory;
    try {
      directory = read_tiff_directory(file, offset);
    } catch (const Error&) {
      continue;  // it is in the other file
    }
    if (is_this(*directory)) {
      return blocks_of(file, *std::move(directory), *level, BlockCheck::first);
    }
  }
  throw Error(path + ": its overview " + std::to_string(index) + " is not found in the file");
}

}  // namespace gdal_zarr
