#include "driver/stores/vsi/conditional_put.h"

#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/object_put.h"

namespace gdal_zarr {
namespace {

using zarrcore::ValueVersion;

constexpr std::uint64_t kOnlyHash = ~std::uint64_t{0};  // no text of a tag

bool is_in_s3(const std::string& path) {
  return STARTS_WITH(path.c_str(), "/vsis3/");
}

// The text between the quotes of an ETag, if the version has kept it.
std::string tag_of(const ValueVersion& version) {
  const ValueVersion::Identity& identity = version.identity();
  if (identity[0] == 0 || identity[1] == kOnlyHash) return {};
  const auto* text = reinterpret_cast<const char*>(identity.data());
  return {text, std::find(text, text + sizeof identity, '\0')};
}

// GDAL_HTTP_HEADERS with one more header. In lines, of which GDAL keeps the quotes.
std::string headers_with(const std::string& path, const std::string& header) {
  std::string headers = path_option(path, config_option_name(ConfigOption::headers)).value_or("");
  headers = parse_headers(headers);
  return headers.empty() ? header + "\r\n" : headers + "\r\n" + header;
}

}  // namespace

ValueVersion version_of_tag(std::string_view tag) {
  // Servers mark tags of files that they compress as weak.
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  ValueVersion::Identity identity{};
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (tag.size() > 2 && tag.size() <= sizeof identity + 2 && tag.front() == '"' &&
      tag.back() == '"' && std::all_of(tag.begin() + 1, tag.end() - 1, is_plain)) {
    std::memcpy(identity.data(), tag.data() + 1, tag.size() - 2);
  } else {
    identity = {std::hash<std::string_view>()(tag), kOnlyHash, kOnlyHash, kOnlyHash};
  }
  return ValueVersion(identity);
}

bool checks_conditions(const std::string& path) {
  if (!GDAL_ZARR_AT_LEAST(3, 10)) return false;
  const std::string server = path_option(path, "AWS_S3_ENDPOINT").value_or("s3.amazonaws.com");
  return is_in_azure(path) ||
         (is_in_s3(path) && server.find(".amazonaws.com") != std::string::npos);
}

std::string condition_of(const std::string& path, const ValueVersion& expected,
                         std::uint64_t size) {
  if (!GDAL_ZARR_AT_LEAST(3, 10)) return {};
  // Servers differ in what they do with conditions of an upload in parts to S3.
  const bool can_check = is_in_azure(path) || (is_in_s3(path) && size < min_size_in_parts(path));
  if (!can_check) return {};
  {
    // Headers that are set for the path replace those of the thread.
    const char* const name = config_option_name(ConfigOption::headers);
    const CPLConfigOptionSetter setter(name, "X-Test: 1", false);
    if (path_option(path, name) != "X-Test: 1") return {};
  }
  if (expected.is_absent()) return "If-None-Match: *";
  if (expected.is_unknown()) return {};
  const std::string tag = tag_of(expected);
  return tag.empty() ? tag : "If-Match: \"" + tag + '"';
}

ConditionScope::ConditionScope(const std::string& path, const std::string& condition) {
  if (condition.empty()) return;
  headers_.emplace(config_option_name(ConfigOption::headers), headers_with(path, condition).c_str(),
                   false);
}

}  // namespace gdal_zarr
