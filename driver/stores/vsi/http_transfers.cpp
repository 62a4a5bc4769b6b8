#include "driver/stores/vsi/http_transfers.h"

#if GDAL_ZARR_HAS_CURL

#include <atomic>
#include <chrono>
#include <csignal>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"

namespace gdal_zarr {
namespace {

// After so long without a transfer, connections are closed and the thread ends.
constexpr int kIdleMilliseconds = 30'000;

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

}  // namespace

struct HttpTransfers::Transfer {
  CURL* handle;
  Limits limits;
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

CURLcode HttpTransfers::run(CURL* handle, const Limits& limits) {
  Transfer transfer{handle, limits};
  curl_.easy_setopt(handle, CURLOPT_PRIVATE, static_cast<void*>(&transfer));
  {
    const std::lock_guard lock(mutex_);
    if (!is_running_) start();
    queue_.push_back(&transfer);
    curl_.multi_wakeup(multi_);
  }
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
  int active = 0;
  bool was_idle = false;  // for the whole time of the last wait
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      added.swap(queue_);
      if (added.empty() && active == 0 && (was_idle || is_stopping_)) {
        // After the lock is released, another thread may start a new one.
        curl_.multi_cleanup(std::exchange(multi_, nullptr));
        is_running_ = false;
        return;
      }
    }
    for (Transfer* transfer : added) begin(*transfer);
    active += static_cast<int>(added.size());
    added.clear();
    int running = 0;
    curl_.multi_perform(multi_, &running);
    int remaining = 0;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &remaining)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* transfer = nullptr;
      curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      const CURLcode code = message->data.result;
      curl_.multi_remove_handle(multi_, message->easy_handle);
      end(*reinterpret_cast<Transfer*>(transfer), code);
    }
    active = running;
    // Also ends when a transfer is added.
    const int milliseconds = active > 0 ? 1000 : kIdleMilliseconds;
    const auto began = std::chrono::steady_clock::now();
    curl_.multi_poll(multi_, nullptr, 0, milliseconds, nullptr);
    was_idle = active == 0 && std::chrono::steady_clock::now() - began >=
                                  std::chrono::milliseconds(kIdleMilliseconds);
  }
}

void HttpTransfers::begin(Transfer& transfer) {
  if (transfer.limits != applied_) apply(transfer.limits);
  if (curl_.multi_add_handle(multi_, transfer.handle) != CURLM_OK) {
    end(transfer, CURLE_OUT_OF_MEMORY);
  }
}

// The transfer is gone when the waiting thread has seen that it is done.
void HttpTransfers::end(Transfer& transfer, CURLcode code) {
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
