// Transfers of all threads and datasets over shared connections: one thread of the process runs
// them all with libcurl's multi interface. A connection is used again for the next request,
// and with HTTP/2 many transfers run over one connection at once.
#pragma once

#include "driver/stores/vsi/curl_library.h"

#if GDAL_ZARR_HAS_CURL

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace gdal_zarr {

class HttpTransfers {
 public:
  // What GDAL's options say about connections; that of the last transfer applies to all.
  struct Limits {
    bool is_multiplexed = true;
    long max_connections = 0;  // 0: no limit
    long max_idle_connections = 64;

    friend bool operator==(const Limits&, const Limits&) = default;
  };

  // Those of this process: a forked child begins with none. Null without gdal_curl().
  static HttpTransfers* of_process();

  // Closes all connections and ends the thread. No transfer may be running. A later transfer starts
  // anew.
  static void shut_down();

  // Runs a transfer and waits for its end. All options of the handle are set, but CURLOPT_PRIVATE.
  // Safe to use from several threads at once.
  CURLcode run(CURL* handle, const Limits& limits);

 private:
  struct Transfer;

  explicit HttpTransfers(const CurlLibrary& curl) : curl_(curl) {}

  void start();
  void stop();
  void loop();
  void begin(Transfer& transfer);
  void end(Transfer& transfer, CURLcode code);
  void apply(const Limits& limits);

  const CurlLibrary& curl_;
  std::mutex mutex_;  // for what follows, up to the thread
  std::vector<Transfer*> queue_;
  bool is_running_ = false;
  bool is_stopping_ = false;
  CURLM* multi_ = nullptr;  // while the thread runs
  std::thread thread_;
  Limits applied_;  // used by the thread alone
};

}  // namespace gdal_zarr

#endif
