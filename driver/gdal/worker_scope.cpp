#include "driver/gdal/worker_scope.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>

#include <algorithm>
#include <cstdlib>

namespace gdal_zarr {

CallerState::CallerState() : options_(CPLGetThreadLocalConfigOptions(), TRUE) {}

CallerState::~CallerState() {
  held_.emit();
}

void CPL_STDCALL CallerState::collect(CPLErr severity, CPLErrorNum number, const char* message) {
  auto* state = static_cast<CallerState*>(CPLGetErrorHandlerUserData());
  const std::lock_guard lock(state->mutex_);
  state->held_.add(severity, number, message);
}

zarrcore::WorkerScope CallerState::scope() {
  return [this](const std::function<void()>& work) {
    const CPLStringList previous(CPLGetThreadLocalConfigOptions(), TRUE);
    CPLSetThreadLocalConfigOptions(options_.List());
    CPLPushErrorHandlerEx(collect, this);
    work();
    CPLPopErrorHandler();
    CPLSetThreadLocalConfigOptions(previous.List());
  };
}

std::size_t thread_count(const char* value) {
  const int cpus = CPLGetNumCPUs();
  if (value == nullptr) value = CPLGetConfigOption("GDAL_NUM_THREADS", nullptr);
  if (value == nullptr) return static_cast<std::size_t>(std::clamp(cpus, 1, 8));
  const int wanted = EQUAL(value, "ALL_CPUS") ? cpus : std::atoi(value);
  return static_cast<std::size_t>(std::clamp(wanted, 1, 1024));
}

}  // namespace gdal_zarr
