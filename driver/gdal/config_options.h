// GDAL's configuration options that the driver reads, or passes on for a path, in one table.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "driver/gdal/options.h"

namespace gdal_zarr {

// In the order of the table in config_options.cpp.
enum class ConfigOption : std::uint8_t {
  num_threads,
  parallel_requests,
  read_ahead,
  write_cache_size,
  copy_memory,
  write_behind,
  fsync,
  lock_timeout,
  forbidden_is_missing,
  share_connections,
  count_chunks,
  metadata_delay,
  allow_local_targets,
  use_reference_cache,
  reference_cache_dir,
  pam_proxy_dir,
  readdir_on_open,
  connect_timeout,
  low_speed_time,
  low_speed_limit,
  ingested_bytes,
  // For HTTP requests.
  max_retry,
  retry_delay,
  retry_codes,
  headers,
  bearer,
  authentication,
  certificate_folder,
  gzip,
  multiplex,
  max_connections,
  max_idle_connections,
  query_string,
  // For object stores.
  s3_no_sign_request,
  azure_no_sign_request,
  gs_no_sign_request,
  azure_sas_token,
  azure_connection_string,
};

// The scopes of rows. Most options of the last two have no ConfigOption.
struct ConfigScope {
  // In the list of the driver's metadata.
  static constexpr unsigned listed = 1;
  // CPLHTTPFetch() and CPLHTTPSetOptions() read it.
  static constexpr unsigned request = 2;
  // Only GDAL's own file systems support it.
  static constexpr unsigned file_system = 4;
};

std::span<const Option> config_options();

const char* config_option_name(ConfigOption option);

// The value that is set, for this thread or for the program; else the default, which is null for
// options that have none.
const char* config_option(ConfigOption option);

bool is_set(ConfigOption option);

// The value set for a path with VSISetPathSpecificOption(), or else as a configuration option (see
// is_set). Empty if neither is set.
std::optional<std::string> path_option(const std::string& path, const char* name);

// The default; null for options that have none.
const char* config_option_default(ConfigOption option);

// The value of a boolean option for a path: that set with VSISetPathSpecificOption(), or as above.
bool path_test(const std::string& path, ConfigOption option);

// How long to wait for locks that other programs hold.
std::chrono::seconds lock_timeout();
// How many pending bytes an array may hold in memory; nullopt if no option states it.
std::optional<std::uint64_t> write_cache_bytes();

// The options with the flag `listed` as XML, in the format of GDAL's option lists, for the driver's
// metadata.
std::string config_option_list();

}  // namespace gdal_zarr
