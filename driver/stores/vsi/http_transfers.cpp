#include "driver/stores/vsi/http_transfers.h"

#if GDAL_ZARR_HAS_CURL

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

#include "zarrcore/base/cancellation.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

// After so long without a transfer, connections are closed and the thread ends.
constexpr std::chrono::milliseconds kMaxIdle{30'000};

struct ProcessTransfers {
  long process;
  HttpTransfers* transfers;
};

// Never destroyed: threads may use it until the process ends, and the objects of a parent process
// have a thread that does not exist in its child.
std::atomic<const ProcessTransfers*> current{nullptr};

// While it lives, new threads get no signals: they belong to the program's own, and SIGPIPE would
// end the program when a server closes a connection.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t previous_;
};

// "https://host:port" of a URL; empty without TLS.
std::string server_with_tls(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (zarrcore::lower_case(url.substr(0, kScheme.size())) != kScheme) return {};
  return std::string(url.substr(0, url.find_first_of("/?#", kScheme.size())));
}

}  // namespace

struct HttpTransfers::Transfer {
  // Callbacks of curl for connections, with the transfer as `self`.
  static curl_socket_t open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      transfer.early_socket = transfer.all.early_.take(*address);
    } catch (const std::exception&) {
      transfer.early_socket = CURL_SOCKET_BAD;
    }
    if (transfer.early_socket != CURL_SOCKET_BAD) return transfer.early_socket;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  static int set_up_socket(void* self, curl_socket_t opened, curlsocktype /*purpose*/) {
    const bool is_early = static_cast<const Transfer*>(self)->early_socket == opened;
    return is_early ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
  }
  static int begin_request(void* self, char* ip, char* /*own_ip*/, int port, int /*own_port*/) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      transfer.all.open_early(transfer, ip, port);
    } catch (const std::exception&) {
      // The connections will be opened when they are needed.
    }
    return CURL_PREREQFUNC_OK;
  }

  HttpTransfers& all;
  CURL* handle;
  std::string server;  // "https://host:port" if it has TLS, else empty
  Limits limits;
  curl_socket_t early_socket = CURL_SOCKET_BAD;
  std::atomic<bool> is_cancelled = false;
  CURLcode code = CURLE_OK;
  bool is_done = false;
  std::mutex mutex = {};
  std::condition_variable done = {};
};

HttpTransfers* HttpTransfers::of_process() {
  const CurlLibrary* curl = gdal_curl();
  if (curl == nullptr) return nullptr;
  const long process = zarrcore::process_id();
  const ProcessTransfers* found = current.load();
  while (found == nullptr || found->process != process) {
    auto* made = new ProcessTransfers{process, new HttpTransfers(*curl)};
    if (current.compare_exchange_strong(found, made)) return made->transfers;
    delete made->transfers;
    delete made;
  }
  return found->transfers;
}

void HttpTransfers::shut_down() {
  const ProcessTransfers* found = current.load();
  if (found != nullptr && found->process == zarrcore::process_id()) found->transfers->stop();
}

CURLcode HttpTransfers::run(CURL* handle, const std::string& url, const Limits& limits) {
  Transfer transfer{*this, handle, server_with_tls(url), limits};
  curl_.easy_setopt(handle, CURLOPT_PRIVATE, static_cast<void*>(&transfer));
  if (!transfer.server.empty()) {
    curl_.easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &Transfer::open_socket);
    curl_.easy_setopt(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&transfer));
    curl_.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, &Transfer::set_up_socket);
    curl_.easy_setopt(handle, CURLOPT_SOCKOPTDATA, static_cast<void*>(&transfer));
#if LIBCURL_VERSION_NUM >= 0x075000
    curl_.easy_setopt(handle, CURLOPT_PREREQFUNCTION, &Transfer::begin_request);
    curl_.easy_setopt(handle, CURLOPT_PREREQDATA, static_cast<void*>(&transfer));
#endif
  }
  {
    const std::lock_guard lock(mutex_);
    if (!is_running_) start();
    queue_.push_back(&transfer);
    curl_.multi_wakeup(multi_);
  }
  const zarrcore::Cancellation::Listener listener(zarrcore::Cancellation::current(), [&] {
    transfer.is_cancelled = true;
    const std::lock_guard lock(mutex_);
    if (is_running_) curl_.multi_wakeup(multi_);
  });
  std::unique_lock lock(transfer.mutex);
  transfer.done.wait(lock, [&] { return transfer.is_done; });
  return transfer.code;
}

// With the mutex locked, as the thread has ended or will end without taking it.
void HttpTransfers::start() {
  if (thread_.joinable()) thread_.join();
  multi_ = curl_.multi_init();
  if (multi_ == nullptr) throw zarrcore::Error("libcurl cannot be used");
  applied_ = {};
  apply(applied_);
  has_http2_.clear();
  is_stopping_ = false;
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { loop(); });
  } catch (...) {
    curl_.multi_cleanup(multi_);
    throw;
  }
  is_running_ = true;
}

