// The thread that runs transfers, with a libcurl that this program is linked with: without GDAL, so
// that ThreadSanitizer sees all of it but libcurl.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "driver/stores/vsi/http_transfers.h"

namespace gdal_zarr {

const CurlLibrary* gdal_curl() {
  static const CurlLibrary curl{
      .easy_init = curl_easy_init,
      .easy_cleanup = curl_easy_cleanup,
      .easy_setopt = ::curl_easy_setopt,
      .easy_getinfo = ::curl_easy_getinfo,
      .easy_strerror = curl_easy_strerror,
      .multi_init = curl_multi_init,
      .multi_cleanup = curl_multi_cleanup,
      .multi_setopt = ::curl_multi_setopt,
      .multi_add_handle = curl_multi_add_handle,
      .multi_remove_handle = curl_multi_remove_handle,
      .multi_perform = curl_multi_perform,
      .multi_info_read = curl_multi_info_read,
      .multi_poll = curl_multi_poll,
      .multi_wakeup = curl_multi_wakeup,
      .share_init = curl_share_init,
      .share_cleanup = curl_share_cleanup,
      .share_setopt = ::curl_share_setopt,
      .slist_append = curl_slist_append,
      .slist_free_all = curl_slist_free_all,
  };
  return &curl;
}

// There is no TLS here.
std::optional<bool> CurlLibrary::has_http2(CURL* /*handle*/) const {
  return std::nullopt;
}

namespace {

// A web server that answers each request of a connection with "ok", until the peer closes it.
class Server {
 public:
  Server() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    listen(listener_, 64);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    thread_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    HttpTransfers::shut_down();
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }

 private:
  void accept_all() {
    std::vector<std::thread> threads;
    for (;;) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) break;
      threads.emplace_back([connection] { answer_all(connection); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static void answer_all(int connection) {
    static constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    std::string request;
    std::array<char, 1024> some{};
    for (;;) {
      const auto size = recv(connection, some.data(), some.size(), 0);
      if (size <= 0) break;
      request.append(some.data(), static_cast<std::size_t>(size));
      if (!request.ends_with("\r\n\r\n")) continue;
      if (send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) break;
      request.clear();
    }
    close(connection);
  }

  int listener_;
  std::string url_;
  std::thread thread_;
};

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

std::string get(const std::string& url, const HttpTransfers::Limits& limits) {
  CURL* handle = curl_easy_init();
  std::string body;
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &append);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &body);
  const CURLcode code = HttpTransfers::of_process()->run(handle, url, limits);
  curl_easy_cleanup(handle);
  return code == CURLE_OK ? body : curl_easy_strerror(code);
}

// The number of wrong answers.
int get_from_threads(const std::string& url) {
  constexpr int kThreads = 8;
  constexpr int kRequests = 20;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Readers of different options share the connections.
      const HttpTransfers::Limits limits{.max_connections = i % 2 == 0 ? 0 : 4};
      for (int j = 0; j < kRequests; ++j) wrong += get(url, limits) == "ok" ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

TEST(Transfers, OfManyThreadsRunTogether) {
  const Server server;
  EXPECT_EQ(get_from_threads(server.url()), 0);
}

TEST(Transfers, StartAnewAfterTheThreadHasEnded) {
  const Server server;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(get_from_threads(server.url()), 0);
    HttpTransfers::shut_down();
  }
}

TEST(Transfers, ThatFailAreReportedToTheirOwnThreads) {
  const Server server;
  std::thread others([&] { EXPECT_EQ(get_from_threads(server.url()), 0); });
  for (int i = 0; i < 20; ++i) EXPECT_NE(get("http://127.0.0.1:1/", {}), "ok");
  others.join();
}

}  // namespace
}  // namespace gdal_zarr
