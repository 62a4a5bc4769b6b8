#include "driver/stores/icechunk/virtual_chunks.h"

#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

using namespace zarrcore::icechunk;

namespace {

using zarrcore::Error;

// The number of files that are known not to have changed. More are checked again.
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

// The URL as TargetFiles takes it: object stores and local files have names, not URLs, so these are
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

// The last second in which a file was changed. The second of a local file is rounded up: Icechunk
// treats parts of a second as a later time.
std::uint32_t time_of(const VSIStatBufL& status, bool is_local) {
  if (status.st_mtime <= 0) return 0;
  bool is_whole = !is_local;
#ifdef __linux__
  is_whole = is_whole || status.st_mtim.tv_nsec == 0;
#endif
  return static_cast<std::uint32_t>(status.st_mtime + (is_whole ? 0 : 1));
}

// The ETag of a file on the network as the server sends it; empty if it sends none.
std::string etag_of(const std::string& path) {
  const CPLStringList headers(VSIGetFileMetadata(path.c_str(), "HEADERS", nullptr));
  return headers.FetchNameValueDef("ETag", "");
}

}  // namespace

std::string virtual_chunk_url(const std::string& path) {
  const std::string absolute = absolute_path(path);
  const std::string url = url_of_path(absolute);
  const bool is_plain =
      std::ranges::all_of(url, [](unsigned char c) { return c > ' ' && c != 0x7f; });
  if ((url.starts_with("http://") || url.starts_with("https://")) && is_plain) return url;
  for (const std::string_view scheme : {"s3://", "gs://", "az://"}) {
    if (!url.starts_with(scheme)) continue;
    return std::string(scheme) + percent_encoded(url.substr(scheme.size()), "/");
  }
  if (url == absolute && !is_network_path(path) && !path.starts_with("/vsi")) {
    std::string name = absolute;
    std::ranges::replace(name, '\\', '/');
    return "file://" + std::string(name.starts_with('/') ? "" : "/") + percent_encoded(name, "/:");
  }
  throw Error(path +
              ": virtual chunks of Icechunk are parts of local files and of files that have "
              "a URL (http, https, s3, gs, az)");
}

VirtualSources::Source VirtualSources::find_source(const std::string& path) {
  Source source;
  source.start.kind = ChunkReference::Kind::external;
  source.start.object = virtual_chunk_url(path);
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatL(path.c_str(), &status) != 0) {
    throw Error(path + ": this file does not exist or cannot be read");
  }
  source.size = static_cast<std::uint64_t>(status.st_size);
  const bool is_local = !is_network_path(path);
  std::string etag = is_local ? std::string() : etag_of(path);
  // Weak ones do not identify bytes.
  if (etag.size() > 2 && etag.starts_with('"') && etag.ends_with('"')) {
    source.start.etag = etag.substr(1, etag.size() - 2);
  } else {
    source.start.last_modified = time_of(status, is_local);
  }
  return source;
}

ChunkReference VirtualSources::place_of(const Reference& reference) {
  const std::lock_guard lock(mutex_);
  auto found = sources_.find(reference.target);
  if (found == sources_.end()) {
    found = sources_.emplace(reference.target, find_source(reference.target)).first;
  }
  const Source& source = found->second;
  ChunkReference place = source.start;
  place.offset = reference.offset;
  place.length = reference.length.value_or(0);
  zarrcore::with_context({reference.target}, [&] {
    zarrcore::resolve_range(zarrcore::ByteRange::at(place.offset, place.length), source.size);
  });
  return place;
}

VsiVirtualFiles::VsiVirtualFiles(const IcechunkPath& path)
    : targets_(path.repository),
      ignores_changes_(path.ignores_changes),
      // Also a local repository may have virtual chunks on the network.
      parallel_requests_(has_foreign_file_system(path.repository) ? 1
                                                                  : parallel_network_requests()) {}

std::vector<zarrcore::Buffer> VsiVirtualFiles::get_ranges(
    const VirtualFile& file, std::span<const zarrcore::ByteRange> ranges) {
  Reference whole;
  whole.target = resolve(file);
  return targets_.get_ranges(whole, ranges);
}

std::shared_ptr<void> VsiVirtualFiles::expect(std::span<const Part> parts) {
  std::vector<Reference> references;
  for (const Part& part : parts) {
    try {
      Reference& reference = references.emplace_back();
      reference.target = targets_.resolve(target_of(part.file.url));
      reference.offset = part.range.offset;
      reference.length = part.range.length;
    } catch (const Error&) {
      return nullptr;  // reading the chunk reports it
    }
    if (!is_network_path(references[0].target)) return nullptr;
  }
  return targets_.expect(std::move(references));
}

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
    std::unique_lock lock(mutex_);
    if (unchanged_.size() >= kMaxUnchanged) {
      std::erase_if(unchanged_, [](const auto& item) { return item.second; });
    }
    checked_.wait(lock, [&] {
      const auto found = unchanged_.find(key);
      return found == unchanged_.end() || found->second;
    });
    if (!unchanged_.emplace(key, false).second) return;
  }
  bool is_unchanged = false;
  const auto end = std::shared_ptr<void>(nullptr, [&](void* /*none*/) {
    const std::lock_guard lock(mutex_);
    is_unchanged ? void(unchanged_[key] = true) : void(unchanged_.erase(key));
    checked_.notify_all();
  });
  const VsiCall call;
  constexpr const char* kHint =
      " (the open option IGNORE_TIMESTAMP_ETAG=YES reads it all the same)";
  const std::string etag = has_etag ? etag_of(path) : std::string();
  VSIStatBufL status;
  if (etag.empty() || file.last_modified != 0) {
    if (VSIStatL(path.c_str(), &status) != 0) {
      throw Error("this file, which a reference names, does not exist or cannot be read");
    }
    const std::uint32_t time = time_of(status, !is_network_path(path));
    if (file.last_modified != 0 && time > file.last_modified) {
      throw Error("the file has changed since a virtual chunk was made of it: its time is " +
                  std::to_string(time) + ", and must be " + std::to_string(file.last_modified) +
                  " at most" + kHint);
    }
  }
  if (has_etag && without_quotes(etag) != without_quotes(file.etag)) {
    throw Error("the file has changed since a virtual chunk was made of it: its ETag is " +
                (etag.empty() ? "unknown" : etag) + ", and must be " + file.etag + kHint);
  }
  is_unchanged = true;
}

}  // namespace gdal_zarr
