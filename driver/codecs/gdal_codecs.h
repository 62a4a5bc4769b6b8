// Codecs that need GDAL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/codec/registry.h"

namespace gdal_zarr {

// Finds a codec of this folder by its name: the zarrcore::CodecProvider of the driver.
zarrcore::CodecFactory find_gdal_codec(std::string_view name);

// `imagecodecs_…` of the Python package imagecodecs, which Kerchunk references use: each chunk is
// an image, which one of GDAL's drivers decodes from memory. Such chunks are not written. Null if
// this is not the name of such a codec, without "numcodecs.".
zarrcore::CodecFactory find_image_codec(std::string_view name);

// `grib` of the Python package kerchunk and `gribberish` of the package of this name: each chunk is
// a GRIB message, which GDAL's GRIB driver decodes from memory. Likewise.
zarrcore::CodecFactory find_grib_codec(std::string_view name);

// Codecs that programs and other plugins have registered with CPLRegisterCompressor() and
// CPLRegisterDecompressor() (cpl_compressor.h), under the ids of numcodecs.

// An option that a compressor declares in the item OPTIONS of its metadata.
struct CompressorOption {
  std::string name;           // as declared; in a creation option: ID_NAME, in capitals
  std::string type;           // GDAL's word: "int", "boolean"…
  std::string default_value;  // empty for none
  std::string description;
};

struct RegisteredCompressor {
  std::string id;
  std::vector<CompressorOption> options;
};

// The compressors that are registered at present and that the core does not have itself.
std::vector<RegisteredCompressor> registered_compressors();

// Finds a codec by its id, also after "numcodecs."; null if no compressor and no decompressor is
// registered for it. The members of the configuration become options of the functions. Encoding is
// an error without a compressor, decoding without a decompressor.
zarrcore::CodecFactory find_registered_codec(std::string_view name);

}  // namespace gdal_zarr
