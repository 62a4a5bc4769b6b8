// The libcurl that GDAL is linked with. CPLHTTPSetOptions() applies GDAL's HTTP options to a handle
// of libcurl. It must be a handle of the same library: Debian has libcurl with GnuTLS, with OpenSSL
// and with NSS, and a process can have several of them. So the plugin is linked with none, and
// takes the functions from GDAL's.
#pragma once

// libgdal-dev needs the headers of some libcurl. All flavours have the same.
#if defined(__linux__) && __has_include(<curl/curl.h>)
#define GDAL_ZARR_HAS_CURL 1

#include <curl/curl.h>

namespace gdal_zarr {

// What the driver uses of it, without "curl_".
// clang-format off
#define GDAL_ZARR_CURL_FUNCTIONS(FUNCTION)                                                    \
  FUNCTION(easy_init) FUNCTION(easy_cleanup) FUNCTION(easy_setopt) FUNCTION(easy_getinfo)     \
  FUNCTION(easy_strerror) FUNCTION(multi_init) FUNCTION(multi_cleanup) FUNCTION(multi_setopt) \
  FUNCTION(multi_add_handle) FUNCTION(multi_remove_handle) FUNCTION(multi_perform)            \
  FUNCTION(multi_info_read) FUNCTION(multi_poll) FUNCTION(multi_wakeup) FUNCTION(share_init)  \
  FUNCTION(share_cleanup) FUNCTION(share_setopt) FUNCTION(slist_append)                       \
  FUNCTION(slist_free_all)
// clang-format on

struct CurlLibrary {
#define GDAL_ZARR_CURL_MEMBER(name) decltype(&::curl_##name) name = nullptr;  // NOLINT
  GDAL_ZARR_CURL_FUNCTIONS(GDAL_ZARR_CURL_MEMBER)
#undef GDAL_ZARR_CURL_MEMBER
};

// Null if GDAL has no libcurl, one that is not a shared library, or one before 7.68.
const CurlLibrary* gdal_curl();

}  // namespace gdal_zarr

#else
#define GDAL_ZARR_HAS_CURL 0
#endif
