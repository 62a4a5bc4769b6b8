// The table of creation options; creation_options.h reads their values.
#include <string>
#include <vector>

#include "driver/codecs/gdal_codecs.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/icechunk/icechunk_writer.h"

namespace gdal_zarr {
namespace {

using rows::boolean;
using rows::choice;
using rows::hidden;
using rows::integer;
using rows::lengths;
using rows::only_with;
using rows::or_any_of;
using rows::real;
using rows::text;
using rows::with_alias;

constexpr unsigned kStore = kDatasetOption;
constexpr unsigned kRaster = kRasterOption;
constexpr unsigned kArray = kArrayOption;

constexpr OptionValue kFormats[] = {{"ZARR_V1"}, {"ZARR_V2"}, {"ZARR_V3"}};
constexpr OptionValue kInterleaves[] = {{"BAND"}, {"PIXEL"}};
constexpr OptionValue kOverviews[] = {{"NONE"}, {"AUTO"}};
constexpr OptionValue kConventions[] = {{"GDAL"}, {"SPATIAL_PROJ"}, {"CF"}};
constexpr OptionValue kChunks[] = {{"DEFAULT"}, {"AUTO"}};
constexpr OptionValue kShardings[] = {{"NONE"}, {"AUTO"}};
constexpr OptionValue kAccesses[] = {{"SLICES"}, {"SERIES"}, {"VOLUME"}};
constexpr OptionValue kOrders[] = {{"C"}, {"F"}};
constexpr OptionValue kSeparators[] = {{"."}, {"/"}};
constexpr OptionValue kStringFormats[] = {{"STRING"}, {"ASCII"}, {"UNICODE"}, {"VARIABLE"}};
constexpr OptionValue kCompressors[] = {{"NONE"}, {"BLOSC"}, {"BZ2"},  {"GZIP"}, {"LZ4"},
                                        {"LZMA"}, {"ZFP"},   {"ZLIB"}, {"ZSTD"}};
constexpr OptionValue kFilters[] = {{"NONE"}, {"DELTA"}, {"SHUFFLE"}};
constexpr OptionValue kChecksums[] = {{"NONE"}, {"CRC32C"}, {"CRC32"}, {"ADLER32"}, {"FLETCHER32"}};
constexpr OptionValue kBloscCompressors[] = {{"blosclz"}, {"lz4"},  {"lz4hc"},
                                             {"snappy"},  {"zlib"}, {"zstd"}};
constexpr OptionValue kBloscShuffles[] = {{"NONE", "0"}, {"BYTE", "1"}, {"BIT", "2"}};

constexpr OptionValue kVirtual[] = {{"NO"}, {"YES"}, {"AUTO"}};
constexpr OptionValue kLocations[] = {{"ABSOLUTE"}, {"RELATIVE"}};
constexpr OptionValue kEndians[] = {{"little"}, {"big"}};

constexpr std::string_view kLevel = "Compression level";

std::vector<std::string> registered_ids() {
  std::vector<std::string> ids;
  for (RegisteredCompressor& compressor : registered_compressors()) {
    ids.push_back(std::move(compressor.id));
  }
  return ids;
}

constexpr Option kOptions[] = {
    // The store: entry/create.cpp.
    choice("FORMAT", kStore, kFormats, "ZARR_V2", "Zarr version"),
    with_alias("CREATE_ZMETADATA", boolean("CREATE_CONSOLIDATED_METADATA", kStore, "YES",
                                           "Write consolidated metadata")),

    // An Icechunk repository: stores/icechunk/icechunk_writer.cpp.
    choice("ICECHUNK_FORMAT", kStore, kIcechunkFormats, "2",
           "Format of an Icechunk repository that is created"),
    text("BRANCH", kStore, "",
         "Of an Icechunk repository: the branch to write to, by default main"),
    rows::new_branch(kStore),
    rows::commit_time(kStore),
    rows::commit_message(kStore),
    rows::commit_properties(kStore),
    boolean("OVERWRITE", kStore, "NO",
            "Whether an array of the same name in an Icechunk repository is replaced"),

    // A virtual store: entry/copy_virtual.cpp and stores/references/reference_writer.cpp.
    choice(
        "VIRTUAL", kStore, kVirtual, "NO",
        "Whether chunks are references to parts of the source's files (copies only): all of them "
        "(YES), or where that is possible, others being stored with the references (AUTO). The "
        "store is a .json document, a .parq or .parquet folder, or an Icechunk repository"),
    only_with("VIRTUAL=YES or VIRTUAL=AUTO",
              choice("LOCATIONS", kStore, kLocations, "ABSOLUTE",
                     "Whether references name files by absolute paths and URLs, or by paths from "
                     "the folder of the document")),

    // A raster: entry/create.cpp and entry/copy_raster.cpp.
    text("ARRAY_NAME", kRaster, "",
         "Name of the array; by default the name of the file without its extension"),
    boolean("APPEND_SUBDATASET", kRaster, "NO",
            "Add an array, named by ARRAY_NAME, to an existing Zarr"),
    boolean("SINGLE_ARRAY", kRaster, "YES",
            "Whether several bands are stored in one array of three dimensions (YES) or in an "
            "array for each band (NO)"),
    only_with("SINGLE_ARRAY=YES",
              choice("INTERLEAVE", kRaster, kInterleaves, "BAND",
                     "Whether bands are the first (BAND) or the last (PIXEL) dimension of the "
                     "array")),
    boolean("CONVERT_TO_KERCHUNK_PARQUET_REFERENCE", kRaster, "NO",
            "Copy Kerchunk references in JSON to references in Parquet files, instead of the data "
            "(copies only)"),
    choice("OVERVIEWS", kRaster, kOverviews, "NONE", "AUTO builds overviews of a copied raster"),

    // Georeferencing: conventions/write_georeferencing.cpp.
    choice("GEOREFERENCING_CONVENTION", kArray, kConventions, "GDAL",
           "How CRS and geotransform are stored: GDAL's attribute _CRS with arrays X and Y, "
           "attributes of the spatial and proj conventions, or a CF grid mapping with coordinate "
           "variables"),

    // Chunks and shards: chunk_layout.cpp.
    lengths("BLOCKSIZE", kArray, -1,
            "Chunk length (shard length, if SHARD_CHUNK_SHAPE is given) along each dimension, "
            "separated by commas; 0 or -1 for the whole dimension. By default 256 along X and Y "
            "and 1 along other dimensions; 65536 for arrays of one dimension"),
    lengths("SHARD_CHUNK_SHAPE", kArray, 1,
            "Length of the inner chunks of shards along each dimension, separated by commas. The "
            "shard length must be a multiple of it (ZARR_V3 only)"),
    choice("CHUNKS", kArray, kChunks, "DEFAULT",
           "AUTO chooses chunks of about 1 MB by the shape, the data type and ACCESS"),
    choice("SHARDING", kArray, kShardings, "NONE",
           "AUTO chooses shards of about 64 to 128 MB before compression. Their inner chunks "
           "have the shape of SHARD_CHUNK_SHAPE or CHUNKS=AUTO (ZARR_V3 only)"),
    lengths("CHUNK_ASPECT_RATIO", kArray, 1,
            "Chooses chunks as CHUNKS=AUTO does, with lengths along the dimensions in this ratio, "
            "such as 1,2,2; along dimensions that are shorter, the whole dimension"),
    integer("CHUNK_ELEMENTS", kArray, 1, 1LL << 31, "",
            "Most elements of the chunks that are chosen, instead of about 1 MB; with "
            "CHUNKS=AUTO, SHARDING=AUTO or CHUNK_ASPECT_RATIO"),
    only_with(
        "CHUNKS=AUTO or SHARDING=AUTO",
        choice("ACCESS", kArray, kAccesses, "SLICES",
               "Access pattern that chunks are chosen for: slices along X and Y, series along "
               "the other dimensions, or volumes along all dimensions alike")),

    // Chunk keys and strings: new_array.cpp and stored_type.cpp.
    choice("DIM_SEPARATOR", kArray, kSeparators, "",
           "Separator in chunk names; by default . in ZARR_V2 and / in ZARR_V3"),
    choice("STRING_FORMAT", kArray, kStringFormats, "STRING",
           "How strings of a known maximum length are stored: padded to the maximum as bytes "
           "(ASCII) or as 4 bytes per character (UNICODE), with variable length (VARIABLE), or as "
           "usual (STRING): ASCII in ZARR_V2, VARIABLE in ZARR_V3. In compound types they are "
           "padded, in ZARR_V3 usually as UNICODE"),

    // Codecs: new_codecs.cpp.
    choice("CHUNK_MEMORY_LAYOUT", kArray, kOrders, "C",
           "Whether the last (C) or the first (F) dimension varies fastest within a chunk"),
    or_any_of(registered_ids,
              choice("COMPRESS", kArray, kCompressors, "NONE",
                     "Compression; lossless, unless a ZFP option sets a limit. Also the id of a "
                     "compressor that is registered with CPLRegisterCompressor()")),
    hidden(choice("@ENDIAN", kArray, kEndians, "little", "Byte order of the elements")),
    choice("FILTER", kArray, kFilters, "NONE",
           "Filter applied before compression: DELTA stores differences between neighbours, "
           "SHUFFLE groups the first bytes of all elements, then their second bytes, and so on"),
    only_with("FILTER=DELTA",
              text("DELTA_DTYPE", kArray, "",
                   "Data type for the differences, in NumPy's notation; it must have the size of "
                   "the array's data type, which is the default")),
    integer("KEEPBITS", kArray, 1, 52, "",
            "Number of mantissa bits to keep when rounding floating point numbers, so that they "
            "compress better. Arrays of one dimension, such as coordinates, are not rounded"),
    choice("CHECKSUM", kArray, kChecksums, "NONE", "Checksum stored with each chunk"),
    text("CODECS", kArray, "",
         "The codecs as JSON, instead of the options above and of compressors: for ZARR_V3 "
         "the member codecs of zarr.json, else an object with the members filters and compressor. "
         "Members that have a default may be left out"),
    boolean("WRITE_EMPTY_CHUNKS", kArray, "NO",
            "Whether written chunks are stored that contain only the fill value, until the array "
            "is closed"),

    only_with("COMPRESS=BLOSC", choice("BLOSC_CNAME", kArray, kBloscCompressors, "lz4",
                                       "Compressor that Blosc uses")),
    only_with("COMPRESS=BLOSC", integer("BLOSC_CLEVEL", kArray, 0, 9, "5", kLevel)),
    only_with("COMPRESS=BLOSC",
              choice("BLOSC_SHUFFLE", kArray, kBloscShuffles, "BYTE",
                     "Whether the bytes or the bits of elements are shuffled before compression")),
    only_with("COMPRESS=BLOSC", integer("BLOSC_BLOCKSIZE", kArray, 0, INT32_MAX, "0",
                                        "Bytes per Blosc block; 0 lets Blosc choose")),
    only_with("COMPRESS=BLOSC",
              text("BLOSC_NUM_THREADS", kArray, "1",
                   "Accepted for compatibility; has no effect: chunks are compressed in parallel "
                   "on GDAL_NUM_THREADS threads")),
    only_with("COMPRESS=BZ2", integer("BZ2_LEVEL", kArray, 1, 9, "9", kLevel)),
    only_with("COMPRESS=GZIP", integer("GZIP_LEVEL", kArray, 0, 9, "6", kLevel)),
    only_with("COMPRESS=LZ4", integer("LZ4_ACCELERATION", kArray, 0, 65537, "1",
                                      "Higher values are faster and compress less")),
    only_with("COMPRESS=LZMA", integer("LZMA_PRESET", kArray, 0, 9, "6", kLevel)),
    only_with("COMPRESS=LZMA",
              integer("LZMA_DELTA", kArray, 1, 256, "",
                      "Distance in bytes for LZMA's delta filter; not used by default")),
    only_with("COMPRESS=ZFP",
              integer("ZFP_PRECISION", kArray, 1, 64, "", "Bits of precision to keep")),
    only_with("COMPRESS=ZFP", real("ZFP_RATE", kArray, 0, 64, "Bits per element")),
    only_with("COMPRESS=ZFP",
              real("ZFP_TOLERANCE", kArray, 0, 1e308, "Largest error allowed for an element")),
    only_with("COMPRESS=ZLIB", integer("ZLIB_LEVEL", kArray, 0, 9, "6", kLevel)),
    only_with("COMPRESS=ZSTD", integer("ZSTD_LEVEL", kArray, -131072, 22, "13", kLevel)),
    only_with("COMPRESS=ZSTD",
              boolean("ZSTD_CHECKSUM", kArray, "NO",
                      "Whether a checksum is stored in each frame, which is verified when it is "
                      "read")),
};

}  // namespace

std::span<const Option> creation_options() {
  return kOptions;
}

const Option* find_creation_option(std::string_view name) {
  return find_option(kOptions, name);
}

}  // namespace gdal_zarr
