#include "driver/stores/vsi/curl_library.h"

#if GDAL_ZARR_HAS_CURL

#include <cpl_http.h>
#include <dlfcn.h>
#include <link.h>

#include <optional>
#include <string_view>

namespace gdal_zarr {
namespace {

// The file of the library that has a function; empty if unknown.
const char* library_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

// Returns true if a library is linked with the file at `path`, not only through other libraries.
bool is_linked_with(void* library, std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return false;
  const char* names = nullptr;
  for (const auto* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // glibc replaces the offset in the file by the address.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  for (const auto* entry = map->l_ld; names != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && name == names + entry->d_un.d_val) return true;
  }
  return false;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<CurlLibrary> find_curl() {
  const char* gdal = library_of(reinterpret_cast<const void*>(&CPLHTTPSetOptions));
  // Never closed: libgdal stays loaded anyway.
  void* library = dlopen(gdal, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  // Searches libgdal, the libraries that it is linked with, and then theirs.
  CurlLibrary curl;
  const bool is_complete = find(library, "curl_easy_init", curl.easy_init) &&
                           find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                           find(library, "curl_easy_setopt", curl.easy_setopt) &&
                           find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                           find(library, "curl_easy_strerror", curl.easy_strerror) &&
                           find(library, "curl_multi_init", curl.multi_init) &&
                           find(library, "curl_multi_cleanup", curl.multi_cleanup) &&
                           find(library, "curl_multi_setopt", curl.multi_setopt) &&
                           find(library, "curl_multi_add_handle", curl.multi_add_handle) &&
                           find(library, "curl_multi_remove_handle", curl.multi_remove_handle) &&
                           find(library, "curl_multi_perform", curl.multi_perform) &&
                           find(library, "curl_multi_info_read", curl.multi_info_read) &&
                           find(library, "curl_multi_poll", curl.multi_poll) &&
                           find(library, "curl_multi_wakeup", curl.multi_wakeup) &&
                           find(library, "curl_share_init", curl.share_init) &&
                           find(library, "curl_share_cleanup", curl.share_cleanup) &&
                           find(library, "curl_share_setopt", curl.share_setopt) &&
                           find(library, "curl_slist_append", curl.slist_append) &&
                           find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!is_complete) return std::nullopt;
  // The search may find the libcurl of another library, if GDAL's is a part of libgdal.
  const std::string_view found = library_of(reinterpret_cast<const void*>(curl.easy_init));
  if (found != gdal && !is_linked_with(library, found)) return std::nullopt;
  return curl;
}

}  // namespace

const CurlLibrary* gdal_curl() {
  static const std::optional<CurlLibrary> curl = find_curl();
  return curl ? &*curl : nullptr;
}

}  // namespace gdal_zarr

#endif
