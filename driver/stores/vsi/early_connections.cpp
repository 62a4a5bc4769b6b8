#include "driver/stores/vsi/early_connections.h"

#if GDAL_ZARR_HAS_CURL

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gdal_zarr {
namespace {

std::string name_of(const std::string& ip, int port) {
  return ip + ' ' + std::to_string(port);
}

// Empty if it is not an address of the internet.
std::string name_of(const curl_sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto name = [&](const void* ip, in_port_t port) {
    inet_ntop(address.family, ip, text.data(), text.size());
    return name_of(text.data(), ntohs(port));
  };
  if (address.family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.addr, sizeof in);
    return name(&in.sin_addr, in.sin_port);
  }
  if (address.family == AF_INET6 && address.addrlen >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.addr, sizeof in);
    return name(&in.sin6_addr, in.sin6_port);
  }
  return {};
}

// A socket that begins to connect; -1 if that fails.
int connect_to(const sockaddr_storage& address, socklen_t size) {
  const int made =
      socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (made < 0) return -1;
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), size) == 0 ||
      errno == EINPROGRESS) {
    return made;
  }
  close(made);
  return -1;
}

// Returns true if the connection is open and the server has not closed it.
bool is_usable(int socket) {
  pollfd state{socket, POLLIN | POLLOUT | POLLRDHUP, 0};
  return poll(&state, 1, 0) == 1 && state.revents == POLLOUT;
}

void close_all(std::vector<int>& sockets) {
  for (const int socket : std::exchange(sockets, {})) close(socket);
}

}  // namespace

curl_socket_t EarlyConnections::take(const curl_sockaddr& address) {
  const std::string name = name_of(address);
  // Newer libcurls state the flags of new sockets as well, which those here have.
  const int type = address.socktype & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (name.empty() || type != SOCK_STREAM) return CURL_SOCKET_BAD;
  close_old();
  Address& found = addresses_[name];
  ++found.used;
  found.size = std::min<socklen_t>(address.addrlen, sizeof found.address);
  std::memcpy(&found.address, &address.addr, found.size);
  for (std::size_t i = found.sockets.size(); i-- > 0;) {
    const int socket = found.sockets[i];
    if (!is_usable(socket)) continue;
    found.sockets.erase(found.sockets.begin() + static_cast<std::ptrdiff_t>(i));
    return socket;
  }
  return CURL_SOCKET_BAD;
}

void EarlyConnections::open(const std::string& ip, int port, std::size_t count) {
  const auto it = addresses_.find(name_of(ip, port));
  if (it == addresses_.end() || std::exchange(it->second.is_opened, true)) return;
  Address& address = it->second;
  address.time = std::chrono::steady_clock::now();
  for (std::size_t i = address.used; i < count; ++i) {
    const int socket = connect_to(address.address, address.size);
    if (socket < 0) return;
    address.sockets.push_back(socket);
  }
}

bool EarlyConnections::close_old() {
  bool remain = false;
  const auto oldest = std::chrono::steady_clock::now() - kMaxAge;
  for (auto& [name, address] : addresses_) {
    if (address.time <= oldest) close_all(address.sockets);
    remain = remain || !address.sockets.empty();
  }
  return remain;
}

void EarlyConnections::clear() {
  for (auto& [name, address] : addresses_) close_all(address.sockets);
  addresses_.clear();
}

}  // namespace gdal_zarr

#endif
