// Transfers of all threads and datasets over shared connections: one thread of the process runs
// them all with libcurl's multi interface. A connection is used again for the next request,
// and with HTTP/2 many transfers run over one connection at once.
#pragma once

// libgdal-dev needs the headers of some libcurl. All flavours have the same.
#if defined(__linux__) && __has_include(<curl/curl.h>)
#define GDAL_ZARR_HAS_CURL 1

#include <curl/curl.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "driver/stores/vsi/early_connections.h"

namespace gdal_zarr {

// What the driver uses of the libcurl that GDAL is linked with, without "curl_".
// CPLHTTPSetOptions() applies GDAL's HTTP options to a handle of libcurl. It must be a handle of
// the same library: Debian has libcurl with GnuTLS, with OpenSSL and with NSS, and a process can
// have several of them. So the plugin is linked with none, and finds the functions in GDAL's.
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

  // Of the library for TLS that libcurl uses, gnutls_alpn_get_selected_protocol() or
  // SSL_get0_alpn_selected(); null without it.
  int (*gnutls_protocol)(void* session, void* protocol) = nullptr;
  void (*openssl_protocol)(const void* session, const unsigned char** protocol,
                           unsigned* size) = nullptr;
};

// Null if GDAL has no libcurl, one that is not a shared library, or one before 7.68.
const CurlLibrary* gdal_curl();

class HttpTransfers {
 public:
  // GDAL's options for connections. The limits of the last transfer apply to all.
  struct Limits {
    bool is_multiplexed = true;
    long max_connections = 0;  // 0: no limit
    long max_idle_connections = 64;
    long parallel_requests = 0;  // that a reader sends at once

    friend bool operator==(const Limits&, const Limits&) = default;
  };

  struct Result {
    CURLcode code = CURLE_OK;
    std::string problem;  // libcurl's text of a failure; empty if it has none
  };

  // The transfers of this process; a forked child starts with new ones. Null without gdal_curl().
  static HttpTransfers* of_process();

  // Ends all transfers with CURLE_ABORTED_BY_CALLBACK, closes all connections and ends the thread.
  // A later transfer starts a new one.
  static void shut_down();

  // Runs a transfer from `url` and waits for its end, which is CURLE_ABORTED_BY_CALLBACK if the
  // thread's work is cancelled (Cancellation). All options of the handle are set, except those
  // about connections. Safe to use from several threads at once.
  Result run(CURL* handle, const std::string& url, const Limits& limits);

 private:
  struct Transfer;

  explicit HttpTransfers(const CurlLibrary& curl) : curl_(curl) {}

  void start();
  void stop();
  void loop();
  void begin(Transfer& transfer);
  void end(Transfer& transfer, CURLcode code);
  void end_cancelled(bool ends_all);
  void apply(const Limits& limits);
  bool waits_for_connection(const Transfer& transfer) const;
  void open_early(const Transfer& transfer);

  const CurlLibrary& curl_;
  std::mutex mutex_;  // for what follows, up to the thread
  std::vector<Transfer*> queue_;
  bool is_running_ = false;
  bool is_stopping_ = false;
  CURLM* multi_ = nullptr;  // while the thread runs
  std::thread thread_;
  // Used by the thread alone.
  Limits applied_;
  std::vector<Transfer*> active_;
  std::map<std::string, bool> has_http2_;  // of servers with TLS, as far as known
  EarlyConnections early_;
};

}  // namespace gdal_zarr

#else
#define GDAL_ZARR_HAS_CURL 0
#endif
