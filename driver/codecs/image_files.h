// Complete image files that GDAL's drivers can open, assembled from chunks in which a part may be
// missing, and checks that GDAL's drivers do not make. All functions throw Error when the bytes are
// invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {

// The file that GDAL opens of a chunk.
struct ImageFile {
  zarrcore::Buffer bytes;
  bool has_four_colors = false;
  bool has_masked_floats = false;  // which GDAL makes NaN, and the library of LERC 0
};

// Makes the file of a chunk. Throws Error also when the configuration of the codec is wrong.
using MakeImageFile = ImageFile (*)(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                                    const zarrcore::ChunkSpec& spec);

// A whole JPEG image (ITU-T T.81) of a chunk that may lack tables (TIFF technical note 2). Its
// application segments are left out, except those that state the colour space: decoders otherwise
// convert YCbCr to RGB, and YCCK to CMYK.
ImageFile make_jpeg_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                         const zarrcore::ChunkSpec& spec);
// The GIF itself, which must hold one image that covers its logical screen and is not larger than
// the chunk.
ImageFile make_gif_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                        const zarrcore::ChunkSpec& spec);
ImageFile make_lerc_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                         const zarrcore::ChunkSpec& spec);
// A TIFF of `compression`: 2 is CCITT's run lengths, 3 fax of group 3, 4 of group 4.
ImageFile make_fax_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                        const zarrcore::ChunkSpec& spec, std::uint16_t compression);

// The image in a TIFF of one strip that make_tiff() writes.
struct StripImage {
  std::uint32_t width;
  std::uint32_t height;
  std::uint16_t samples;
  std::uint16_t bits;           // of a sample
  std::uint16_t sample_format;  // TIFF 6.0: 1 unsigned, 2 signed, 3 floating
  std::uint16_t compression;    // TIFF's tag 259
  std::uint32_t fax_options;    // tag 292, for compression 3
  bool has_mask;                // an additional sample holds the mask
};

// A TIFF whose only strip is `strip`.
zarrcore::Buffer make_tiff(zarrcore::ByteSpan strip, const StripImage& image);

// Reads the header of a LERC blob (version 1 or 2).
StripImage read_lerc_header(zarrcore::ByteSpan blob);

// For parsing and making files.

template <typename Integer>
Integer integer_at(zarrcore::ByteSpan bytes, std::size_t at, zarrcore::Endian endian) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Integer)) {
    throw zarrcore::Error("the chunk is truncated");
  }
  return zarrcore::load_integer<Integer>(bytes.data() + at, endian);
}

inline bool has_text_at(zarrcore::ByteSpan bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// Bytes that are appended.
class ByteBuilder {
 public:
  void add(zarrcore::ByteSpan bytes) { all_.insert(all_.end(), bytes.begin(), bytes.end()); }
  template <typename Integer>
  void add(Integer value, zarrcore::Endian endian) {
    zarrcore::append_integer(all_, value, endian);
  }
  std::size_t size() const { return all_.size(); }
  zarrcore::ByteSpan span() const { return all_; }
  zarrcore::Buffer buffer() const { return zarrcore::Buffer::copy_of(span()); }

 private:
  std::vector<std::byte> all_;
};

}  // namespace gdal_zarr
