#include "driver/stores/vsi/early_connections.h"

#if GDAL_ZARR_HAS_CURL

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace gdal_zarr {
namespace {

// A socket that begins to connect; CURL_SOCKET_BAD if that fails.
curl_socket_t connect_to(const std::string& key) {
  const auto* address = reinterpret_cast<const sockaddr*>(key.data());
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const curl_socket_t made = socket(address->sa_family, kType, 0);
  if (made == CURL_SOCKET_BAD) return made;
  const int code = connect(made, address, static_cast<socklen_t>(key.size()));
  if (code == 0 || errno == EINPROGRESS) return made;
  close(made);
  return CURL_SOCKET_BAD;
}

// Returns true if the connection is open and the server has not closed it.
bool is_usable(curl_socket_t socket) {
  pollfd state{socket, POLLIN | POLLOUT | POLLRDHUP, 0};
  return poll(&state, 1, 0) == 1 && state.revents == POLLOUT;
}

}  // namespace

std::string EarlyConnections::key_of(const curl_sockaddr& address) {
  // Some versions of libcurl give the flags of new sockets with their type.
  const bool is_stream = (address.socktype & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM;
  const bool is_tcp = address.family == AF_INET || address.family == AF_INET6;
  if (!is_stream || !is_tcp || address.addrlen < sizeof(sockaddr)) return {};
  // The address may be larger than curl_sockaddr's own member for it.
  const auto* bytes = reinterpret_cast<const char*>(&address) + offsetof(curl_sockaddr, addr);
  return {bytes, address.addrlen};
}

curl_socket_t EarlyConnections::take(const std::string& address) {
  close_old();
  Server& server = servers_[address];
  ++server.used;
  const auto usable = std::ranges::find_if(server.sockets, is_usable);
  if (usable == server.sockets.end()) return CURL_SOCKET_BAD;
  const curl_socket_t taken = *usable;
  server.sockets.erase(usable);
  return taken;
}

void EarlyConnections::open(const std::string& address, std::size_t count) {
  Server& server = servers_[address];
  if (std::exchange(server.is_opened, true)) return;
  server.opened = std::chrono::steady_clock::now();
  for (std::size_t i = server.used; i < count; ++i) {
    const curl_socket_t socket = connect_to(address);
    if (socket == CURL_SOCKET_BAD) return;
    server.sockets.push_back(socket);
  }
}

bool EarlyConnections::close_old() {
  const auto oldest = std::chrono::steady_clock::now() - kMaxAge;
  bool remain = false;
  for (auto& [address, server] : servers_) {
    if (server.opened <= oldest) server.close_all();
    remain = remain || !server.sockets.empty();
  }
  return remain;
}

void EarlyConnections::clear() {
  for (auto& [address, server] : servers_) server.close_all();
  servers_.clear();
}

void EarlyConnections::Server::close_all() {
  for (const curl_socket_t socket : std::exchange(sockets, {})) close(socket);
}

}  // namespace gdal_zarr

#endif
