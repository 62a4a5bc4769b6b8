#include "driver/stores/vsi/http_options.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// Object stores whose values have URLs, with the option that turns signing off.
constexpr std::array<std::pair<std::string_view, ConfigOption>, 3> kObjectStores{{
    {"/vsis3/", ConfigOption::s3_no_sign_request},
    {"/vsiaz/", ConfigOption::azure_no_sign_request},
    {"/vsigs/", ConfigOption::gs_no_sign_request},
}};

// Options in the path, with GDAL's names for them.
constexpr std::array<std::pair<const char*, const char*>, 14> kLongFormOptions{{
    {"connecttimeout", "GDAL_HTTP_CONNECTTIMEOUT"},
    {"cookie", "GDAL_HTTP_COOKIE"},
    {"header_file", "GDAL_HTTP_HEADER_FILE"},
    {"low_speed_limit", "GDAL_HTTP_LOW_SPEED_LIMIT"},
    {"low_speed_time", "GDAL_HTTP_LOW_SPEED_TIME"},
    {"max_retry", "GDAL_HTTP_MAX_RETRY"},
    {"proxy", "GDAL_HTTP_PROXY"},
    {"proxyauth", "GDAL_PROXY_AUTH"},
    {"proxyuserpwd", "GDAL_HTTP_PROXYUSERPWD"},
    {"retry_codes", "GDAL_HTTP_RETRY_CODES"},
    {"retry_delay", "GDAL_HTTP_RETRY_DELAY"},
    {"timeout", "GDAL_HTTP_TIMEOUT"},
    {"unsafessl", "GDAL_HTTP_UNSAFESSL"},
    {"useragent", "GDAL_HTTP_USERAGENT"},
}};

std::string percent_decoded(const std::string& text) {
  const GdalText decoded(CPLUnescapeString(text.c_str(), nullptr, CPLES_URL));
  return decoded.get();
}

void append_header(std::string& headers, std::string_view header) {
  if (header.empty()) return;
  if (!headers.empty()) headers += "\r\n";
  headers += header;
}

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

}  // namespace

std::string parse_headers(std::string_view text) {
  std::string headers;
  std::string header;
  bool is_quoted = false;
  const bool has_lines = text.find_first_of("\r\n") != std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (has_lines ? c == '\r' || c == '\n' : c == ',' && !is_quoted) {
      append_header(headers, trimmed(header));
      header.clear();
    } else if (!has_lines && c == '"') {
      is_quoted = !is_quoted;
    } else if (!has_lines && is_quoted && c == '\\' && i + 1 < text.size()) {
      header += text[++i];
    } else {
      header += c;
    }
  }
  append_header(headers, trimmed(header));
  return headers;
}

std::optional<HttpFolder> HttpFolder::parse(const std::string& path) {
  constexpr std::string_view kLongForm = "/vsicurl?";
  constexpr std::string_view kPrefix = "/vsicurl/";
  HttpFolder folder;
  folder.path_ = path;
  for (const auto& [prefix, no_sign_option] : kObjectStores) {
    if (!path.starts_with(prefix)) continue;
    folder.no_sign_option_ = no_sign_option;
    if (folder.needs_gdal_file_system() || folder.object_url("x").empty()) return std::nullopt;
    return folder;
  }
  if (path.starts_with(kLongForm)) {
    const CPLStringList parameters(CSLTokenizeString2(path.c_str() + kLongForm.size(), "&", 0));
    for (int i = 0; i < parameters.size(); ++i) {
      char* key = nullptr;
      const char* raw_value = CPLParseNameValue(parameters[i], &key);
      const GdalText owned(key);
      if (raw_value == nullptr || key == nullptr) continue;
      const std::string value = percent_decoded(raw_value);
      const auto* known =
          std::find_if(kLongFormOptions.begin(), kLongFormOptions.end(),
                       [&](const auto& option) { return EQUAL(option.first, key); });
      if (EQUAL(key, "url")) {
        folder.url_ = value;
      } else if (known != kLongFormOptions.end()) {
        folder.options_.emplace_back(known->second, value);
      } else if (EQUAL(key, "referer")) {
        append_header(folder.headers_, "Referer: " + value);
      } else if (STARTS_WITH_CI(key, "header.")) {
        append_header(folder.headers_, std::string(key + std::strlen("header.")) + ": " + value);
      } else if (!EQUAL(key, "use_head") && !EQUAL(key, "list_dir") && !EQUAL(key, "empty_dir")) {
        return std::nullopt;
      }
    }
  } else if (path.starts_with(kPrefix)) {
    folder.url_ = path.substr(kPrefix.size());
  }
  if (!STARTS_WITH_CI(folder.url_.c_str(), "http://") &&
      !STARTS_WITH_CI(folder.url_.c_str(), "https://")) {
    return std::nullopt;
  }
  if (const auto query = folder.url_.find('?'); query != std::string::npos) {
    folder.query_ = folder.url_.substr(query + 1);
    folder.url_.erase(query);
  }
  return folder.needs_gdal_file_system() ? std::nullopt : std::optional(std::move(folder));
}

