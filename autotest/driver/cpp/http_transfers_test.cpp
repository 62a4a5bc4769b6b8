// Transfers of many threads at once, over connections that they share.
#include "driver/stores/vsi/http_transfers.h"

#include <gtest/gtest.h>

#include "driver/stores/vsi/http_client.h"

#if GDAL_ZARR_HAS_CURL

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "autotest/driver/cpp/echo_server.h"

namespace gdal_zarr::test::http_transfers_test {
namespace {

class Server : public test::EchoServer {
 public:
  Server() : EchoServer(&close_shared_connections) { setenv("no_proxy", "127.0.0.1", 1); }

  HttpFolder folder() const { return *HttpFolder::parse("/vsicurl/" + url() + "/x.zarr"); }
};

constexpr int kThreads = 8;
constexpr int kRequests = 25;

// The number of requests that got the right answer.
int request_from_threads(const HttpFolder& folder, HttpConnection& connection) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
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
  const Server server;
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
  const Server server;
  const HttpFolder folder = server.folder();
  const auto connection = make_shared_connections(folder);
  if (!connection) GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(request_from_threads(folder, *connection), kThreads * kRequests);
    close_shared_connections();
  }
}

TEST(HttpTransfers, OfManyDatasetsRunTogether) {
  const Server server;
  if (gdal_curl() == nullptr) GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
  std::atomic<int> right{0};
  constexpr int kReaders = 4;
  std::vector<std::thread> threads;
  threads.reserve(kReaders);
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] {
      const HttpFolder folder = server.folder();
      const auto connection = make_shared_connections(folder);
      right += request_from_threads(folder, *connection);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kReaders * kThreads * kRequests);
}

}  // namespace
}  // namespace gdal_zarr::test::http_transfers_test

#endif
