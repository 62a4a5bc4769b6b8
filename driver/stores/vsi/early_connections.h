// Connections that are opened before requests need them. Over TLS, a request on a new connection
// waits for three round trips; the first of them passes while documents are read. TLS is added by
// libcurl when a request uses the connection.
#pragma once

// libgdal-dev needs the headers of some libcurl. All flavours have the same.
#if defined(__linux__) && __has_include(<curl/curl.h>)
#define GDAL_ZARR_HAS_CURL 1

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <map>
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

  // An address as a key: the bytes of a sockaddr. Empty for other sockets than those of TCP.
  static std::string key_of(const curl_sockaddr& address);

  // A connected socket for a new connection of libcurl, which then owns it; CURL_SOCKET_BAD if
  // there is none. Counts the connections to the address.
  curl_socket_t take(const std::string& address);

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
    bool is_opened = false;
    std::chrono::steady_clock::time_point opened;
    std::vector<curl_socket_t> sockets;

    void close_all();
  };

  std::map<std::string, Server> servers_;  // by address
};

}  // namespace gdal_zarr

#else
#define GDAL_ZARR_HAS_CURL 0
#endif
