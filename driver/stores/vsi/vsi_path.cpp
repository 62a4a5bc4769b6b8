#include "driver/stores/vsi/vsi_path.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

// "/vsicurl?option=value&url=…", where the value of url is percent-encoded.
constexpr std::string_view kLongForm = "/vsicurl?";

// All that GDAL 3.6 to 3.13 and this driver install, without "/vsi" and "_streaming".
constexpr auto kFileSystems = std::to_array<std::string_view>({"7z",
                                                               "adls",
                                                               "az",
                                                               "cached",
                                                               "crypt",
                                                               "curl",
                                                               "gs",
                                                               "gzip",
                                                               "hdfs",
                                                               "icechunk",
                                                               "kerchunk_json_ref",
                                                               "kerchunk_json_ref_cached",
                                                               "kerchunk_parquet_ref",
                                                               "mem",
                                                               "oss",
                                                               "pmtiles",
                                                               "rar",
                                                               "s3",
                                                               "sparse",
                                                               "stdin",
                                                               "stdout",
                                                               "stdout_redirect",
                                                               "subfile",
                                                               "swift",
                                                               "tar",
                                                               "webhdfs",
                                                               "zip"});

// The suffix of GDAL's file systems that read network files from start to end.
constexpr std::string_view kStreaming = "_streaming";

// Prefixes of paths that only access the network. /vsicurl/ alone is not in the list, as curl also
// reads file://, nor is /vsicurl?, whose options may name local files.
constexpr std::array<std::string_view, 9> kNetworkPaths{
    "/vsicurl/http://", "/vsicurl/https://", "/vsicurl/ftp://", "/vsis3/",   "/vsigs/",
    "/vsiaz/",          "/vsiadls/",         "/vsioss/",        "/vsiswift/"};

// Handlers of local files. The file that they read may still be on the network: then its own
// handler is part of the path.
constexpr std::array<std::string_view, 7> kLocalHandlers{
    "/vsimem/", "/vsizip/", "/vsitar/", "/vsigzip/", "/vsisubfile/", "/vsicrypt/", "/vsisparse/"};

// Parts that make a path access the network, anywhere in it.
constexpr std::array<std::string_view, 10> kNetworkMarks{
    "/vsicurl", "/vsis3",    "/vsigs",   "/vsiaz",      "/vsiadls",
    "/vsioss",  "/vsiswift", "/vsihdfs", "/vsiwebhdfs", "://"};

struct Scheme {
  std::string_view url;
  std::string_view path;
};
constexpr std::array<Scheme, 15> kSchemes{{{"http://", "/vsicurl/http://"},
                                           {"https://", "/vsicurl/https://"},
                                           {"ftp://", "/vsicurl/ftp://"},
                                           {"s3://", "/vsis3/"},
                                           {"s3a://", "/vsis3/"},
                                           {"gs://", "/vsigs/"},
                                           {"gcs://", "/vsigs/"},
                                           {"az://", "/vsiaz/"},
                                           {"abfs://", "/vsiaz/"},
                                           {"abfss://", "/vsiaz/"},
                                           {"oss://", "/vsioss/"},
                                           {"swift://", "/vsiswift/"},
                                           {"file:///", "/"},
                                           {"file://localhost/", "/"},
                                           {"local:///", "/"}}};

// Where the key is inserted, and whether it must be percent-encoded.
struct Place {
  std::size_t position;
  bool is_encoded;
};

Place place_of_key(std::string_view folder) {
  if (folder.starts_with(kLongForm)) {
    for (std::size_t start = kLongForm.size(); start < folder.size();) {
      const std::size_t end = std::min(folder.find('&', start), folder.size());
      if (folder.substr(start).starts_with("url=")) return {end, true};
      start = end + 1;
    }
  } else if (folder.starts_with("/vsicurl/")) {
    return {std::min(folder.find('?'), folder.size()), false};
  }
  return {folder.size(), false};
}

// The part of an absolute path that names a server, a bucket, or a drive, without the slash after
// it.
std::string_view root_of(std::string_view path) {
  if (!path.starts_with("/vsi")) return path.substr(0, path.substr(1, 1) == ":" ? 2 : 0);
  const auto server = path.find("://");
  const auto handler = path.find('/', 1);
  const bool has_bucket = handler != path.npos && is_network_path(std::string(path));
  const auto start = server != path.npos ? server + 3 : has_bucket ? handler + 1 : 1;
  return path.substr(0, path.find('/', start));
}

}  // namespace

std::string join_vsi_path(const std::string& folder, std::string_view key) {
  const Place place = place_of_key(folder);
  std::string added = '/' + std::string(key);
  if (place.is_encoded) added = percent_encoded(added);
  return std::string(folder).insert(place.position, added);
}

std::string without_streaming(const std::string& path) {
  const std::size_t end = path.find('/', 1);
  const std::string_view prefix = std::string_view(path).substr(0, end);
  if (!prefix.starts_with("/vsi") || !prefix.ends_with(kStreaming)) return path;
  return std::string(path).erase(end - kStreaming.size(), kStreaming.size());
}

