#include "driver/gdal/config_options.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <iterator>

namespace gdal_zarr {
namespace {

constexpr unsigned kScope = 1;

constexpr Option kConfigOptions[] = {
    rows::text("GDAL_NUM_THREADS", kScope, "",
               "Threads that decode and encode chunks: a number or ALL_CPUS. By default one for "
               "each CPU, at most 8"),
    rows::integer("ZARR_PARALLEL_REQUESTS", kScope, 1, 256, "16",
                  "Requests to a network store at the same time"),
    rows::boolean("ZARR_READ_AHEAD", kScope, "YES",
                  "Whether the next chunks are fetched and decoded while a program that reads one "
                  "window after the other works on the last one"),
    rows::text("ZARR_WRITE_CACHE_SIZE", kScope, "",
               "Bytes of written data that are buffered until chunks and shards are complete, at "
               "least 1048576"),
    rows::text("ZARR_COPY_MEMORY", kScope, "",
               "Bytes of values in memory while an array is copied into one with other chunks, at "
               "least 1048576. By default half of GDAL_CACHEMAX"),
    rows::boolean("ZARR_FSYNC", kScope, "NO",
                  "Whether each file is synchronized to disk before it replaces the old one"),
    rows::boolean(
        "ZARR_FORBIDDEN_IS_MISSING", kScope, "NO",
        "Whether chunks that a server forbids to read (401, 403) are missing chunks. Can be "
        "set for a path"),
    rows::boolean("ZARR_SHARE_CONNECTIONS", kScope, "YES",
                  "Whether requests to web servers share connections among threads and datasets, "
                  "and run together on one with HTTP/2. Can be set for a path"),
    rows::text("GDAL_LOAD_EXTRA_DIM_METADATA_DELAY", kScope, "5",
               "Seconds that may be spent on reading the coordinates of further dimensions for the "
               "metadata of bands, or unlimited. The open option LOAD_EXTRA_DIM_METADATA_DELAY "
               "overrides it"),
    rows::boolean("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", kScope, "NO",
                  "Whether Kerchunk references from the network may refer to local files"),
    rows::boolean(
        "VSIKERCHUNK_USE_CACHE", kScope, "NO",
        "Whether JSON documents of Kerchunk references are read through copies of them in "
        "VSIKERCHUNK_CACHE_DIR, as with the open option CACHE_KERCHUNK_JSON"),
    rows::text("VSIKERCHUNK_CACHE_DIR", kScope, "",
               "Folder of these copies, by default .gdal/zarr_kerchunk_cache in the home folder"),
    rows::text("GDAL_PAM_PROXY_DIR", kScope, "",
               "Folder in which GDAL keeps .aux.xml files that it cannot write beside the data; "
               "with it, statistics of arrays on the network can be cached"),
    rows::text("GDAL_DISABLE_READDIR_ON_OPEN", kScope, "",
               "EMPTY_DIR: no .aux.xml file is looked for beside a store on the network"),
    rows::integer("GDAL_HTTP_CONNECTTIMEOUT", kScope, 0, INT32_MAX, "30",
                  "Seconds to wait for a connection to a server"),
    rows::integer("GDAL_HTTP_LOW_SPEED_TIME", kScope, 0, INT32_MAX, "60",
                  "Seconds below GDAL_HTTP_LOW_SPEED_LIMIT after which a transfer is cancelled"),
    rows::integer("GDAL_HTTP_LOW_SPEED_LIMIT", kScope, 0, INT32_MAX, "1",
                  "Bytes per second; see GDAL_HTTP_LOW_SPEED_TIME"),
};
static_assert(std::size(kConfigOptions) ==
              static_cast<std::size_t>(ConfigOption::low_speed_limit) + 1);

constexpr const Option& row_of(ConfigOption option) {
  return kConfigOptions[static_cast<std::size_t>(option)];
}

// The texts of the table are literals, which end with a NUL.
constexpr const char* c_string(std::string_view literal) {
  return literal.empty() ? nullptr : &literal.front();
}

}  // namespace

const char* config_option_name(ConfigOption option) {
  return c_string(row_of(option).name);
}

const char* config_option(ConfigOption option) {
  return CPLGetConfigOption(config_option_name(option), c_string(row_of(option).default_value));
}

bool is_set(ConfigOption option) {
  return CPLGetConfigOption(config_option_name(option), nullptr) != nullptr;
}

bool path_test(const std::string& path, ConfigOption option) {
  return CPLTestBool(VSIGetPathSpecificOption(path.c_str(), config_option_name(option),
                                              c_string(row_of(option).default_value)));
}

std::string config_option_list() {
  return option_list_xml(kConfigOptions, kScope, "ConfigurationOptionList");
}

}  // namespace gdal_zarr
