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

struct CurlLibrary {
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&curl_share_init) share_init = nullptr;
  decltype(&curl_share_cleanup) share_cleanup = nullptr;
  decltype(&::curl_share_setopt) share_setopt = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

// Null if GDAL has no libcurl, one that is not a shared library, or one before 7.68.
const CurlLibrary* gdal_curl();

}  // namespace gdal_zarr

#else
#define GDAL_ZARR_HAS_CURL 0
#endif
