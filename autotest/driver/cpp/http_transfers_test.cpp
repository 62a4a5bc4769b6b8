// Transfers of many threads at once, over connections that they share.
#include "driver/stores/vsi/http_transfers.h"

#include <gtest/gtest.h>

#include "driver/stores/vsi/http_connection.h"
#include "driver/stores/vsi/shared_connections.h"

#if GDAL_ZARR_HAS_CURL

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace gdal_zarr {
namespace {

// A web server of HTTP/1.1 that answers each request with the path that it is for.
class EchoServer {
 public:
  EchoServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    listen(listener_, 64);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    path_ = "/vsicurl/http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x.zarr";
    setenv("no_proxy", "127.0.0.1", 1);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~EchoServer() {
    close_shared_connections();  // which ends the threads of connections
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  HttpFolder folder() const { return *HttpFolder::parse(path_); }
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
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path;
      if (send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
      request.clear();
    }
    close(connection);
  }

  int listener_;
  std::string path_;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

constexpr int kThreads = 8;
constexpr int kRequests = 25;

// The number of requests that got the right answer.
int request_from_threads(const HttpFolder& folder, HttpConnection& connection) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < kRequests; ++j) {
        const std::string key = "c/" + std::to_string(i) + '/' + std::to_string(j);
        const HttpReply reply = connection.get(folder.url_of(key), "X-A: 1", 1000);
        if (reply.status == 200 && reply.bytes.text() == "/x.zarr/" + key) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return right;
}

TEST(HttpTransfers, OfThreadsShareConnections) {
  const EchoServer server;
  const HttpFolder folder = server.folder();
  const auto connection = make_shared_connections(folder);
  if (!connection) GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
  EXPECT_EQ(request_from_threads(folder, *connection), kThreads * kRequests);
  EXPECT_LE(server.connections(), kThreads);
  const int before = server.connections();
  EXPECT_EQ(connection->get(folder.url_of("one"), "", 1000).status, 200);
  EXPECT_EQ(server.connections(), before);
}

TEST(HttpTransfers, StartAnewAfterAllConnectionsAreClosed) {
  const EchoServer server;
  const HttpFolder folder = server.folder();
  const auto connection = make_shared_connections(folder);
  if (!connection) GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(request_from_threads(folder, *connection), kThreads * kRequests);
    close_shared_connections();
  }
}

TEST(HttpTransfers, OfManyDatasetsRunTogether) {
  const EchoServer server;
  if (gdal_curl() == nullptr) GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const HttpFolder folder = server.folder();
      const auto connection = make_shared_connections(folder);
      right += request_from_threads(folder, *connection);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * kThreads * kRequests);
}

}  // namespace
}  // namespace gdal_zarr

#endif
