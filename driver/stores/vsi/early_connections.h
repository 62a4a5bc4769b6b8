// Connections that are opened before requests need them. Over TLS, a request on a new connection
// waits for three round trips; the first of them passes while documents are read. TLS is added by
// libcurl when a request uses the connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gdal_zarr {

// Used by one thread.
class EarlyConnections {
 public:
  // Connections that are not used are closed after this time, as servers do.
  static constexpr std::chrono::milliseconds kMaxAge{5'000};

  EarlyConnections() = default;
  ~EarlyConnections() { clear(); }
  EarlyConnections(const EarlyConnections&) = delete;
  EarlyConnections& operator=(const EarlyConnections&) = delete;

  // A connected socket for a new connection of libcurl, which then owns it; -1 if there is none.
  // Counts the connections to the address, which is the bytes of a sockaddr.
  int take(const std::string& address);

  // Begins to connect to an address, once, so that it has `count` connections with those of
  // libcurl.
  void open(const std::string& address, std::size_t count);

  // Closes those that are older. Returns true if others remain.
  bool close_old();

  // Closes and forgets all.
  void clear();

 private:
  struct Server {
    std::size_t used = 0;  // connections that libcurl has opened
    std::optional<std::chrono::steady_clock::time_point> opened;
    std::vector<int> sockets;

    void close_all();
  };

  std::map<std::string, Server> servers_;  // by address
};

}  // namespace gdal_zarr
