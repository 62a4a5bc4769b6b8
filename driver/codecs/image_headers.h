// Headers of images that chunks lack, and checks that GDAL's drivers do not make: pure functions
// over bytes. All throw Error when the bytes are invalid.
#pragma once

#include <cstdint>
#include <optional>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// Colour spaces of JPEG images, by libjpeg's numbers.
enum class JpegColors : std::uint8_t { unknown, gray, rgb, ycbcr, cmyk, ycck };

struct JpegHints {
  zarrcore::ByteSpan header;                // bytes before the chunk, without those after it
  zarrcore::ByteSpan tables;                // an abbreviated image with tables alone
  JpegColors stored = JpegColors::unknown;  // overrides the image's own statement
  JpegColors wanted = JpegColors::unknown;  // after decoding
};

// A whole JPEG image (ITU-T T.81) of a chunk that may lack tables (TIFF technical note 2). Its
// application segments are left out, except those that state the colour space: decoders otherwise
// convert YCbCr to RGB, and YCCK to CMYK.
struct JpegImage {
  zarrcore::Buffer bytes;
  std::size_t components;
};
JpegImage make_jpeg(zarrcore::ByteSpan chunk, const JpegHints& hints);

// Throws Error unless a GIF holds one image that covers its logical screen, of at most
// `max_pixels`.
void check_gif(zarrcore::ByteSpan chunk, std::uint64_t max_pixels);

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

}  // namespace gdal_zarr
