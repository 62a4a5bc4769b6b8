#include "driver/entry/open.h"
#include "driver/stores/icechunk/icechunk_writer.h"

namespace gdal_zarr {
namespace {

constexpr unsigned kStoreOption = 1;
constexpr unsigned kRasterOnly = 2;  // without effect on the multidimensional API

constexpr std::string_view kOpenOption = "open option";
constexpr unsigned kAllScopes = kStoreOption | kRasterOnly;

constexpr OptionValue kMissingChunks[] = {{"FILL"}, {"ERROR"}};
constexpr OptionValue kLongDoubles[] = {{"UNKNOWN"}, {"X87"}, {"QUAD"}};

constexpr Option kOpenOptions[] = {
    rows::with_alias("USE_ZMETADATA",
                     rows::boolean("USE_CONSOLIDATED_METADATA", kStoreOption, "YES",
                                   "Use consolidated metadata if it exists")),
    rows::boolean("CONSOLIDATE_METADATA", kStoreOption, "NO",
                  "Whether opening a store for update writes its consolidated metadata, also if it "
                  "has none"),
    rows::boolean("MULTIBAND", kRasterOnly, "YES",
                  "Whether an array of more than two dimensions is one dataset with several bands "
                  "(YES) or has a subdataset for each 2D slice (NO)"),
    rows::text("BAND_RANGE", kRasterOnly, "",
               "Slices of an array of more than two dimensions that are the bands: first:last, "
               "counted from 1, both included. For arrays of more than 65,536 slices"),
    rows::text("DIM_X", kRasterOnly, "", "Name of the X dimension, or its index, counted from 0"),
    rows::text("DIM_Y", kRasterOnly, "", "Name of the Y dimension, or its index, counted from 0"),
    rows::boolean("SPHERE", kRasterOnly, "NO",
                  "Whether an array of cells of a HEALPix grid is shown as a raster of longitude "
                  "and latitude, each pixel with the value of its cell; for reading"),
    rows::boolean("NORTH_UP", kRasterOnly, "NO",
                  "Whether a raster that has the south at its top is shown with the north at its "
                  "top; for reading"),
    rows::boolean(
        "ASSUME_LONGLAT", kStoreOption, "NO",
        "Whether longitudes and latitudes in degrees for which no CRS is stated are those "
        "of WGS 84"),
    rows::boolean("LIST_ALL_ARRAYS", kRasterOnly, "NO",
                  "Whether coordinates and other helper arrays are listed as subdatasets"),
    rows::text("LOAD_EXTRA_DIM_METADATA_DELAY", kRasterOnly, "5",
               "Seconds that may be spent on reading the coordinates of further dimensions for the "
               "metadata of bands, or unlimited"),
    rows::boolean("CACHE_TILE_PRESENCE", kStoreOption, "NO",
                  "List each folder of chunks once instead of requesting chunks that may be "
                  "missing"),
    rows::choice(
        "MISSING_CHUNKS", kStoreOption, kMissingChunks, "FILL",
        "What reading a chunk that is not stored gives: the fill value (FILL), or an error "
        "that names the chunk (ERROR)"),
    rows::choice("LONG_DOUBLE", kStoreOption, kLongDoubles, "UNKNOWN",
                 "The format of NumPy's long doubles (<f16, <c32), which a store does not state: "
                 "80 bits of x87 in 16 bytes (X87), or IEEE 754 binary128 (QUAD). They are rounded "
                 "to float64"),
    rows::boolean("WRITE_EMPTY_CHUNKS", kStoreOption, "NO",
                  "Whether written chunks are stored that contain only the fill value"),
    rows::boolean("CACHE_KERCHUNK_JSON", kStoreOption, "NO",
                  "Whether a JSON document of Kerchunk references is read through a copy of it as "
                  "references in Parquet files, which is created in a folder of the user"),
    rows::text("BRANCH", kStoreOption, "",
               "Of an Icechunk repository: the branch to open, by default main"),
    rows::text("TAG", kStoreOption, "", "Of an Icechunk repository: the tag to open"),
    rows::text("SNAPSHOT", kStoreOption, "",
               "Of an Icechunk repository: the id of the snapshot to open"),
    rows::new_branch(kStoreOption),
    rows::commit_time(kStoreOption),
    rows::commit_message(kStoreOption),
    rows::commit_properties(kStoreOption),
    rows::text("SESSION", kStoreOption, "",
               "Changes of an Icechunk repository to start from, of another dataset or of a commit "
               "that failed: their text, or the path of a file"),
    rows::boolean("IGNORE_TIMESTAMP_ETAG", kStoreOption, "NO",
                  "Whether virtual chunks of an Icechunk repository are read although their files "
                  "have changed since they were referenced"),
    rows::text("LOCKS", kStoreOption, "NO",
               "For several processes that write the same chunks or shards at the same time: YES "
               "keeps lock files in a folder beside the store, named like the store with .sync "
               "appended; the path of another folder keeps them there"),
};

}  // namespace

OptionValues open_options(CSLConstList list) {
  OptionValues values(kOpenOptions, list, kAllScopes, kOpenOption);
  warn_of_similar_names(kOpenOptions, kAllScopes, kOpenOption, list);
  return values;
}

std::string open_option_list() {
  return option_list_xml(kOpenOptions, kAllScopes, "OpenOptionList", kRasterOnly);
}

}  // namespace gdal_zarr
