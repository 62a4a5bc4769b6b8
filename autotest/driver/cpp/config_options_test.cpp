// The table of configuration options: each enumerator is the option that it says, and has a
// description and the default that reading it gives.
#include "driver/gdal/config_options.h"

#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>

namespace gdal_zarr::test::config_options_test {
namespace {

TEST(ConfigOptions, AreInTheOrderOfTheirEnumerators) {
  constexpr std::pair<ConfigOption, std::string_view> kNames[] = {
      {ConfigOption::num_threads, "GDAL_NUM_THREADS"},
      {ConfigOption::parallel_requests, "ZARR_PARALLEL_REQUESTS"},
      {ConfigOption::write_cache_size, "ZARR_WRITE_CACHE_SIZE"},
      {ConfigOption::copy_memory, "ZARR_COPY_MEMORY"},
      {ConfigOption::write_behind, "ZARR_WRITE_BEHIND"},
      {ConfigOption::fsync, "ZARR_FSYNC"},
      {ConfigOption::lock_timeout, "ZARR_LOCK_TIMEOUT"},
      {ConfigOption::metadata_delay, "GDAL_LOAD_EXTRA_DIM_METADATA_DELAY"},
      {ConfigOption::allow_local_targets, "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"},
      {ConfigOption::pam_proxy_dir, "GDAL_PAM_PROXY_DIR"},
      {ConfigOption::connect_timeout, "GDAL_HTTP_CONNECTTIMEOUT"},
      {ConfigOption::low_speed_time, "GDAL_HTTP_LOW_SPEED_TIME"},
      {ConfigOption::low_speed_limit, "GDAL_HTTP_LOW_SPEED_LIMIT"},
      {ConfigOption::ingested_bytes, "GDAL_INGESTED_BYTES_AT_OPEN"},
      {ConfigOption::max_retry, "GDAL_HTTP_MAX_RETRY"},
      {ConfigOption::retry_delay, "GDAL_HTTP_RETRY_DELAY"},
      {ConfigOption::retry_codes, "GDAL_HTTP_RETRY_CODES"},
      {ConfigOption::headers, "GDAL_HTTP_HEADERS"},
      {ConfigOption::bearer, "GDAL_HTTP_BEARER"},
      {ConfigOption::authentication, "GDAL_HTTP_AUTH"},
      {ConfigOption::certificate_folder, "GDAL_HTTP_CAPATH"},
      {ConfigOption::gzip, "CPL_CURL_GZIP"},
      {ConfigOption::multiplex, "GDAL_HTTP_MULTIPLEX"},
      {ConfigOption::max_connections, "GDAL_HTTP_MAX_TOTAL_CONNECTIONS"},
      {ConfigOption::max_idle_connections, "GDAL_HTTP_MAX_CACHED_CONNECTIONS"},
      {ConfigOption::query_string, "VSICURL_QUERY_STRING"},
      {ConfigOption::s3_no_sign_request, "AWS_NO_SIGN_REQUEST"},
      {ConfigOption::azure_no_sign_request, "AZURE_NO_SIGN_REQUEST"},
      {ConfigOption::gs_no_sign_request, "GS_NO_SIGN_REQUEST"},
      {ConfigOption::azure_sas_token, "AZURE_STORAGE_SAS_TOKEN"},
      {ConfigOption::azure_connection_string, "AZURE_STORAGE_CONNECTION_STRING"}};
  for (const auto& [option, name] : kNames) EXPECT_EQ(config_option_name(option), name);
}

TEST(ConfigOptions, HaveOneRowEach) {
  std::set<std::string_view> names;
  for (const Option& row : config_options()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(ConfigOptions, HaveDefaults) {
  EXPECT_STREQ(config_option(ConfigOption::parallel_requests), "16");
  EXPECT_STREQ(config_option(ConfigOption::fsync), "NO");
  EXPECT_EQ(config_option(ConfigOption::write_cache_size), nullptr);
  EXPECT_FALSE(is_set(ConfigOption::parallel_requests));
  CPLSetThreadLocalConfigOption("ZARR_PARALLEL_REQUESTS", "3");
  EXPECT_STREQ(config_option(ConfigOption::parallel_requests), "3");
  EXPECT_TRUE(is_set(ConfigOption::parallel_requests));
  CPLSetThreadLocalConfigOption("ZARR_PARALLEL_REQUESTS", nullptr);
}

TEST(ConfigOptions, AreListedWithDescriptions) {
  struct Destroy {
    void operator()(CPLXMLNode* node) const { CPLDestroyXMLNode(node); }
  };
  const std::unique_ptr<CPLXMLNode, Destroy> list(CPLParseXMLString(config_option_list().c_str()));
  ASSERT_TRUE(list);
  int count = 0;
  for (const CPLXMLNode* node = list->psChild; node != nullptr; node = node->psNext) {
    EXPECT_STRNE(CPLGetXMLValue(node, "name", ""), "");
    EXPECT_STRNE(CPLGetXMLValue(node, "description", ""), "");
    ++count;
  }
  EXPECT_EQ(count, static_cast<int>(ConfigOption::low_speed_limit) + 1);
}

}  // namespace
}  // namespace gdal_zarr::test::config_options_test
