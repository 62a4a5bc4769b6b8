#include "driver/stores/connection_string.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/install_file_system.h"
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

// The path that a pipeline, a URL or ICECHUNK: names, or the folder of a metadata document, or
// `name` itself.
std::string store_of(const std::string& name) {
  if (has_icechunk_scheme(name)) {
    IcechunkPath path = parse_icechunk_path(name);
    path.repository = without_file_scheme(path.repository);
    check_is_no_url(path.repository);
    return format_icechunk_path(path);
  }
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
              (colon == 4 && has_file_scheme(std::string(text))) ||
              (colon == 8 && has_icechunk_scheme(std::string(text))))) {
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

namespace {

// The path of GDAL for what follows the scheme of a URL.
struct Root {
  std::string_view scheme;
  std::string_view prefix;
  bool keeps_url;
};
constexpr Root kRoots[] = {
    {"file:", "", true},         {"http://", "/vsicurl/", true}, {"https://", "/vsicurl/", true},
    {"s3://", "/vsis3/", false}, {"gs://", "/vsigs/", false},    {"gcs://", "/vsigs/", false},
    {"az://", "/vsiaz/", false}};

const Root* find_root(std::string_view url) {
  const std::string lower = zarrcore::lower_case(url);
  const auto* root = std::ranges::find_if(
      kRoots, [&](const Root& each) { return lower.starts_with(each.scheme); });
  return root == std::end(kRoots) ? nullptr : root;
}

constexpr std::string_view kPipelineFormats[] = {"zarr", "zarr2", "zarr3", "n5"};

bool is_format(std::string_view scheme) {
  return std::ranges::find(kPipelineFormats, scheme) != std::end(kPipelineFormats);
}

std::string_view scheme_of(std::string_view part) {
  return part.substr(0, part.find(':'));
}

bool is_known(std::string_view scheme) {
  return scheme == "zip" || scheme == "icechunk" || is_format(scheme);
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t bar = name.find('|');
    parts.push_back(name.substr(0, bar));
    if (bar == name.npos) return parts;
    name.remove_prefix(bar + 1);
  }
}

std::string root_path(std::string_view url) {
  const Root* root = find_root(url);
  if (root == nullptr && url.find("://") != url.npos) {
    throw Error("\"" + std::string(url) +
                "\" is not supported; file://, http(s)://, s3://, gs:// and az:// are");
  }
  if (root == nullptr) return std::string(url);  // a path
  const std::string_view rest = url.substr(root->scheme.size());
  if (!root->keeps_url) return std::string(root->prefix) + decode_percents(rest);
  if (!root->prefix.empty()) return std::string(root->prefix) + std::string(url);
  // "file:x.zip" is a path of this computer as well.
  return rest.starts_with("//") ? without_file_scheme(std::string(url)) : decode_percents(rest);
}

std::string joined(const std::string& path, std::string_view below) {
  // URLs remain encoded.
  const std::string decoded =
      path.starts_with("/vsicurl/") ? std::string(below) : decode_percents(below);
  const std::string_view inner = zarrcore::without_trailing(decoded, '/');
  const std::size_t start = inner.find_first_not_of('/');
  return start == inner.npos ? path : join_vsi_path(path, inner.substr(start));
}

// "icechunk:key", or "icechunk://branch.NAME/key" with branch, tag or the id of a snapshot.
std::string in_icechunk(const std::string& path, std::string_view rest) {
  std::string name = "ICECHUNK:" + path;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view version = rest.substr(0, rest.find('/'));
    rest.remove_prefix(version.size());
    const std::size_t dot = version.find('.');
    const std::string_view kind = dot == version.npos ? "snapshot" : version.substr(0, dot);
    if (kind != "snapshot" && kind != "branch" && kind != "tag") {
      throw Error("icechunk://" + std::string(version) +
                  " names neither branch.NAME nor tag.NAME nor a snapshot");
    }
    name += '?' + std::string(kind) + '=';
    name += dot == version.npos ? version : version.substr(dot + 1);
  }
  return joined(format_icechunk_path(parse_icechunk_path(name)), rest);
}

// Names such as ICECHUNK:path as GDAL's file functions see them.
class NamePrefix final : public VSIFilesystemHandler {
 public:
  OpenedFile Open(const char* /*name*/, const char* /*access*/, bool /*set_error*/,
                  CSLConstList /*options*/) override {
    errno = EISDIR;
    return nullptr;
  }

  // GDAL also looks for files beside a dataset.
  int Stat(const char* name, VSIStatBufL* status, int /*flags*/) override {
    *status = {};
    for (const std::string_view suffix : {".aux", ".aux.xml", ".ovr", ".msk", ".xml"}) {
      const std::size_t length = std::strlen(name);
      if (length > suffix.size() && EQUAL(name + length - suffix.size(), suffix.data())) {
        errno = ENOENT;
        return -1;
      }
    }
    if (!repository_may_exist(name)) {
      errno = ENOENT;
      return -1;
    }
    status->st_mode = S_IFDIR;
    return 0;
  }
};

}  // namespace

bool is_url_pipeline(const std::string& name) {
  if (has_icechunk_prefix(name)) return false;  // what is in its braces is a path
  const auto parts = parts_of(name);
  if (parts.size() < 2 || parts.front().empty()) return false;
  // The URL of another resource may have a "|" in it.
  const bool has_scheme = parts[1].find(':') != parts[1].npos;
  return is_known(scheme_of(parts[1])) || (has_scheme && find_root(parts.front()) != nullptr);
}

std::string path_of_pipeline(const std::string& name) {
  const auto parts = parts_of(name);
  std::string path = root_path(parts.front());
  path = std::string(zarrcore::without_trailing(path, '/'));
  std::string_view format;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view scheme = scheme_of(parts[i]);
    const std::string_view rest = parts[i].substr(std::min(scheme.size() + 1, parts[i].size()));
    if (!format.empty()) {
      throw Error(name + ": \"" + std::string(parts[i]) + "\" follows \"" + std::string(format) +
                  "\", after which nothing can be opened");
    }
    if (scheme == "zip") {
      path = joined(std::string(kVsiZip).append("{").append(path).append("}"), rest);
    } else if (scheme == "icechunk") {
      path = in_icechunk(path, rest);
    } else if (is_format(scheme)) {
      path = joined(path, rest);
      format = parts[i];
    } else {
      throw Error(name + ": \"" + std::string(parts[i]) +
                  "\" is not supported; zip:, icechunk:, zarr2:, zarr3: and n5: are");
    }
  }
  // It would be parsed again as the name of a subdataset.
  if (is_url_pipeline(path)) throw Error(name + ": paths with \"|\" cannot be opened");
  return path;
}

bool repository_may_exist(const char* name) {
  try {
    VSIStatBufL status;
    const std::string path = parse_icechunk_path(name).repository;
    return !VSIIsLocal(path.c_str()) || path.find("://") != std::string::npos ||
           VSIStatExL(path.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0;
  } catch (const std::exception&) {
    return true;  // opening it says what is wrong with the name
  }
}

void install_name_prefixes() {
  install_file_system<NamePrefix>("ICECHUNK:");
}

}  // namespace gdal_zarr
