#include "driver/stores/references/target_files.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;

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

template <std::size_t Count>
bool starts_with_one_of(std::string_view path,
                        const std::array<std::string_view, Count>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return path.starts_with(beginning); });
}

// Not CPLTestBool, which takes every word that it does not know for yes.
bool is_yes(const char* value) {
  return EQUAL(value, "YES") || EQUAL(value, "TRUE") || EQUAL(value, "ON") || EQUAL(value, "1");
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with('\\') || (path.size() > 1 && path[1] == ':');
}

}  // namespace

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
  throw Error("URLs that begin with " + url.substr(0, colon + 3) + " are not supported");
}

namespace {

// The part of an absolute path that names a server, a bucket, or a drive, without the slash behind.
std::string_view root_of(std::string_view path) {
  if (!path.starts_with("/vsi")) return path.substr(0, path.substr(1, 1) == ":" ? 2 : 0);
  const auto server = path.find("://");
  const auto handler = path.find('/', 1);
  const bool has_bucket = handler != path.npos && is_network_path(std::string(path));
  const auto start = server != path.npos ? server + 3 : has_bucket ? handler + 1 : 1;
  return path.substr(0, path.find('/', start));
}

struct RelativePath {
  std::string path;
  bool leaves_folder = false;
};

// `target` below `folder`, with "." and, if the folder's name allows it, ".." resolved.
RelativePath join(const std::string& folder, const std::string& target) {
  RelativePath result{folder, false};
  std::size_t below = 0;  // segments added to the folder
  for (std::size_t start = 0; start <= target.size();) {
    const std::size_t end = std::min(target.find('/', start), target.size());
    const std::string segment = target.substr(start, end - start);
    start = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (below == 0) {
        result.leaves_folder = true;
      } else {
        --below;
      }
      const auto slash = result.path.rfind('/');
      const std::string last =
          slash == std::string::npos ? result.path : result.path.substr(slash + 1);
      if (result.path == "/") continue;
      if (!last.empty() && last != "." && last != "..") {
        result.path.erase(slash == std::string::npos ? 0 : std::max<std::size_t>(slash, 1));
        continue;
      }
    } else {
      ++below;
    }
    if (!result.path.empty() && result.path.back() != '/') result.path += '/';
    result.path += segment;
  }
  return result;
}

}  // namespace

