#include "driver/stores/vsi/http_transfers.h"

#if GDAL_ZARR_HAS_CURL

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
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
  constexpr std::string_view kTlsScheme = "https://";
  if (zarrcore::lower_case(url.substr(0, kTlsScheme.size())) != kTlsScheme) return {};
  return std::string(url.substr(0, url.find_first_of("/?#", kTlsScheme.size())));
}

// The bytes of an address; empty for other sockets than those of TCP.
std::string address_of(const curl_sockaddr& address) {
  // Some versions of libcurl give the flags of new sockets with their type.
  const bool is_stream = (address.socktype & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM;
  const bool is_tcp = address.family == AF_INET || address.family == AF_INET6;
  if (!is_stream || !is_tcp || address.addrlen < sizeof(sockaddr)) return {};
  // The address may be larger than curl_sockaddr's own member for it.
  const auto* bytes = reinterpret_cast<const char*>(&address) + offsetof(curl_sockaddr, addr);
  return {bytes, address.addrlen};
}

// Whether the server of a handle's connection has agreed on HTTP/2, which shows as soon as TLS is
// set up. Empty without TLS, and with other libraries for TLS than GnuTLS and OpenSSL.
std::optional<bool> agreed_on_http2(const CurlLibrary& curl, CURL* handle) {
  const curl_tlssessioninfo* session = nullptr;
  if (curl.easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == nullptr ||
      session->internals == nullptr) {
    return std::nullopt;
  }
  // As gnutls_datum_t. Both libraries leave it as it is if nothing has been agreed on.
  struct {
    const unsigned char* bytes;
    unsigned size;
  } protocol{nullptr, 0};
  if (session->backend == CURLSSLBACKEND_GNUTLS && curl.gnutls_protocol != nullptr) {
    curl.gnutls_protocol(session->internals, &protocol);
  } else if (session->backend == CURLSSLBACKEND_OPENSSL && curl.openssl_protocol != nullptr) {
    curl.openssl_protocol(session->internals, &protocol.bytes, &protocol.size);
  } else {
    return std::nullopt;
  }
  return std::string_view(reinterpret_cast<const char*>(protocol.bytes), protocol.size) == "h2";
}

}  // namespace

struct HttpTransfers::Transfer {
  // Sets curl's callbacks, which have the transfer as `self`.
  void set_callbacks();
  static int begin_resolving(void* /*state*/, void* /*reserved*/, void* self) {
    static_cast<Transfer*>(self)->ignore_text_so_far();
    return 0;
  }
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int set_up_socket(void* self, curl_socket_t opened, curlsocktype purpose);
  static int begin_request(void* self, char* ip, char* own_ip, int port, int own_port);

  // libcurl says only the first thing that fails, which may be another connection that it finds
  // closed while it looks for one to use. Such a text comes before the transfer's own connection.
  void ignore_text_so_far() { is_text_of_another = text[0] != 0; }
  std::string problem() const {
    // libcurl sends a request again when the connection that it used is closed: then an error of
    // receiving is that of the first attempt as well.
    const bool is_own = !is_text_of_another || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR;
    return is_own ? text.data() : "";
  }

  HttpTransfers& all;
  CURL* handle;
  std::string server;  // "https://host:port" if it has TLS, else empty
  Limits limits;
  std::string address = {};  // of a connection that was opened for the transfer
  curl_socket_t early_socket = CURL_SOCKET_BAD;
  std::array<char, CURL_ERROR_SIZE> text = {};
  bool is_text_of_another = false;
  std::atomic<bool> is_cancelled = false;
  CURLcode code = CURLE_OK;
  bool is_done = false;
  std::mutex mutex = {};
  std::condition_variable done = {};
};

void HttpTransfers::Transfer::set_callbacks() {
  const auto set = [&](CURLoption option, auto value) {
    all.curl_.easy_setopt(handle, option, value);
  };
  void* self = this;
  set(CURLOPT_PRIVATE, self);
  set(CURLOPT_ERRORBUFFER, text.data());
  set(CURLOPT_RESOLVER_START_FUNCTION, &Transfer::begin_resolving);
  set(CURLOPT_RESOLVER_START_DATA, self);
  if (!server.empty()) {
    set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::open_socket);
    set(CURLOPT_OPENSOCKETDATA, self);
  }
  set(CURLOPT_SOCKOPTFUNCTION, &Transfer::set_up_socket);
  set(CURLOPT_SOCKOPTDATA, self);
