// The thread that runs transfers, with a libcurl that this program is linked with: without GDAL, so
// that ThreadSanitizer sees all of it but libcurl.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "autotest/driver/cpp/echo_server.h"
#include "driver/stores/vsi/http_transfers.h"
#include "zarrcore/base/cancellation.h"

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

namespace {

class Server : public test::EchoServer {
 public:
  Server() : EchoServer(&HttpTransfers::shut_down) {}
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
  const CURLcode code = HttpTransfers::of_process()->run(handle, url, limits).code;
  curl_easy_cleanup(handle);
  return code == CURLE_OK ? body : curl_easy_strerror(code);
}

// The number of wrong answers.
int get_from_threads(const std::string& url) {
  constexpr int kThreads = 8;
  constexpr int kRequests = 20;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Readers of different options share the connections.
      const HttpTransfers::Limits limits{.max_connections = i % 2 == 0 ? 0 : 4};
      for (int j = 0; j < kRequests; ++j) wrong += get(url + "/ok", limits) == "/ok" ? 0 : 1;
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
  for (int i = 0; i < 20; ++i) EXPECT_NE(get("http://127.0.0.1:1/ok", {}), "/ok");
  others.join();
}

// Of a thread whose work is cancelled.
class CancelledTransfer {
 public:
  explicit CancelledTransfer(const std::string& url)
      : thread_([this, url] {
          const zarrcore::Cancellation::Scope scope(&cancellation_);
          answer_ = get(url, {});
        }) {}

  void cancel() { cancellation_.cancel(); }
  // Waits for its end.
  std::string answer() {
    thread_.join();
    return answer_;
  }

 private:
  zarrcore::Cancellation cancellation_;
  std::string answer_;
  std::thread thread_;
};

const std::string kAborted = curl_easy_strerror(CURLE_ABORTED_BY_CALLBACK);

TEST(Transfers, ThatAreCancelledEndAtOnce) {
  const Server server;
  for (int round = 0; round < 20; ++round) {
    CancelledTransfer early(server.url() + "/silent");
    early.cancel();  // perhaps before it begins
    EXPECT_EQ(early.answer(), kAborted);

    CancelledTransfer late(server.url() + "/silent");
    EXPECT_EQ(get_from_threads(server.url()), 0);
    late.cancel();
    EXPECT_EQ(late.answer(), kAborted);
  }
}

TEST(Transfers, ThatAreShutDownEndAtOnce) {
  const Server server;
  std::atomic<bool> has_begun = false;
  std::string answer;
  std::thread thread([&] {
    has_begun = true;
    answer = get(server.url() + "/silent", {});
  });
  while (!has_begun) std::this_thread::yield();
  while (server.connections() == 0) std::this_thread::yield();
  HttpTransfers::shut_down();
  thread.join();
  EXPECT_EQ(answer, kAborted);
  EXPECT_EQ(get(server.url() + "/ok", {}), "/ok");
}

}  // namespace
}  // namespace gdal_zarr
