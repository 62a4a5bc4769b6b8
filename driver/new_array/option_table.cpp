#include "driver/new_array/option_table.h"

#include <cpl_port.h>

#include <algorithm>

namespace gdal_zarr {
namespace {

using Text = std::string_view;
using Values = std::span<const OptionValue>;

constexpr Option text(Text name, OptionScope scope, Text default_value, Text description) {
  return {name, scope, ValueType::text, default_value, description};
}
constexpr Option boolean(Text name, OptionScope scope, Text default_value, Text description) {
  return {name, scope, ValueType::boolean, default_value, description};
}
constexpr Option choice(Text name, OptionScope scope, Values values, Text default_value,
                        Text description) {
  return {name, scope, ValueType::choice, default_value, description, values};
}
// Of arrays.
constexpr Option integer(Text name, double low, double high, Text default_value, Text description) {
  return {name, kArrayOption, ValueType::integer, default_value, description, {}, low, high};
}
constexpr Option real(Text name, double low, double high, Text description) {
  return {name, kArrayOption, ValueType::real, "", description, {}, low, high};
}
constexpr Option lengths(Text name, Text description) {
  return {name, kArrayOption, ValueType::lengths, "", description};
}
constexpr Option also(Option option, Text alias) {
  option.alias = alias;
  return option;
}
constexpr Option only_with(Text needed, Option option) {
  option.needed = needed;
  return option;
}

constexpr OptionValue kFormats[] = {{"ZARR_V2"}, {"ZARR_V3"}};
constexpr OptionValue kInterleaves[] = {{"BAND"}, {"PIXEL"}};
constexpr OptionValue kOverviews[] = {{"NONE"}, {"AUTO"}};
constexpr OptionValue kConventions[] = {{"GDAL"}, {"SPATIAL_PROJ"}, {"CF"}};
constexpr OptionValue kChunks[] = {{"DEFAULT"}, {"AUTO"}};
constexpr OptionValue kShardings[] = {{"NONE"}, {"AUTO"}};
constexpr OptionValue kAccesses[] = {{"SLICES"}, {"SERIES"}, {"VOLUME"}};
constexpr OptionValue kOrders[] = {{"C"}, {"F"}};
constexpr OptionValue kSeparators[] = {{"."}, {"/"}};
constexpr OptionValue kStringFormats[] = {{"STRING"}, {"ASCII"}, {"UNICODE"}};
constexpr OptionValue kCompressors[] = {{"NONE"}, {"BLOSC"}, {"BZ2"},  {"GZIP"}, {"LZ4"},
                                        {"LZMA"}, {"ZFP"},   {"ZLIB"}, {"ZSTD"}};
constexpr OptionValue kFilters[] = {{"NONE"}, {"DELTA"}, {"SHUFFLE"}};
constexpr OptionValue kChecksums[] = {{"NONE"}, {"CRC32C"}, {"CRC32"}, {"ADLER32"}, {"FLETCHER32"}};
constexpr OptionValue kBloscCompressors[] = {{"blosclz"}, {"lz4"},  {"lz4hc"},
                                             {"snappy"},  {"zlib"}, {"zstd"}};
constexpr OptionValue kBloscShuffles[] = {{"NONE", "0"}, {"BYTE", "1"}, {"BIT", "2"}};

constexpr Text kLevel = "Compression level";

constexpr Option kOptions[] = {
    choice("FORMAT", kDatasetOption, kFormats, "ZARR_V2", "Version of Zarr"),
    also(boolean("CREATE_CONSOLIDATED_METADATA", kDatasetOption, "YES",
                 "Write consolidated metadata"),
         "CREATE_ZMETADATA"),

    text("ARRAY_NAME", kRasterOption, "",
         "Name of the array; by default that of the file without its extension"),
    boolean("APPEND_SUBDATASET", kRasterOption, "NO",
            "Whether to add an array, whose name is ARRAY_NAME, to a Zarr that exists"),
    boolean("SINGLE_ARRAY", kRasterOption, "YES",
            "Whether several bands are one array of three dimensions, or an array each"),
    only_with("SINGLE_ARRAY=YES",
              choice("INTERLEAVE", kRasterOption, kInterleaves, "BAND",
                     "Whether bands are the first dimension of the array (BAND) or the last")),
    choice("OVERVIEWS", kRasterOption, kOverviews, "NONE", "Whether a copy gets overviews"),

    choice("GEOREFERENCING_CONVENTION", kArrayOption, kConventions, "GDAL",
           "How CRS and position are stored: as GDAL does (_CRS and arrays X and Y), in attributes "
           "of the conventions spatial and proj, or in a grid mapping and coordinates of CF"),

    lengths(
        "BLOCKSIZE",
        "Length of chunks (with SHARD_CHUNK_SHAPE, of shards) along each dimension, separated "
        "by commas; by default 256 along X and Y and 1 along others, or 65536 along the only one"),
    lengths("SHARD_CHUNK_SHAPE",
            "Length of the inner chunks of shards along each dimension, separated by commas, of "
            "which the shard's are multiples (only for ZARR_V3)"),
    choice("CHUNKS", kArrayOption, kChunks, "DEFAULT",
           "AUTO chooses chunks of about 1 MB for the shape, the data type and ACCESS"),
    choice("SHARDING", kArrayOption, kShardings, "NONE",
           "AUTO chooses shards of about 64 to 128 MB before compression, with inner chunks of "
           "SHARD_CHUNK_SHAPE or as by CHUNKS=AUTO (only for ZARR_V3)"),
    only_with("CHUNKS=AUTO or SHARDING=AUTO",
              choice("ACCESS", kArrayOption, kAccesses, "SLICES",
                     "What chunks are chosen for: slices of X and Y, series along the other "
                     "dimensions, or volumes of all dimensions alike")),
    choice("CHUNK_MEMORY_LAYOUT", kArrayOption, kOrders, "C",
           "Whether the last (C) or the first (F) dimension varies fastest in chunks"),
    choice("DIM_SEPARATOR", kArrayOption, kSeparators, "",
           "Separator in the names of chunks; by default . in ZARR_V2 and / in ZARR_V3"),
    choice("STRING_FORMAT", kArrayOption, kStringFormats, "STRING",
           "How to store strings whose greatest length is known: as they are, or padded, as bytes "
           "(ASCII) or as 4 bytes for each character (UNICODE). In ZARR_V3 only those in compounds "
           "are padded"),

    choice("COMPRESS", kArrayOption, kCompressors, "NONE",
           "Compression, without loss unless an option of ZFP says so"),
    choice("FILTER", kArrayOption, kFilters, "NONE",
           "What comes before compression: DELTA makes differences between neighbours, SHUFFLE "
           "puts together the first bytes of all elements, then the second ones"),
    only_with("FILTER=DELTA",
              text("DELTA_DTYPE", kArrayOption, "",
                   "Data type as which elements are subtracted, in NumPy's spelling; by default "
                   "the array's, whose size it has to have")),
    integer("KEEPBITS", 1, 52, "",
            "Bits of the mantissa to which floating point numbers are rounded, so that they "
            "compress better; arrays of one dimension, which are coordinates, are not"),
    choice("CHECKSUM", kArrayOption, kChecksums, "NONE", "Checksum that is stored with each chunk"),

    only_with("COMPRESS=BLOSC", choice("BLOSC_CNAME", kArrayOption, kBloscCompressors, "lz4",
                                       "Compressor inside of Blosc")),
    only_with("COMPRESS=BLOSC", integer("BLOSC_CLEVEL", 0, 9, "5", kLevel)),
    only_with("COMPRESS=BLOSC",
              choice("BLOSC_SHUFFLE", kArrayOption, kBloscShuffles, "",
                     "Whether bytes or bits of elements are put together before compression; by "
                     "default BYTE, or BIT for elements of one byte")),
    only_with("COMPRESS=BLOSC", integer("BLOSC_BLOCKSIZE", 0, INT32_MAX, "0",
                                        "Bytes compressed at once; 0 lets Blosc choose")),
    only_with("COMPRESS=BLOSC",
              text("BLOSC_NUM_THREADS", kArrayOption, "1",
                   "Accepted for compatibility; has no effect: chunks are compressed in parallel, "
                   "on GDAL_NUM_THREADS threads")),
    only_with("COMPRESS=BZ2", integer("BZ2_LEVEL", 1, 9, "9", kLevel)),
    only_with("COMPRESS=GZIP", integer("GZIP_LEVEL", 1, 9, "6", kLevel)),
    only_with("COMPRESS=LZ4", integer("LZ4_ACCELERATION", 1, 65537, "1",
                                      "The higher, the faster and the less compressed")),
    only_with("COMPRESS=LZMA", integer("LZMA_PRESET", 0, 9, "6", kLevel)),
    only_with(
        "COMPRESS=LZMA",
        integer("LZMA_DELTA", 1, 256, "",
                "Distance of bytes whose difference is compressed; without it, the bytes are")),
    only_with("COMPRESS=ZFP", integer("ZFP_PRECISION", 1, 64, "", "Bits of precision to keep")),
    only_with("COMPRESS=ZFP", real("ZFP_RATE", 0, 64, "Bits that each element takes up")),
    only_with("COMPRESS=ZFP", real("ZFP_TOLERANCE", 0, 1e308, "Greatest error of an element")),
    only_with("COMPRESS=ZLIB", integer("ZLIB_LEVEL", 1, 9, "6", kLevel)),
    only_with("COMPRESS=ZSTD", integer("ZSTD_LEVEL", 1, 22, "13", kLevel)),
};

bool is_same_name(Text a, Text b) {
  return a.size() == b.size() && EQUALN(a.data(), b.data(), a.size());
}

}  // namespace

std::span<const Option> creation_options() {
  return kOptions;
}

const Option* find_creation_option(std::string_view name) {
  const auto* found = std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) {
    return is_same_name(o.name, name) || (!o.alias.empty() && is_same_name(o.alias, name));
  });
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace gdal_zarr
