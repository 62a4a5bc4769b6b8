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

std::optional<CurlLibrary> find_curl() {
  const char* gdal = library_of(reinterpret_cast<const void*>(&CPLHTTPSetOptions));
  // Never closed: libgdal stays loaded anyway.
  void* library = dlopen(gdal, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  // Searches libgdal, the libraries that it is linked with, and then theirs.
  CurlLibrary curl;
#define GDAL_ZARR_FIND_CURL_FUNCTION(name)                                          \
  curl.name = reinterpret_cast<decltype(curl.name)>(dlsym(library, "curl_" #name)); \
  if (curl.name == nullptr) return std::nullopt;
  GDAL_ZARR_CURL_FUNCTIONS(GDAL_ZARR_FIND_CURL_FUNCTION)
#undef GDAL_ZARR_FIND_CURL_FUNCTION
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
