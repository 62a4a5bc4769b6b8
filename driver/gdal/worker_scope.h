// GDAL's configuration options and error handlers are thread-local. While worker threads run for a
// call, they see the options of the calling thread, and their messages reach its handlers. Threads
// that continue after the call see the same options, and a later call reports their messages.
#pragma once

#include <cpl_error.h>
#include <cpl_string.h>

#include <memory>
#include <mutex>

#include "driver/gdal/messages.h"
#include "zarrcore/array/array.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/store/requests.h"

namespace gdal_zarr {

// Messages of other threads. May be used by several threads at once.
class WorkerMessages {
 public:
  WorkerMessages() = default;
  // Reports the messages that have not been.
  ~WorkerMessages() { emit(); }
  WorkerMessages(const WorkerMessages&) = delete;
  WorkerMessages& operator=(const WorkerMessages&) = delete;

  // Reports the messages so far on the calling thread.
  void emit() noexcept;

  // An error handler, whose user data is the object.
  static void CPL_STDCALL collect(CPLErr severity, CPLErrorNum number, const char* message);

 private:
  std::mutex mutex_;
  HeldMessages held_;
};

class CallerState {
 public:
  CallerState();
  // Reports the messages of the workers on the calling thread.
  ~CallerState() { messages_->emit(); }
  CallerState(const CallerState&) = delete;
  CallerState& operator=(const CallerState&) = delete;

  // To be used while this object lives.
  zarrcore::WorkerScope scope() { return scope_for(messages_); }
  // For threads that may outlive this object: the caller reports the messages that they add.
  zarrcore::WorkerScope scope_for(std::shared_ptr<WorkerMessages> messages) const;

  // A scope with the options of the calling thread, for work that continues after the call. Its
  // messages are not reported, except for debug messages.
  static zarrcore::WorkerScope lasting_scope();

 private:
  std::shared_ptr<const CPLStringList> options_;
  std::shared_ptr<WorkerMessages> messages_ = std::make_shared<WorkerMessages>();
};

// Unless ZARR_READ_AHEAD forbids it.
void allow_read_ahead(zarrcore::ReadOptions& options);

// The number of threads that GDAL_NUM_THREADS allows: a number or ALL_CPUS; unset means all CPUs,
// at most 8. `value`, if not null, overrides it.
std::size_t thread_count(const char* value = nullptr);

// The threads and caches of the process, which all datasets share. Bounded for the process, not for
// each dataset. Lives as long as a dataset uses it.
std::shared_ptr<zarrcore::Context> shared_context();

// Runs on the threads of the context, with the options and error handlers of the calling thread.
zarrcore::RunTogether run_on(std::shared_ptr<zarrcore::Context> context);

}  // namespace gdal_zarr
