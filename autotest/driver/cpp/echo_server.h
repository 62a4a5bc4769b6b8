// A web server of this process, for tests of transfers.
#pragma once

#include <string>

#include "autotest/driver/cpp/scripted_server.h"

namespace gdal_zarr::test {

// Answers each request of HTTP/1.1 with the path that it is for, except "/silent", which it never
// answers.
class EchoServer : public ScriptedServer {
 public:
  // `close_clients` closes the connections of this process to servers, before the server does so.
  explicit EchoServer(void (*close_clients)())
      : ScriptedServer([](const std::string& request) { return ScriptedAnswer{echo(request)}; }),
        close_clients_(close_clients) {}
  ~EchoServer() { close_clients_(); }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  std::string url() const { return "http://" + host(); }  // without a path

 private:
  static std::string echo(const std::string& request) {
    const auto start = request.find(' ') + 1;
    const std::string path = request.substr(start, request.find(' ', start) - start);
    if (path == "/silent") return "";
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path;
  }

  void (*close_clients_)();
};

}  // namespace gdal_zarr::test
