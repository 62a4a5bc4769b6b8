#include "driver/stores/icechunk/virtual_sources.h"

#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "driver/stores/references/target_files.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
using zarrcore::Error;
using zarrcore::icechunk::ChunkReference;

std::uint32_t time_of(const VSIStatBufL& status, bool is_local) {
  if (status.st_mtime <= 0) return 0;
  bool is_whole = !is_local;
#ifdef __linux__
  is_whole = is_whole || status.st_mtim.tv_nsec == 0;
#endif
  return static_cast<std::uint32_t>(status.st_mtime + (is_whole ? 0 : 1));
}

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

std::string etag_of(const std::string& path) {
  const CPLStringList headers(VSIGetFileMetadata(path.c_str(), "HEADERS", nullptr));
  return headers.FetchNameValueDef("ETag", "");
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

}  // namespace gdal_zarr
