// Limits how long GDAL waits for a server, unless its configuration or the path sets limits: a
// server that accepts a connection and never answers must not block a program forever, and a long
// download must not be cut off.
#pragma once

#include <array>

namespace gdal_zarr {

// While it lives, sets for this thread those of GDAL's configuration options that are not set:
//   GDAL_HTTP_CONNECTTIMEOUT   30 s to connect
//   GDAL_HTTP_LOW_SPEED_TIME   60 s during which less than
//   GDAL_HTTP_LOW_SPEED_LIMIT  1 byte/s arrives
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
