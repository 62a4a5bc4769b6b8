#include "driver/stores/vsi/early_connections.h"

#ifdef __linux__

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace gdal_zarr {
namespace {

// A socket that begins to connect; -1 if that fails.
int connect_to(const std::string& bytes) {
  const auto* address = reinterpret_cast<const sockaddr*>(bytes.data());
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int made = socket(address->sa_family, kType, 0);
  if (made < 0) return made;
  const int code = connect(made, address, static_cast<socklen_t>(bytes.size()));
  if (code == 0 || errno == EINPROGRESS) return made;
  close(made);
  return -1;
}

// Returns true if the connection is open and the server has not closed it.
bool is_usable(int socket) {
  pollfd state{socket, POLLIN | POLLOUT | POLLRDHUP, 0};
  return poll(&state, 1, 0) == 1 && state.revents == POLLOUT;
}

}  // namespace

int EarlyConnections::take(const std::string& address) {
  close_old();
  Server& server = servers_[address];
  ++server.used;
  const auto usable = std::ranges::find_if(server.sockets, is_usable);
  if (usable == server.sockets.end()) return -1;
  const int taken = *usable;
  server.sockets.erase(usable);
  return taken;
}

void EarlyConnections::open(const std::string& address, std::size_t count) {
  Server& server = servers_[address];
  if (server.opened) return;
  server.opened = std::chrono::steady_clock::now();
  for (std::size_t i = server.used; i < count; ++i) {
    const int socket = connect_to(address);
    if (socket < 0) return;
    server.sockets.push_back(socket);
  }
}

bool EarlyConnections::close_old() {
  const auto oldest = std::chrono::steady_clock::now() - kMaxAge;
  bool remain = false;
  for (auto& [address, server] : servers_) {
    if (server.opened && *server.opened <= oldest) server.close_all();
    remain = remain || !server.sockets.empty();
  }
  return remain;
}

void EarlyConnections::clear() {
  for (auto& [address, server] : servers_) server.close_all();
  servers_.clear();
}

void EarlyConnections::Server::close_all() {
  for (const int socket : std::exchange(sockets, {})) close(socket);
}

}  // namespace gdal_zarr

#endif
