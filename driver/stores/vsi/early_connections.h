// Connections to servers that are opened before requests need them: with TLS, a request over a new
// connection waits for three answers, and the first of them can be waited for while documents are
// read. They are opened without TLS, which curl adds when a request uses one.
#pragma once

#include "driver/stores/vsi/curl_library.h"

#if GDAL_ZARR_HAS_CURL

#include <sys/socket.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace gdal_zarr {

// Used by one thread.
class EarlyConnections {
 public:
  // Connections that have not been used after this time are closed: servers do so as well.
  static constexpr std::chrono::milliseconds kMaxAge{5'000};

  EarlyConnections() = default;
  ~EarlyConnections() { clear(); }
  EarlyConnections(const EarlyConnections&) = delete;
  EarlyConnections& operator=(const EarlyConnections&) = delete;

  // A new socket for a connection of curl: connected, or CURL_SOCKET_BAD if there is none. Counts
  // the connections to the address.
  curl_socket_t take(const curl_sockaddr& address);

  // Begins to open connections to an address to which curl has connected, so that there are `count`
  // including the connections of curl. Does nothing when it is called again for the address.
  void open(const std::string& ip, int port, std::size_t count);

  // Closes those that are older. Returns whether others remain.
  bool close_old();

  // Closes and forgets all.
  void clear();

 private:
  struct Address {
    sockaddr_storage address{};
    socklen_t size = 0;    // of the address, in bytes
    std::size_t used = 0;  // sockets that curl has asked for
    bool is_opened = false;
    std::chrono::steady_clock::time_point time;  // of opening
    std::vector<int> sockets;
  };

  std::map<std::string, Address> addresses_;
};

}  // namespace gdal_zarr

#endif
