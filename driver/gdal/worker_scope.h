// GDAL's configuration options and error handlers are thread-local. While worker threads run for a
// call, they see the options of the calling thread, and their messages reach its handlers.
#pragma once

#include <cpl_error.h>
#include <cpl_string.h>

#include <mutex>

#include "driver/gdal/messages.h"
#include "zarrcore/array/read_options.h"
#include "zarrcore/array/thread_pool.h"

namespace gdal_zarr {

class CallerState {
 public:
  CallerState();
  // Reports the messages of the workers on the calling thread.
  ~CallerState();
  CallerState(const CallerState&) = delete;
  CallerState& operator=(const CallerState&) = delete;

  // To be used while this object lives.
  zarrcore::WorkerScope scope();

  // With the options of the calling thread, for work that goes on after the call. Its messages
  // reach nobody, except for debug messages.
  static zarrcore::WorkerScope lasting_scope();

 private:
  static void CPL_STDCALL collect(CPLErr severity, CPLErrorNum number, const char* message);

  CPLStringList options_;
  std::mutex mutex_;
  HeldMessages held_;
};

// Unless ZARR_READ_AHEAD forbids it.
void allow_read_ahead(zarrcore::ReadOptions& options);

// The number of threads that GDAL_NUM_THREADS allows: a number or ALL_CPUS; unset means all CPUs,
// at most 8. `value`, if not null, overrides it.
std::size_t thread_count(const char* value = nullptr);

}  // namespace gdal_zarr
