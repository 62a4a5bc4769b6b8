// A web server of this process, for tests: a function decides which bytes it sends.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gdal_zarr::test {

// What a server sends for a request, and what it does then.
struct ScriptedAnswer {
  enum class Then {
    next_request,
    close,
    reset,  // the client sees an error instead of the end
    drip,   // one byte in 100 ms, until the client closes the connection
  };

  std::string bytes;  // headers and body, sent as they are
  Then then = Then::next_request;
};

// On a port that the system chooses. Its destructor closes all connections.
class ScriptedServer {
 public:
  // Called with the request line and the headers, by several threads at once.
  using Script = std::function<ScriptedAnswer(const std::string& request)>;

  explicit ScriptedServer(Script script)
      : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port could be opened");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    {
      const std::lock_guard lock(mutex_);
      for (const int connection : open_) shutdown(connection, SHUT_RDWR);
      is_closing_ = true;
    }
    thread_.join();
    close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  // "127.0.0.1:40000"
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  // How many have been opened.
  int connections() const { return connections_; }

 private:
  void accept_all() {
    std::vector<std::thread> threads;
    for (;;) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) break;
      ++connections_;
      const std::lock_guard lock(mutex_);
      if (is_closing_) {
        close(connection);
        continue;
      }
      open_.insert(connection);
      threads.emplace_back([this, connection] {
        answer_all(connection);
        const std::lock_guard closing(mutex_);
        open_.erase(connection);
        close(connection);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void answer_all(int connection) const {
    std::string request;
    char byte = 0;
    while (recv(connection, &byte, 1, 0) == 1) {
      request += byte;
      if (!request.ends_with("\r\n\r\n")) continue;
      const ScriptedAnswer answer = script_(request);
      request.clear();
      if (!answer.bytes.empty() &&
          send(connection, answer.bytes.data(), answer.bytes.size(), MSG_NOSIGNAL) < 0) {
        return;
      }
      switch (answer.then) {
        case ScriptedAnswer::Then::next_request:
          break;
        case ScriptedAnswer::Then::close:
          return;
        case ScriptedAnswer::Then::reset: {
          const linger at_once{1, 0};
          setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
          return;
        }
        case ScriptedAnswer::Then::drip:
          pollfd closed{connection, POLLIN, 0};
          while (poll(&closed, 1, 100) == 0 && send(connection, "x", 1, MSG_NOSIGNAL) == 1) {
          }
          return;
      }
    }
  }

  Script script_;
  int listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::set<int> open_;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace gdal_zarr::test
