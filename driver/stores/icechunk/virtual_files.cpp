#include "driver/stores/icechunk/virtual_files.h"

#include <cpl_string.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::icechunk::VirtualFile;

// Of files that are known not to have changed. More are asked again.
constexpr std::size_t kMaxUnchanged = 100'000;

// "/a/../b" as "/b".
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string result;
  for (const std::string_view segment : segments) result.append("/").append(segment);
  return result;
}

// The URL as TargetPaths takes it: object stores and local files have names, not URLs, so these are
// without percent-encoding and without a query.
std::string target_of(const std::string& url) {
  constexpr std::string_view kEndOfScheme = "://";
  const auto end = url.find(kEndOfScheme);
  const auto is_of_scheme = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  };
  if (end == std::string::npos || end == 0 ||
      !std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(end), is_of_scheme)) {
    throw Error("the place of a virtual chunk is not a URL");
  }
  const std::string scheme = zarrcore::lower_case(url.substr(0, end));
  if (scheme == "http" || scheme == "https" || scheme == "ftp") return url;
  const std::size_t start = end + kEndOfScheme.size();
  const std::string name = decode_percents(
      url.substr(start, std::min(url.find_first_of("?#", start), url.size()) - start));
  if (scheme != "file") return scheme + std::string(kEndOfScheme) + name;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) throw Error("the URL names no file");
  return "file://" + name.substr(0, slash) + without_dots(name.substr(slash));
}

std::string_view without_quotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

}  // namespace

VsiVirtualFiles::VsiVirtualFiles(const std::string& repository, bool ignores_changes)
    : targets_(repository),
      ignores_changes_(ignores_changes),
      // Also a local repository may have virtual chunks on the network.
      parallel_requests_(has_foreign_file_system(repository) ? 1 : parallel_network_requests()) {}

std::string VsiVirtualFiles::resolve(const VirtualFile& file) {
  return zarrcore::with_context({file.url}, [&] {
    std::string path = targets_.resolve(target_of(file.url));
    if (!ignores_changes_) check_is_unchanged(path, file);
    return path;
  });
}

// GDAL cannot send conditions with its requests.
void VsiVirtualFiles::check_is_unchanged(const std::string& path, const VirtualFile& file) {
  // Local files have no ETag.
  const bool has_etag = !file.etag.empty() && is_network_path(path);
  if (!has_etag && file.last_modified == 0) return;
  const std::string key = path + '\n' + file.etag + '\n' + std::to_string(file.last_modified);
  {
    const std::lock_guard lock(mutex_);
    if (unchanged_.contains(key)) return;
  }
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatL(path.c_str(), &status) != 0) {
    throw Error("this file, which a virtual chunk is in, does not exist or cannot be read");
  }
  constexpr const char* kHint =
      " (the open option IGNORE_TIMESTAMP_ETAG=YES reads it all the same)";
  if (file.last_modified != 0 &&
      static_cast<std::int64_t>(status.st_mtime) > static_cast<std::int64_t>(file.last_modified)) {
    throw Error("the file has changed since a virtual chunk was made of it: its time is " +
                std::to_string(status.st_mtime) + ", and must be " +
                std::to_string(file.last_modified) + " at most" + kHint);
  }
  if (has_etag) {
    const CPLStringList headers(VSIGetFileMetadata(path.c_str(), "HEADERS", nullptr));
    const std::string_view etag = headers.FetchNameValueDef("ETag", "");
    if (without_quotes(etag) != without_quotes(file.etag)) {
      throw Error("the file has changed since a virtual chunk was made of it: its ETag is " +
                  (etag.empty() ? "unknown" : std::string(etag)) + ", and must be " + file.etag +
                  kHint);
    }
  }
  const std::lock_guard lock(mutex_);
  if (unchanged_.size() >= kMaxUnchanged) unchanged_.clear();
  unchanged_.insert(key);
}

std::vector<zarrcore::Buffer> VsiVirtualFiles::get_ranges(
    const VirtualFile& file, std::span<const zarrcore::ByteRange> ranges) {
  const std::string path = resolve(file);
  return zarrcore::with_context({path}, [&] {
    File opened = files_.take(path);
    if (!opened) throw Error("this file, which a virtual chunk is in, does not exist");
    auto parts = read_ranges(opened.get(), ranges, has_foreign_file_system(path));
    files_.put_back(path, std::move(opened));
    return parts;
  });
}

}  // namespace gdal_zarr