// An unknown handler is assumed to access the network.
bool is_network_path(const std::string& path) {
  if (path.starts_with("/vsi") && !starts_with_one_of(path, kLocalHandlers)) return true;
  return std::any_of(kNetworkMarks.begin(), kNetworkMarks.end(),
                     [&](std::string_view mark) { return path.find(mark) != std::string::npos; });
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

TargetFiles::TargetFiles(const std::string& document)
    : has_document_(!document.empty()),
      is_in_archive_((document.starts_with("/vsizip/") || document.starts_with("/vsitar/")) &&
                     document.find('?') == std::string::npos),
      allows_local_(!is_network_path(document) ||
                    is_yes(config_option(ConfigOption::allow_local_targets))) {
  // The query of a URL is not part of its path.
  const bool is_url = document.starts_with("/vsicurl/");
  folder_ = CPLGetPath(document.substr(0, is_url ? document.find('?') : document.npos).c_str());
}

std::string TargetFiles::resolve(const std::string& target) const {
  if (target.find('\0') != std::string::npos) throw Error("the name of a file contains a NUL");
  std::string path = path_of_url(target);
  bool is_allowed = allows_local_;
  if (!is_absolute(path)) {
    RelativePath joined = join(folder_, path);
    path = std::move(joined.path);
    // A path inside an archive cannot leave it.
    is_allowed = is_allowed || (is_in_archive_ && !joined.leaves_folder);
  }
  if (is_allowed || starts_with_one_of(path, kNetworkPaths)) return path;
  throw Error("references from the network name the local file " + path +
              ", which is not read unless the configuration option " +
              std::string(config_option_name(ConfigOption::allow_local_targets)) +
              " is set to YES");
}

ByteRange find_value(VSILFILE* file, const Reference& reference) {
  const std::uint64_t size = file_size(file);
  ByteRange value = ByteRange::at(reference.offset, 0);
  zarrcore::resolve_range(value, size);
  value.length = reference.length.value_or(size - reference.offset);
  zarrcore::resolve_range(value, size);
  return value;
}

// Calls `read` with the file, open, and the range of the value in it.
template <typename Read>
auto TargetFiles::read(const Reference& reference, const Read& read) {
  const std::string& path = reference.target;
  return zarrcore::with_context({path}, [&] {
    File file = files_.take(path);
    if (!file) throw Error("this file, which a reference names, does not exist");
    auto result = read(file.get(), find_value(file.get(), reference));
    files_.put_back(path, std::move(file));
    return result;
  });
}

// GDAL's file systems request the size of a file before they read it, and then cache what is around
// small values: of those, only the first is requested here. Nullopt if GDAL is to read the value.
std::optional<Buffer> TargetFiles::get_by_request(const Reference& reference,
                                                  std::uint64_t max_size) {
  constexpr std::size_t kMaxNames = 100'000;
  constexpr std::uint64_t kSmall = std::uint64_t{16} << 10;
  const std::string& path = reference.target;
  const auto slash = path.rfind('/');
  const bool is_plain =
      has_document_ && slash != std::string::npos && path.find_first_of("?#%") == path.npos &&
      zarrcore::is_valid_segment(path.substr(slash + 1)) && starts_with_one_of(path, kNetworkPaths);
  if (!is_plain || reference.length.value_or(0) == 0) {
    return std::nullopt;
  }
  const std::string folder = path.substr(0, slash);
  std::shared_ptr<zarrcore::Store> store;
  {
    const std::lock_guard lock(mutex_);
    if (seen_.size() >= kMaxNames) seen_.clear();
    if (!seen_.insert(path).second && *reference.length < kSmall) return std::nullopt;
    if (web_folders_.size() >= kMaxNames) web_folders_.clear();
    const auto [found, is_new] = web_folders_.try_emplace(folder);
    if (is_new && HttpFolder::parse(folder)) found->second = make_store(folder);
    store = found->second;
  }
  if (!store) return std::nullopt;
  zarrcore::check_value_size(*reference.length, max_size);
  const ByteRange range = ByteRange::at(reference.offset, *reference.length);
  auto parts = store->get_ranges(path.substr(slash + 1), {&range, 1});
  if (!parts) throw Error(path + ": this file, which a reference names, does not exist");
  return std::move(parts->front());
}

Buffer TargetFiles::get(const Reference& reference, std::uint64_t max_size) {
  if (auto value = get_by_request(reference, max_size)) return *std::move(value);
  return read(reference, [&](VSILFILE* file, const ByteRange& value) {
    zarrcore::check_value_size(value.length, max_size);
    return read_bytes(file, value.offset, value.length);
  });
}

std::vector<Buffer> TargetFiles::get_ranges(const Reference& reference,
                                            std::span<const ByteRange> ranges) {
  if (ranges.size() == 1 && !ranges[0].from_end && !reference.length) {
    Reference part;
    part.target = reference.target;
    part.offset = reference.offset + ranges[0].offset;
    part.length = ranges[0].length;
    if (auto value = get_by_request(part, ranges[0].length)) {
      std::vector<Buffer> values;
      values.push_back(*std::move(value));
      return values;
    }
  }
  return read(reference, [&](VSILFILE* file, const ByteRange& value) {
    std::vector<ByteRange> in_file;
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, value.length);
      in_file.push_back(ByteRange::at(value.offset + offset, range.length));
    }
    return read_ranges(file, in_file, has_foreign_file_system(reference.target));
  });
}

}  // namespace gdal_zarr
