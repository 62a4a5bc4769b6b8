// What a directory (IFD) of a TIFF or BigTIFF says about the place and the encoding of its blocks:
// GDAL does not tell all of it (byte order, codes of compression, tables of JPEG).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"

namespace gdal_zarr {

enum class TiffCompression : std::uint16_t {
  none = 1,
  lzw = 5,
  jpeg = 7,
  adobe_deflate = 8,
  packbits = 32773,
  deflate = 32946,
  jpeg2000 = 34712,
  lerc = 34887,
  lzma = 34925,
  zstd = 50000,
  webp = 50001,
  jpegxl = 50002,
  jpegxl_1_7 = 52546,  // of DNG 1.7
};

struct TiffDirectory {
  zarrcore::Endian endian = zarrcore::Endian::little;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t samples = 1;
  std::uint64_t bits = 1;           // of a sample; all have the same
  std::uint64_t sample_format = 1;  // 1 unsigned, 2 signed, 3 float, 5 complex integer, 6 complex
  TiffCompression compression = TiffCompression::none;
  std::uint64_t predictor = 1;
  std::uint64_t photometric = 1;
  bool has_reversed_bits = false;
  bool is_by_pixel = true;  // whether a block holds all samples of its pixels
  bool is_tiled = false;
  // Of a tile, or of a strip but the last, which may be shorter.
  std::uint64_t block_columns = 0;
  std::uint64_t block_rows = 0;
  zarrcore::Buffer jpeg_tables;
  // Of each block, in bytes: from left to right, then from top to bottom, then by sample if they
  // are separate. Blocks without bytes are missing, and all are if there are no offsets. The others
  // lie inside the file.
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;

  std::uint64_t blocks_across() const;
  std::uint64_t blocks_down() const;
};

// Reads the directory at `offset` of the file `path`. Throws zarrcore::Error, which names the file,
// when it is not valid.
TiffDirectory read_tiff_directory(const std::string& path, std::uint64_t offset);

}  // namespace gdal_zarr
