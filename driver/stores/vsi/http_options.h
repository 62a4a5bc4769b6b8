// Settings of programs for requests to web servers: GDAL's configuration options, options for a
// path, and options in the path itself.
#pragma once

#include <cpl_conv.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"

namespace gdal_zarr {

// A folder on a web server, or in an object store whose values have URLs.
class HttpFolder {
 public:
  // Empty unless `path` is "/vsicurl/http…", "/vsicurl?…&url=http…", or below /vsis3/, /vsiaz/ or
  // /vsigs/ with credentials that can sign URLs, or without signatures. Also empty for paths with
  // options that only GDAL's own file systems honour: signing for Planetary Computer, allowed
  // extensions and names, authorization after redirects, paying requests, and network statistics.
  static std::optional<HttpFolder> parse(const std::string& path);

  // The path as GDAL names it.
  const std::string& path() const { return path_; }

  // The URL of a value, with the query of the path and of VSICURL_QUERY_STRING, or signed. Throws
  // zarrcore::Error.
  std::string url_of(std::string_view key) const;

  // Returns true if the folder is in an object store.
  bool is_object_store() const { return no_sign_option_.has_value(); }

  // The value of GDAL's option `name`: as set in the path; else as set for the path with
  // VSISetPathSpecificOption(); else the configuration option. Empty if it is not set.
  std::optional<std::string> option(const char* name) const;

  // The same, or else the default in the table; empty if it has none.
  std::string value(ConfigOption option) const;
  bool test(ConfigOption option) const;

  // All headers that are set, separated by CR LF.
  std::string headers() const;

 private:
  bool needs_gdal_file_system() const;
  std::string object_url(std::string_view key) const;

  std::string path_;
  std::optional<ConfigOption> no_sign_option_;  // of an object store: turns signing off
  std::string url_;                             // without a query
  std::string query_;                           // without its question mark
  std::string headers_;                         // those in the path
  std::vector<std::pair<std::string, std::string>> options_;  // those in the path, by GDAL's names
};

// While it lives, the options of a folder are configuration options of this thread, so that
// CPLHTTPFetch() uses them.
class HttpOptionScope {
 public:
  explicit HttpOptionScope(const HttpFolder& folder);

 private:
  std::deque<CPLConfigOptionSetter> options_;
};

// Headers separated by CR LF from the text of GDAL_HTTP_HEADERS: separated by commas, values with
// commas in double quotes, or separated by line breaks.
std::string parse_headers(std::string_view text);

}  // namespace gdal_zarr