bool HttpFolder::needs_gdal_file_system() const {
  return std::ranges::any_of(config_options(), [this](const Option& row) {
    if ((row.scope & ConfigScope::file_system) == 0) return false;
    const auto value = option(row.name.data());
    return value && !value->empty() && !EQUAL(value->c_str(), "NO");
  });
}

// Empty when GDAL has no URL that can be requested without further headers.
std::string HttpFolder::object_url(std::string_view key) const {
  const std::string file = join_vsi_path(path_, key);
  // Not every server accepts the API version that GDAL uses when it signs with an account's key.
  const bool has_token =
      !value(ConfigOption::azure_sas_token).empty() ||
      value(ConfigOption::azure_connection_string).find("SharedAccessSignature=") !=
          std::string::npos;
  const bool needs_key = no_sign_option_ == ConfigOption::azure_no_sign_request && !has_token;
  if (test(*no_sign_option_)) {
    const char* url = VSIGetActualURL(file.c_str());
    return url != nullptr ? url : "";
  }
  if (needs_key) return {};
  const QuietCall call;
  const GdalText url(VSIGetSignedURL(file.c_str(), nullptr));
  return url ? url.get() : "";
}

std::string HttpFolder::url_of(std::string_view key) const {
  if (is_object_store()) {
    std::string url = object_url(key);
    if (url.empty()) throw zarrcore::AccessFailure("the credentials cannot sign its URL any more");
    return url;
  }
  std::string url = url_ + '/' + percent_encoded(key, "/!$&'()*+,;=:@");
  std::string query = query_;
  std::string more = value(ConfigOption::query_string);
  if (more.starts_with('?')) more.erase(0, 1);
  if (!query.empty() && !more.empty()) query += '&';
  query += more;
  return query.empty() ? url : url + '?' + query;
}

std::optional<std::string> HttpFolder::option(const char* name) const {
  for (const auto& [known, value] : options_) {
    if (known == name) return value;
  }
  return path_option(path_, name);
}

std::string HttpFolder::value(ConfigOption option) const {
  const char* value = config_option_default(option);
  return this->option(config_option_name(option)).value_or(value != nullptr ? value : "");
}

bool HttpFolder::test(ConfigOption option) const {
  return CPLTestBool(value(option).c_str());
}

std::string HttpFolder::headers() const {
  std::string headers = headers_;
  append_header(headers, parse_headers(value(ConfigOption::headers)));
  const auto bearer = option(config_option_name(ConfigOption::bearer));
  const auto kind = option(config_option_name(ConfigOption::authentication));
  // GDAL itself sends tokens since 3.9, if this kind of authentication is set.
  const bool is_sent = GDAL_ZARR_AT_LEAST(3, 9) && kind && EQUAL(kind->c_str(), "BEARER");
  if (bearer && !is_sent && EQUAL(kind.value_or("BEARER").c_str(), "BEARER")) {
    append_header(headers, "Authorization: Bearer " + *bearer);
  }
  return headers;
}

HttpOptionScope::HttpOptionScope(const HttpFolder& folder) {
  for (const Option& row : config_options()) {
    if ((row.scope & ConfigScope::request) == 0) continue;
    const char* name = row.name.data();
    const auto wanted = folder.option(name);
    const char* current = CPLGetConfigOption(name, nullptr);
    if (!wanted || (current != nullptr && *wanted == current)) continue;
    options_.emplace_back(name, wanted->c_str(), false);
  }
}

}  // namespace gdal_zarr
