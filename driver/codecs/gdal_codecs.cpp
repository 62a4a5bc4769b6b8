#include "driver/codecs/gdal_codecs.h"

#include <algorithm>
#include <iterator>

namespace gdal_zarr {
namespace {

std::string_view without_numcodecs(std::string_view name) {
  constexpr std::string_view kNumcodecs = "numcodecs.";
  if (name.starts_with(kNumcodecs)) name.remove_prefix(kNumcodecs.size());
  return name;
}

// Of the core: those of imagecodecs but for the streams that other codecs write as well, those of
// kerchunk, and the parts of N5.
bool is_only_decoded(std::string_view name) {
  constexpr std::string_view kPrefix = "imagecodecs_";
  constexpr std::string_view kWritten[] = {"zlib", "zlibng", "deflate", "bz2",
                                           "zstd", "lzma",   "blosc",   "checksum"};
  constexpr std::string_view kOthers[] = {
      "HorizontalDeltaCodec", "fill_hdf_strings", "FITSAscii", "deflate", "n5.block", "n5.lz4"};
  if (!name.starts_with(kPrefix)) return std::ranges::find(kOthers, name) != std::end(kOthers);
  return std::ranges::find(kWritten, name.substr(kPrefix.size())) == std::end(kWritten);
}

zarrcore::CodecFactory find_read_only_codec(std::string_view name) {
  name = without_numcodecs(name);
  if (zarrcore::CodecFactory image = find_image_codec(name)) return image;
  return find_grib_codec(name);
}

}  // namespace

bool is_read_only_codec(std::string_view name) {
  return is_only_decoded(without_numcodecs(name)) || find_read_only_codec(name) != nullptr;
}

zarrcore::CodecFactory find_gdal_codec(std::string_view name) {
  if (zarrcore::CodecFactory codec = find_read_only_codec(name)) return codec;
  return find_registered_codec(name);
}

}  // namespace gdal_zarr