std::optional<std::string> parent_vsi_path(const std::string& path) {
  const Place end_of_name = place_of_key(path);
  const std::string_view name = std::string_view(path).substr(0, end_of_name.position);
  std::size_t slash = name.rfind('/');
  if (end_of_name.is_encoded) {
    for (const char* encoded : {"%2F", "%2f"}) {
      const std::size_t other = name.rfind(encoded);
      if (other != name.npos && (slash == name.npos || other > slash)) slash = other;
    }
  }
  if (slash == name.npos || slash == 0 || name.substr(slash + 1).starts_with('{')) {
    return std::nullopt;
  }
  const std::string_view parent = name.substr(0, slash);
  if (std::count(parent.begin(), parent.end(), '{') !=
      std::count(parent.begin(), parent.end(), '}')) {
    return std::nullopt;
  }
  return std::string(parent) + path.substr(end_of_name.position);
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

bool is_in_archive(std::string_view path) {
  static constexpr std::string_view kArchives[] = {"/vsizip/", "/vsitar/", "/vsi7z/", "/vsirar/"};
  return starts_with_any(path, kArchives);
}

bool is_named_zarr(const std::string& path) {
  return EQUAL(CPLGetExtension(without_query(path).c_str()), "zarr");
}

bool is_in_named_zarr(const std::string& path) {
  return CPLString(path).ifind(".zarr/") != std::string::npos;
}

bool is_whole_by_name(const std::string& path) {
  return !VSIIsLocal(path.c_str()) && is_named_zarr(path) && !is_in_named_zarr(path);
}

bool has_foreign_file_system(std::string_view path) {
  constexpr std::string_view kStart = "/vsi";
  for (std::size_t at = path.find(kStart); at != path.npos; at = path.find(kStart, at + 1)) {
    // Elsewhere it is a part of a longer name.
    if (at > 0 && std::string_view("/{,=&?").find(path[at - 1]) == std::string_view::npos) continue;
    const std::string_view rest = path.substr(at + kStart.size());
    std::string_view name = rest.substr(0, rest.find_first_of("/?{}"));
    if (name.ends_with(kStreaming)) name.remove_suffix(kStreaming.size());
    if (std::ranges::find(kFileSystems, name) == kFileSystems.end()) return true;
  }
  return false;
}

std::string without_query(const std::string& path) {
  return path.starts_with(kLongForm) ? path : path.substr(0, place_of_key(path).position);
}

std::string percent_encoded(std::string_view text, std::string_view unchanged) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos ||
        unchanged.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string decode_percents(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' && i + 2 < text.size()
                          ? zarrcore::parse_digits(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    decoded += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += 2;
  }
  return decoded;
}

std::optional<std::size_t> closing_brace(std::string_view text) {
  int depth = 0;
  if (!text.starts_with('{')) return std::nullopt;
  for (std::size_t end = 0; end < text.size(); ++end) {
    if (text[end] == '{') ++depth;
    if (text[end] == '}') --depth;
    if (depth == 0) return end;
  }
  return std::nullopt;
}

// An unknown handler is assumed to access the network.
bool is_network_path(const std::string& path) {
  if (path.starts_with("/vsi") && !starts_with_any(path, kLocalHandlers)) return true;
  return std::ranges::any_of(
      kNetworkMarks, [&](std::string_view mark) { return path.find(mark) != std::string::npos; });
}

bool is_only_on_network(std::string_view path) {
  return starts_with_any(path, kNetworkPaths);
}

std::string absolute_path(const std::string& path) {
  if (path.starts_with("/vsi")) return path;
  const std::filesystem::path local = zarrcore::path_of_utf8(path);
  if (local.is_absolute()) return path;
  return zarrcore::utf8_of(std::filesystem::absolute(local).lexically_normal());
}

std::string relative_path(const std::string& path, const std::string& folder) {
  const std::string_view root = root_of(path);
  if (root != root_of(folder)) return {};
  const auto below_root = [&](const std::string& name) {
    return zarrcore::path_of_utf8('/' + name.substr(std::min(root.size() + 1, name.size())));
  };
  return zarrcore::utf8_of(below_root(path).lexically_relative(below_root(folder)));
}

std::string url_of_path(const std::string& path) {
  for (const Scheme& scheme : kSchemes) {
    if (scheme.path == "/" || !path.starts_with(scheme.path)) continue;
    return std::string(scheme.url) + path.substr(scheme.path.size());
  }
  return path;
}

std::string path_of_url(const std::string& url) {
  const auto colon = url.find("://");
  if (colon == std::string::npos || url.starts_with("/vsi")) return url;
  for (const Scheme& scheme : kSchemes) {
    if (!STARTS_WITH_CI(url.c_str(), std::string(scheme.url).c_str())) continue;
    std::string rest = url.substr(scheme.url.size());
    if (scheme.path == "/vsiaz/") {
      // abfs://container@account.dfs.core.windows.net/path: GDAL takes the account from its
      // options.
      const auto slash = std::min(rest.find('/'), rest.size());
      if (const auto at = rest.find('@'); at < slash) rest.erase(at, slash - at);
    }
    return std::string(scheme.path) + rest;
  }
  // Another protocol, or a name that contains "://".
  const bool is_scheme =
      std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' ||
               c == '.' || c == ':';
      });
  if (!is_scheme) return url;
  throw zarrcore::Error("URLs that begin with " + url.substr(0, colon + 3) + " are not supported");
}

}  // namespace gdal_zarr