#if LIBCURL_VERSION_NUM >= 0x075000
  set(CURLOPT_PREREQFUNCTION, &Transfer::begin_request);
  set(CURLOPT_PREREQDATA, self);
#endif
}

curl_socket_t HttpTransfers::Transfer::open_socket(void* self, curlsocktype /*purpose*/,
                                                   curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.early_socket = CURL_SOCKET_BAD;
  try {
    transfer.address = address_of(*address);
    if (!transfer.address.empty()) {
      transfer.early_socket = transfer.all.early_.take(transfer.address);
    }
  } catch (const std::exception&) {
    transfer.address.clear();  // A new socket serves as well.
  }
  if (transfer.early_socket != CURL_SOCKET_BAD) return transfer.early_socket;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int HttpTransfers::Transfer::set_up_socket(void* self, curl_socket_t opened,
                                           curlsocktype /*purpose*/) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.ignore_text_so_far();
  const bool is_early = transfer.early_socket == opened;
  return is_early ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

int HttpTransfers::Transfer::begin_request(void* self, char* /*ip*/, char* /*own_ip*/, int /*port*/,
                                           int /*own_port*/) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.ignore_text_so_far();
  try {
    transfer.all.open_early(transfer);
  } catch (const std::exception&) {
    // The connections are opened when they are needed.
  }
  return CURL_PREREQFUNC_OK;
}

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

HttpTransfers::Result HttpTransfers::run(CURL* handle, const std::string& url,
                                         const Limits& limits) {
  Transfer transfer{*this, handle, server_with_tls(url), limits};
  transfer.set_callbacks();
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
  return {transfer.code, transfer.problem()};
}

// The mutex must be locked: the thread has ended or will end without taking it.
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
// opening another. The first connection to a server shows whether they do. The first two transfers
// do not wait for it: most stores are opened with two requests at once.
bool HttpTransfers::waits_for_connection(const Transfer& transfer) const {
  constexpr int kFirstTransfers = 2;
  if (transfer.server.empty() || !transfer.limits.is_multiplexed) return false;
  if (const auto it = has_http2_.find(transfer.server); it != has_http2_.end()) return it->second;
  return std::ranges::count(active_, transfer.server, &Transfer::server) >= kFirstTransfers;
}

// Before a request is sent over a new connection: if each request at the same time needs one,
// begins to open those that reading will need.
void HttpTransfers::open_early(const Transfer& transfer) {
  if (transfer.address.empty()) return;
  const std::optional<bool> has_http2 = agreed_on_http2(curl_, transfer.handle);
  if (!has_http2) return;
  has_http2_[transfer.server] = *has_http2;
  if (*has_http2) return;
  const Limits& limits = transfer.limits;
  long count = std::min(limits.parallel_requests, limits.max_idle_connections);
  if (limits.max_connections > 0) count = std::min(count, limits.max_connections);
  early_.open(transfer.address, static_cast<std::size_t>(count));
}

void HttpTransfers::begin(Transfer& transfer) {
  if (transfer.limits != applied_) apply(transfer.limits);
  const long waits = waits_for_connection(transfer) ? 1 : 0;
  curl_.easy_setopt(transfer.handle, CURLOPT_PIPEWAIT, waits);
  active_.push_back(&transfer);
  if (curl_.multi_add_handle(multi_, transfer.handle) != CURLM_OK) {
    end(transfer, CURLE_OUT_OF_MEMORY);
  }
}

// The transfer no longer exists once the waiting thread has seen that it is done.
void HttpTransfers::end(Transfer& transfer, CURLcode code) {
  curl_.multi_remove_handle(multi_, transfer.handle);
  std::erase(active_, &transfer);
  if (!transfer.server.empty()) {
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
