// How long GDAL waits for a server, where neither its configuration nor the path says so: a server
// that accepts a connection and never answers must not stop a program for good, and a long download
// must not be cut off.
#pragma once

#include <array>

namespace gdal_zarr {

// Sets, for the requests of this thread as long as it lives, those of GDAL's configuration options
// that are not set:
//   GDAL_HTTP_CONNECTTIMEOUT   30 s until there is a connection
//   GDAL_HTTP_LOW_SPEED_TIME   60 s without
//   GDAL_HTTP_LOW_SPEED_LIMIT  1 byte/s
class NetworkTimeouts {
 public:
  NetworkTimeouts();
  ~NetworkTimeouts();
  NetworkTimeouts(const NetworkTimeouts&) = delete;
  NetworkTimeouts& operator=(const NetworkTimeouts&) = delete;

 private:
  static constexpr std::size_t kOptions = 3;
  std::array<bool, kOptions> is_set_{};  // by this object
};

}  // namespace gdal_zarr
