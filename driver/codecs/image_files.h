// Complete image files that GDAL's drivers can open, assembled from chunks in which a part may be
// missing.
#pragma once

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {

// The file that GDAL opens of a chunk.
struct ImageFile {
  zarrcore::Buffer bytes;
  bool has_four_colors = false;
  bool has_masked_floats = false;  // which GDAL makes NaN, and the library of LERC 0
};

// Makes the file of a chunk. Throws Error when the configuration of the codec or the chunk is
// wrong.
using MakeImageFile = ImageFile (*)(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                                    const zarrcore::ChunkSpec& spec);

ImageFile make_jpeg_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                         const zarrcore::ChunkSpec& spec);
ImageFile make_gif_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                        const zarrcore::ChunkSpec& spec);
ImageFile make_lerc_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                         const zarrcore::ChunkSpec& spec);
// A TIFF of `compression`: 2 is CCITT's run lengths, 3 fax of group 3, 4 of group 4.
ImageFile make_fax_file(zarrcore::ByteSpan chunk, const zarrcore::Json& configuration,
                        const zarrcore::ChunkSpec& spec, std::uint16_t compression);

}  // namespace gdal_zarr
