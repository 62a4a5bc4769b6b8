#include "driver/stores/connection_string.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <cctype>

#include "driver/stores/icechunk/icechunk_path.h"
#include "driver/stores/url_pipeline.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr std::string_view kConnectionPrefix = "ZARR:";

std::string without_final_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// The path that a pipeline or URL names, or the folder of a metadata document, or `name` itself.
std::string store_of(const std::string& name) {
  if (is_url_pipeline(name)) return path_of_pipeline(name);
  const std::string path = without_file_scheme(name);
  const std::string file_name = CPLGetFilename(without_query(path).c_str());
  if (!zarrcore::is_document_name(file_name) && !is_other_document(path)) return path;
  return parent_vsi_path(path).value_or(path.starts_with('/') ? "/" : ".");
}

// ":/group/array:3:0" after the path.
void parse_array(std::string_view rest, const std::string& name, ConnectionString& connection) {
  if (rest.empty() || rest == ":") return;
  if (rest[0] != ':') {
    throw Error("\"" + name + "\" continues with \"" + std::string(rest) +
                "\" after the path, where :/array is expected");
  }
  rest.remove_prefix(1);
  constexpr std::string_view kBands = ":bands=";
  if (const auto start = rest.rfind(kBands); start != std::string_view::npos) {
    connection.range = parse_band_range(rest.substr(start + kBands.size()), '-');
    if (connection.range) rest = rest.substr(0, start);
  }
  // An array's name may contain colons: only numbers at the end are a slice.
  while (true) {
    const auto colon = rest.rfind(':');
    if (colon == std::string_view::npos) break;
    const auto index = zarrcore::parse_number<std::uint64_t>(rest.substr(colon + 1));
    if (!index) break;
    connection.slice.insert(connection.slice.begin(), *index);
    rest = rest.substr(0, colon);
  }
  connection.array = (rest.starts_with('/') ? "" : "/") + std::string(rest);
}

// GDAL has prefixes for the protocols of URLs.
void check_is_no_url(const std::string& path) {
  for (const char* scheme : {"http://", "https://", "ftp://"}) {
    if (STARTS_WITH_CI(path.c_str(), scheme)) {
      throw Error("a URL needs the prefix /vsicurl/: ZARR:\"/vsicurl/" + path + "\"");
    }
  }
  for (const auto& [scheme, prefix] : {std::pair{"s3://", "/vsis3/"}, {"gs://", "/vsigs/"}}) {
    if (STARTS_WITH_CI(path.c_str(), scheme)) {
      throw Error("open this URL as ZARR:\"" + std::string(prefix) + path.substr(5) + "\"");
    }
  }
}

}  // namespace

bool has_file_scheme(const std::string& name) {
  return STARTS_WITH_CI(name.c_str(), "file:/");
}

std::string without_file_scheme(const std::string& name) {
  if (!has_file_scheme(name)) return name;
  // Two slashes come before a host (RFC 8089).
  const bool has_host = STARTS_WITH_CI(name.c_str(), "file://");
  std::string rest = name.substr(std::string_view(has_host ? "file://" : "file:").size());
  const std::string_view host = std::string_view(rest).substr(0, rest.find('/'));
  if (!host.empty() && !EQUAL(std::string(host).c_str(), "localhost")) {
    throw Error(name + " names a file of the computer " + std::string(host));
  }
  rest.erase(0, host.size());
  std::string path = decode_percents(rest);
  // file:///C:/folder
  const bool has_drive =
      path.size() > 2 && path[2] == ':' && std::isalpha(static_cast<unsigned char>(path[1])) != 0;
  return has_drive ? path.substr(1) : path;
}

bool has_prefix(const std::string& name) {
  return STARTS_WITH_CI(name.c_str(), "ZARR:");
}

ConnectionString parse_connection_string(const std::string& name) {
  ConnectionString connection;
  if (has_icechunk_scheme(name)) {
    IcechunkPath path = parse_icechunk_path(name);
    path.repository = without_file_scheme(path.repository);
    check_is_no_url(path.repository);
    connection.store_path = format_icechunk_path(path);
    return connection;
  }
  if (!has_prefix(name)) {
    connection.store_path = store_of(name);
  } else {
    const std::string_view text = std::string_view(name).substr(kConnectionPrefix.size());
    if (text.starts_with('"')) {
      const auto quote = text.find('"', 1);
      if (quote == std::string_view::npos) {
        throw Error("\"" + name + "\" has an unclosed quotation mark");
      }
      connection.store_path = text.substr(1, quote - 1);
      parse_array(text.substr(quote + 1), name, connection);
    } else {
      // Without quotation marks a path ends where an array begins; "://", "file:/" and "C:/" do not
      // begin one.
      auto colon = text.find(":/");
      while (colon != std::string_view::npos &&
             ((colon == 1 && std::isalpha(static_cast<unsigned char>(text[0])) != 0) ||
              text.substr(colon).starts_with("://") ||
              (colon == 4 && has_file_scheme(std::string(text))))) {
        colon = text.find(":/", colon + 2);
      }
      connection.store_path = text.substr(0, colon);
      if (colon != std::string_view::npos) parse_array(text.substr(colon), name, connection);
    }
    connection.store_path = store_of(connection.store_path);
  }
  connection.store_path = without_final_slash(connection.store_path);
  if (connection.store_path.empty()) throw Error("\"" + name + "\" contains no path");
  check_is_no_url(connection.store_path);
  return connection;
}

std::optional<BandRange> parse_band_range(std::string_view text, char separator) {
  const auto middle = text.find(separator);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto first = zarrcore::parse_number<std::uint64_t>(text.substr(0, middle));
  const auto last = zarrcore::parse_number<std::uint64_t>(text.substr(middle + 1));
  return first && last ? std::optional(BandRange{*first, *last}) : std::nullopt;
}

std::string format_connection_string(const std::string& store_path, const std::string& array) {
  // A path with a quotation mark cannot be quoted.
  const char* quote = store_path.find('"') == std::string::npos ? "\"" : "";
  return std::string(kConnectionPrefix) + quote + store_path + quote + ':' + array;
}

}  // namespace gdal_zarr
