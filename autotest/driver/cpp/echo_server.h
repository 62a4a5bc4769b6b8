// A web server of this process, for tests of transfers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gdal_zarr::test {

// Answers each request of HTTP/1.1 with the path that it is for, except "/silent", which it never
// answers.
class EchoServer {
 public:
  // `close_clients` closes the connections of this process to servers, for which the server waits
  // at its end.
  explicit EchoServer(void (*close_clients)())
      : close_clients_(close_clients), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port could be opened");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { accept_all(); });
  }
  ~EchoServer() {
    close_clients_();
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  const std::string& url() const { return url_; }  // without a path
  int connections() const { return connections_; }

 private:
  void accept_all() {
    std::vector<std::thread> threads;
    for (;;) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) break;
      ++connections_;
      threads.emplace_back([connection] { answer_all(connection); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static void answer_all(int connection) {
    std::string request;
    char byte = 0;
    while (recv(connection, &byte, 1, 0) == 1) {
      request += byte;
      if (!request.ends_with("\r\n\r\n")) continue;
      const auto start = request.find(' ') + 1;
      const std::string path = request.substr(start, request.find(' ', start) - start);
      request.clear();
      if (path == "/silent") continue;
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path;
      if (send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
    }
    close(connection);
  }

  void (*close_clients_)();
  int listener_;
  std::string url_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace gdal_zarr::test
