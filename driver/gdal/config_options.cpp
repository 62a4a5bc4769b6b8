#include "driver/gdal/config_options.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <cstdlib>

namespace gdal_zarr {
namespace {

constexpr unsigned kListed = ConfigScope::listed;
constexpr unsigned kListedRequest = ConfigScope::listed | ConfigScope::request;

// Not listed, as GDAL documents it.
constexpr Option of_gdal(rows::Text name, unsigned scope = 0, rows::Text default_value = "") {
  return rows::text(name, scope, default_value, "");
}
constexpr Option of_request(rows::Text name) {
  return of_gdal(name, ConfigScope::request);
}
constexpr Option of_file_system(rows::Text name) {
  return of_gdal(name, ConfigScope::file_system);
}

constexpr Option kConfigOptions[] = {
    rows::text("GDAL_NUM_THREADS", kListed, "",
               "Threads that decode and encode chunks: a number or ALL_CPUS. By default one for "
               "each CPU, at most 8"),
    rows::integer("ZARR_PARALLEL_REQUESTS", kListed, 1, 256, "16",
                  "Requests to a network store at the same time"),
    rows::boolean("ZARR_READ_AHEAD", kListed, "YES",
                  "Whether the next chunks are fetched and decoded while a program that reads one "
                  "window after the other works on the last one"),
    rows::text("ZARR_WRITE_CACHE_SIZE", kListed, "",
               "Bytes of written data that are buffered until chunks and shards are complete, at "
               "least 1048576"),
    rows::text("ZARR_COPY_MEMORY", kListed, "",
               "Bytes of values in memory while an array is copied into one with other chunks, at "
               "least 1048576. By default half of GDAL_CACHEMAX"),
    rows::boolean(
        "ZARR_WRITE_BEHIND", kListed, "YES",
        "Whether a write returns before its chunks are encoded and stored, which "
        "continues on other threads. A failure is reported by a later write, flush or close"),
    rows::boolean("ZARR_FSYNC", kListed, "NO",
                  "Whether each file is synchronized to disk before it replaces the old one"),
    rows::integer("ZARR_LOCK_TIMEOUT", kListed, 0, INT32_MAX, "10",
                  "Seconds to wait for the lock of a local folder or of LOCKS that another program "
                  "does not release, before the write fails"),
    rows::boolean(
        "ZARR_FORBIDDEN_IS_MISSING", kListed, "NO",
        "Whether chunks that a server forbids to read (401, 403) are missing chunks. Can be "
        "set for a path"),
    rows::boolean("ZARR_SHARE_CONNECTIONS", kListed, "YES",
                  "Whether requests to web servers share connections among threads and datasets, "
                  "and run together on one with HTTP/2. Can be set for a path"),
    rows::boolean("ZARR_COUNT_CHUNKS", kListed, "NO",
                  "Whether the structural info of an array says how many of its chunks are stored, "
                  "for which the store is listed and the indexes of shards are read"),
    rows::text("GDAL_LOAD_EXTRA_DIM_METADATA_DELAY", kListed, "5",
               "Seconds that may be spent on reading the coordinates of further dimensions for the "
               "metadata of bands, or unlimited. The open option LOAD_EXTRA_DIM_METADATA_DELAY "
               "overrides it"),
    rows::boolean("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", kListed, "NO",
                  "Whether Kerchunk references from the network may refer to local files"),
    rows::boolean(
        "VSIKERCHUNK_USE_CACHE", kListed, "NO",
        "Whether JSON documents of Kerchunk references are read through copies of them in "
        "VSIKERCHUNK_CACHE_DIR, as with the open option CACHE_KERCHUNK_JSON"),
    rows::text("VSIKERCHUNK_CACHE_DIR", kListed, "",
               "Folder of these copies, by default .gdal/zarr_kerchunk_cache in the home folder"),
    rows::text("GDAL_PAM_PROXY_DIR", kListed, "",
               "Folder in which GDAL keeps .aux.xml files that it cannot write beside the data; "
               "with it, statistics of arrays on the network can be cached"),
    rows::text("GDAL_DISABLE_READDIR_ON_OPEN", kListed, "",
               "EMPTY_DIR: no .aux.xml file is looked for in or beside a store on the network"),
    rows::integer("GDAL_HTTP_CONNECTTIMEOUT", kListedRequest, 0, INT32_MAX, "30",
                  "Seconds to wait for a connection to a server"),
    rows::integer("GDAL_HTTP_LOW_SPEED_TIME", kListedRequest, 0, INT32_MAX, "60",
                  "Seconds below GDAL_HTTP_LOW_SPEED_LIMIT after which a transfer is cancelled"),
    rows::integer("GDAL_HTTP_LOW_SPEED_LIMIT", kListedRequest, 0, INT32_MAX, "1",
                  "Bytes per second; see GDAL_HTTP_LOW_SPEED_TIME"),
    of_gdal("GDAL_INGESTED_BYTES_AT_OPEN"),
    of_gdal("GDAL_HTTP_MAX_RETRY", 0, "0"),
    of_gdal("GDAL_HTTP_RETRY_DELAY", 0, "30"),
    of_gdal("GDAL_HTTP_RETRY_CODES", 0, "408,429,500,502,503,504"),
    of_gdal("GDAL_HTTP_HEADERS"),
    of_request("GDAL_HTTP_BEARER"),
    of_request("GDAL_HTTP_AUTH"),
    of_request("GDAL_HTTP_CAPATH"),
    of_gdal("CPL_CURL_GZIP", 0, "YES"),
    of_gdal("GDAL_HTTP_MULTIPLEX", 0, "YES"),
    of_gdal("GDAL_HTTP_MAX_TOTAL_CONNECTIONS", 0, "0"),
    of_gdal("GDAL_HTTP_MAX_CACHED_CONNECTIONS", 0, "64"),
    of_gdal("VSICURL_QUERY_STRING"),
    of_gdal("AWS_NO_SIGN_REQUEST", 0, "NO"),
    of_gdal("AZURE_NO_SIGN_REQUEST", 0, "NO"),
    of_gdal("GS_NO_SIGN_REQUEST", 0, "NO"),
    of_gdal("AZURE_STORAGE_SAS_TOKEN"),
    of_gdal("AZURE_STORAGE_CONNECTION_STRING"),
    // Options that have no ConfigOption.
    of_request("GDAL_HTTP_VERSION"),
    of_request("GDAL_HTTP_TIMEOUT"),
    of_request("GDAL_HTTP_USERPWD"),
    of_request("GDAL_GSSAPI_DELEGATION"),
    of_request("GDAL_HTTP_PROXY"),
    of_request("GDAL_HTTPS_PROXY"),
    of_request("GDAL_HTTP_PROXYUSERPWD"),
    of_request("GDAL_PROXY_AUTH"),
    of_request("GDAL_HTTP_NETRC"),
    of_request("GDAL_HTTP_NETRC_FILE"),
    of_request("GDAL_CURL_CA_BUNDLE"),
    of_request("CURL_CA_BUNDLE"),
    of_request("SSL_CERT_FILE"),
    of_request("GDAL_HTTP_SSL_VERIFYSTATUS"),
    of_request("GDAL_HTTP_USE_CAPI_STORE"),
    of_request("GDAL_HTTP_UNSAFESSL"),
    of_request("GDAL_HTTP_SSLCERT"),
    of_request("GDAL_HTTP_SSLCERTTYPE"),
    of_request("GDAL_HTTP_SSLKEY"),
    of_request("GDAL_HTTP_KEYPASSWD"),
    of_request("GDAL_HTTP_HEADER_FILE"),
    of_request("GDAL_HTTP_COOKIE"),
    of_request("GDAL_HTTP_COOKIEFILE"),
    of_request("GDAL_HTTP_COOKIEJAR"),
    of_request("GDAL_HTTP_TCP_KEEPALIVE"),
    of_request("GDAL_HTTP_TCP_KEEPIDLE"),
    of_request("GDAL_HTTP_TCP_KEEPINTVL"),
    of_request("GDAL_HTTP_PATH_VERBATIM"),
    of_request("GDAL_HTTP_USERAGENT"),
    of_file_system("AWS_REQUEST_PAYER"),
    of_file_system("VSICURL_PC_URL_SIGNING"),
    of_file_system("VSICURL_PC_COLLECTION"),
    of_file_system("CPL_VSIL_CURL_ALLOWED_EXTENSIONS"),
    of_file_system("CPL_VSIL_CURL_ALLOWED_FILENAME"),
    of_file_system("CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT"),
    of_file_system("CPL_VSIL_NETWORK_STATS_ENABLED"),
    of_file_system("CPL_VSIL_SHOW_NETWORK_STATS"),
};
static_assert(kConfigOptions[static_cast<std::size_t>(ConfigOption::azure_connection_string)]
                  .name == "AZURE_STORAGE_CONNECTION_STRING");

constexpr const Option& row_of(ConfigOption option) {
  return kConfigOptions[static_cast<std::size_t>(option)];
}

// The texts of the table are literals, which end with a NUL.
constexpr const char* c_string(std::string_view literal) {
  return literal.empty() ? nullptr : &literal.front();
}

}  // namespace

std::span<const Option> config_options() {
  return kConfigOptions;
}

const char* config_option_name(ConfigOption option) {
  return c_string(row_of(option).name);
}

const char* config_option(ConfigOption option) {
  return CPLGetConfigOption(config_option_name(option), config_option_default(option));
}

const char* config_option_default(ConfigOption option) {
  return c_string(row_of(option).default_value);
}

bool is_set(ConfigOption option) {
  return CPLGetConfigOption(config_option_name(option), nullptr) != nullptr;
}

std::optional<std::string> path_option(const std::string& path, const char* name) {
  const char* value = VSIGetPathSpecificOption(path.c_str(), name, nullptr);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

bool path_test(const std::string& path, ConfigOption option) {
  const auto value = path_option(path, config_option_name(option));
  return CPLTestBool(value ? value->c_str() : config_option_default(option));
}

std::chrono::seconds lock_timeout() {
  return std::chrono::seconds(std::max(0, std::atoi(config_option(ConfigOption::lock_timeout))));
}

std::optional<std::uint64_t> write_cache_bytes() {
  constexpr GIntBig kLeast = 1 << 20;
  const char* text = config_option(ConfigOption::write_cache_size);
  if (text == nullptr) return std::nullopt;
  return static_cast<std::uint64_t>(std::max(kLeast, CPLAtoGIntBig(text)));
}

std::string config_option_list() {
  return option_list_xml(kConfigOptions, kListed, "ConfigurationOptionList");
}

}  // namespace gdal_zarr
