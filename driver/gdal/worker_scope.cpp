#include "driver/gdal/worker_scope.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>
#include <gdal.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "driver/gdal/config_options.h"
#include "zarrcore/base/process.h"

namespace gdal_zarr {
namespace {

// All of GDAL's options for this thread, while it lives.
class ThreadOptions {
 public:
  explicit ThreadOptions(const CPLStringList& options)
      : previous_(CPLGetThreadLocalConfigOptions(), TRUE) {
    CPLSetThreadLocalConfigOptions(options.List());
  }
  ~ThreadOptions() { CPLSetThreadLocalConfigOptions(previous_.List()); }
  ThreadOptions(const ThreadOptions&) = delete;
  ThreadOptions& operator=(const ThreadOptions&) = delete;

 private:
  const CPLStringList previous_;
};

}  // namespace

void CPL_STDCALL WorkerMessages::collect(CPLErr severity, CPLErrorNum number, const char* message) {
  auto* messages = static_cast<WorkerMessages*>(CPLGetErrorHandlerUserData());
  const std::lock_guard lock(messages->mutex_);
  messages->held_.add(severity, number, message);
}

// A handler may call the driver: it is called without the lock.
void WorkerMessages::emit() noexcept {
  HeldMessages held;
  {
    const std::lock_guard lock(mutex_);
    std::swap(held, held_);
  }
  held.emit();
}

CallerState::CallerState()
    : options_(std::make_shared<const CPLStringList>(CPLGetThreadLocalConfigOptions(), TRUE)) {}

zarrcore::WorkerScope CallerState::scope_for(std::shared_ptr<WorkerMessages> messages) const {
  return [options = options_, messages = std::move(messages)](const std::function<void()>& work) {
    const ThreadOptions scope(*options);
    const CPLErrorHandlerPusher pusher(WorkerMessages::collect, messages.get());
    work();
  };
}

zarrcore::WorkerScope CallerState::lasting_scope() {
  const CPLStringList options(CPLGetThreadLocalConfigOptions(), TRUE);
  return [options](const std::function<void()>& work) {
    const ThreadOptions scope(options);
    const QuietErrors quiet;
    work();
  };
}

void allow_read_ahead(zarrcore::ReadOptions& options) {
  if (CPLTestBool(config_option(ConfigOption::read_ahead))) {
    options.lasting_scope = CallerState::lasting_scope;
  }
}

std::size_t thread_count(const char* value) {
  // GDAL reads files of the system for the number of processors, in the time of a small read.
  const auto cpus = [] {
    static const int count = CPLGetNumCPUs();
    return count;
  };
  if (value == nullptr) value = config_option(ConfigOption::num_threads);
  if (value == nullptr) return static_cast<std::size_t>(std::clamp(cpus(), 1, 8));
  const int wanted = EQUAL(value, "ALL_CPUS") ? cpus() : std::atoi(value);
  return static_cast<std::size_t>(std::clamp(wanted, 1, 1024));
}

std::shared_ptr<zarrcore::Context> shared_context() {
  static auto& mutex = *new zarrcore::ForkMutex;
  static auto& current = *new std::weak_ptr<zarrcore::Context>;
  const auto context = [] {
    const std::lock_guard lock(mutex);
    auto existing = current.lock();
    if (!existing) current = existing = std::make_shared<zarrcore::Context>();
    return existing;
  }();
  // Blocks of Zarr bands seldom are in GDAL's own cache, which windows bypass.
  context->chunks.reserve(static_cast<std::uint64_t>(std::max<GIntBig>(0, GDALGetCacheMax64())) /
                          2);
  return context;
}

zarrcore::RunTogether run_on(std::shared_ptr<zarrcore::Context> context) {
  return [context = std::move(context)](std::size_t count, std::size_t at_once,
                                        const std::function<void(std::size_t)>& body) {
    CallerState caller;
    context->pool.parallel_for(count, at_once, body, caller.scope());
  };
}

}  // namespace gdal_zarr
