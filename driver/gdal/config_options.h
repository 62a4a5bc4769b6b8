// GDAL's configuration options that the driver reads, in one table. The options of HTTP requests,
// which are passed on to GDAL for a path, are in driver/stores/vsi/http_options.cpp.
#pragma once

#include <span>
#include <string>

#include "driver/gdal/option_table.h"

namespace gdal_zarr {

// In the order of the table in config_options.cpp.
enum class ConfigOption : std::uint8_t {
  num_threads,
  parallel_requests,
  read_ahead,
  write_cache_size,
  copy_memory,
  fsync,
  forbidden_is_missing,
  share_connections,
  metadata_delay,
  allow_local_targets,
  use_reference_cache,
  reference_cache_dir,
  pam_proxy_dir,
  readdir_on_open,
  connect_timeout,
  low_speed_time,
  low_speed_limit,
};

const char* config_option_name(ConfigOption option);

// The value that is set, for this thread or for the program; else the default, which is null for
// options that have none.
const char* config_option(ConfigOption option);

bool is_set(ConfigOption option);

// The value of a boolean option for a path: that set with VSISetPathSpecificOption(), or as above.
bool path_test(const std::string& path, ConfigOption option);

// All rows as XML like that of GDAL's option lists, for the driver's metadata.
std::string config_option_list();

}  // namespace gdal_zarr