void HttpTransfers::stop() {
  std::thread ending;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    if (is_running_) curl_.multi_wakeup(multi_);
    ending = std::move(thread_);
  }
  if (ending.joinable()) ending.join();
}

void HttpTransfers::loop() {
  std::vector<Transfer*> added;
  auto last_active = std::chrono::steady_clock::now();
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    bool is_stopping = false;
    {
      const std::lock_guard lock(mutex_);
      added.swap(queue_);
      is_stopping = is_stopping_;
      const bool is_idle = added.empty() && active_.empty();
      if (!is_idle) last_active = now;
      if (is_idle && (is_stopping || now - last_active >= kMaxIdle)) {
        // After the lock is released, another thread may start a new one.
        early_.clear();
        curl_.multi_cleanup(std::exchange(multi_, nullptr));
        is_running_ = false;
        return;
      }
    }
    for (Transfer* transfer : added) begin(*transfer);
    added.clear();
    end_cancelled(is_stopping);
    int running = 0;
    curl_.multi_perform(multi_, &running);
    int remaining = 0;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &remaining)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* transfer = nullptr;
      curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      const CURLcode code = message->data.result;
      end(*reinterpret_cast<Transfer*>(transfer), code);
    }
    // Also ends when a transfer is added or cancelled, and to stop; but not if that was before.
    const auto wait = is_stopping          ? std::chrono::milliseconds(0)
                      : !active_.empty()   ? std::chrono::milliseconds(1000)
                      : early_.close_old() ? EarlyConnections::kMaxAge
                                           : kMaxIdle;
    curl_.multi_poll(multi_, nullptr, 0, static_cast<int>(wait.count()), nullptr);
  }
}

void HttpTransfers::end_cancelled(bool ends_all) {
  const std::vector<Transfer*> active = active_;
  for (Transfer* transfer : active) {
    if (ends_all || transfer->is_cancelled) end(*transfer, CURLE_ABORTED_BY_CALLBACK);
  }
}

// Returns true if the transfer waits for a connection on which requests run together, rather than
// opening another. That is known when the first connection is set up, for which the first two
// transfers do not wait: most stores are opened with two requests at once.
bool HttpTransfers::waits_for_connection(const Transfer& transfer) const {
  constexpr int kFirstTransfers = 2;
  if (transfer.server.empty() || !transfer.limits.is_multiplexed) return false;
  if (const auto it = has_http2_.find(transfer.server); it != has_http2_.end()) return it->second;
  const auto it = running_.find(transfer.server);
  return it != running_.end() && it->second >= kFirstTransfers;
}

// Before the request of a transfer is sent over its connection: if each request needs a connection,
// opens those that reading the store will need.
void HttpTransfers::open_early(const Transfer& transfer, const char* ip, int port) {
  const auto has_http2 = curl_.has_http2(transfer.handle);
  if (!has_http2) return;
  has_http2_[transfer.server] = *has_http2;
  if (*has_http2) return;
  long count = std::min(transfer.limits.connections_at_once, transfer.limits.max_idle_connections);
  if (const long most = transfer.limits.max_connections; most > 0) count = std::min(count, most);
  early_.open(ip, port, static_cast<std::size_t>(count));
}

void HttpTransfers::begin(Transfer& transfer) {
  if (transfer.limits != applied_) apply(transfer.limits);
  const long waits = waits_for_connection(transfer) ? 1 : 0;
  curl_.easy_setopt(transfer.handle, CURLOPT_PIPEWAIT, waits);
  if (!transfer.server.empty()) ++running_[transfer.server];
  active_.push_back(&transfer);
  if (curl_.multi_add_handle(multi_, transfer.handle) != CURLM_OK) {
    end(transfer, CURLE_OUT_OF_MEMORY);
  }
}

// The transfer is gone when the waiting thread has seen that it is done.
void HttpTransfers::end(Transfer& transfer, CURLcode code) {
  curl_.multi_remove_handle(multi_, transfer.handle);
  std::erase(active_, &transfer);
  if (!transfer.server.empty()) {
    const auto it = running_.find(transfer.server);
    if (--it->second == 0) running_.erase(it);
    long version = CURL_HTTP_VERSION_NONE;
    curl_.easy_getinfo(transfer.handle, CURLINFO_HTTP_VERSION, &version);
    if (version != CURL_HTTP_VERSION_NONE) {
      has_http2_[transfer.server] = version >= CURL_HTTP_VERSION_2_0;
    }
  }
  const std::lock_guard lock(transfer.mutex);
  transfer.code = code;
  transfer.is_done = true;
  transfer.done.notify_one();
}

void HttpTransfers::apply(const Limits& limits) {
  const long multiplex = limits.is_multiplexed ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING;
  curl_.multi_setopt(multi_, CURLMOPT_PIPELINING, multiplex);
  curl_.multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.max_connections);
  curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, limits.max_idle_connections);
  applied_ = limits;
}

}  // namespace gdal_zarr

#endif
