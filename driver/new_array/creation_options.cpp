#include "driver/new_array/creation_options.h"

#include <cpl_string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "driver/gdal/messages.h"
#include "driver/stores/icechunk/icechunk_writer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

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
using zarrcore::Error;

constexpr unsigned kStore = kDatasetOption;
constexpr unsigned kRaster = kRasterOption;
constexpr unsigned kArray = kArrayOption;

constexpr OptionValue kZarrFormats[] = {{"ZARR_V1"}, {"ZARR_V2"}, {"ZARR_V3"}};
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
    choice("FORMAT", kStore, kZarrFormats, "ZARR_V2", "Zarr version"),
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

    // A virtual store: entry/copy_references.cpp and stores/references/reference_writer.cpp.
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

    // Chunk keys and strings: new_array.cpp.
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

constexpr std::string_view kCreationOption = "creation option";

std::string upper_case(const std::string& text) {
  return CPLString(text).toupper();
}

std::optional<RegisteredCompressor> find_registered(std::string_view id) {
  for (RegisteredCompressor& compressor : registered_compressors()) {
    if (compressor.id == id) return std::move(compressor);
  }
  return std::nullopt;
}

// Throws unless the value is of the type that the compressor declares.
void check_declared_type(const std::string& name, const std::string& type,
                         const std::string& value) {
  const bool is_int = EQUAL(type.c_str(), "int");
  const bool is_real = EQUAL(type.c_str(), "float") || EQUAL(type.c_str(), "real");
  if ((is_int && !zarrcore::parse_number<std::int64_t>(value)) ||
      (is_real && !zarrcore::parse_number<double>(value))) {
    throw Error(std::string(kCreationOption) + ' ' + name + " is \"" + value + "\", not " +
                (is_int ? "an integer" : "a number"));
  }
}

bool is_option_of(const std::optional<RegisteredCompressor>& compressor, std::string_view name) {
  return compressor && std::any_of(compressor->options.begin(), compressor->options.end(),
                                   [&](const CompressorOption& option) {
                                     return EQUAL(creation_option_name(*compressor, option).c_str(),
                                                  std::string(name).c_str());
                                   });
}

// The options of all registered compressors.
std::string registered_options_xml() {
  std::string xml;
  for (const RegisteredCompressor& compressor : registered_compressors()) {
    for (const CompressorOption& option : compressor.options) {
      xml += single_option_xml(creation_option_name(compressor, option), option.type,
                               option.default_value,
                               option.description + (option.description.empty() ? "" : ". ") +
                                   "Only with COMPRESS=" + upper_case(compressor.id));
    }
  }
  return xml;
}

}  // namespace

std::span<const Option> creation_options() {
  return kOptions;
}

const Option* find_creation_option(std::string_view name) {
  return find_option(kOptions, name);
}

std::string creation_option_list(unsigned scopes, std::string_view element) {
  return option_list_xml(creation_options(), scopes, element, 0,
                         (scopes & kArrayOption) != 0 ? registered_options_xml() : std::string());
}

std::string creation_option_name(const RegisteredCompressor& compressor,
                                 const CompressorOption& option) {
  return upper_case(compressor.id) + '_' + upper_case(option.name);
}

void warn_of_unused_options(CSLConstList options, unsigned scopes) {
  const CreationOptions values(options, scopes);
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = entry_name(*entry);
    if (is_option_of(values.registered(), name)) continue;
    warn_of_unknown_name(creation_options(), scopes, kCreationOption, *entry, NameWarning::always);
    const Option* option = find_creation_option(name);
    if (option != nullptr && (option->scope & scopes) != 0 && !option->needed.empty() &&
        !values.has_one_of(option->needed)) {
      report(CE_Warning, CPLE_AppDefined, "creation option %s has no effect without %s",
             std::string(name).c_str(), std::string(option->needed).c_str());
    }
  }
}

void suggest_creation_options(CSLConstList options) {
  const CreationOptions values(options, kArrayOption);
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    if (is_option_of(values.registered(), entry_name(*entry))) continue;
    warn_of_unknown_name(creation_options(), kAllOptions, kCreationOption, *entry,
                         NameWarning::if_similar);
  }
}

CreationOptions::CreationOptions(CSLConstList options, unsigned scopes)
    : OptionValues(creation_options(), options, scopes, kCreationOption) {
  if (is_given("COMPRESS")) registered_ = find_registered(text("COMPRESS"));
  if (!registered_) return;
  for (const CompressorOption& option : registered_->options) {
    const std::string name = creation_option_name(*registered_, option);
    const char* given = CSLFetchNameValue(options, name.c_str());
    if (given == nullptr) continue;
    check_declared_type(name, option.type, given);
    set(name, given);
  }
}

CPLStringList without_source_blocks(CSLConstList options) {
  const CreationOptions given(options, kArrayOption);
  CPLStringList own(CSLDuplicate(options));
  if (given.is("CHUNKS", "AUTO") || given.is("SHARDING", "AUTO") ||
      given.is_given("CHUNK_ASPECT_RATIO")) {
    own.SetNameValue("BLOCKSIZE", nullptr);
  }
  return own;
}

std::string creation_data_types() {
  std::string names = "Byte ";
#if GDAL_ZARR_AT_LEAST(3, 7)
  names += "Int8 ";
#endif
  names += "Int16 UInt16 Int32 UInt32 Int64 UInt64 ";
#if GDAL_ZARR_AT_LEAST(3, 11)
  names += "Float16 CFloat16 ";
#endif
  return names + "Float32 Float64 CInt16 CInt32 CFloat32 CFloat64";
}

std::string codec_names(std::string_view option) {
  std::string names;
  for (const OptionValue& value : find_creation_option(option)->values) {
    if (value.name == "NONE") continue;
    names.append(names.empty() ? "" : ",").append(zarrcore::lower_case(value.name));
  }
  if (option != "COMPRESS") return names;
  for (const RegisteredCompressor& compressor : registered_compressors()) {
    names += ',' + compressor.id;
  }
  return names;
}

}  // namespace gdal_zarr
