#include "driver/gdal/worker_scope.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>

#include <algorithm>
#include <cstdlib>

#include "driver/gdal/config_options.h"

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

zarrcore::WorkerScope CallerState::lasting_scope() {
  const CPLStringList options(CPLGetThreadLocalConfigOptions(), TRUE);
  return [options](const std::function<void()>& work) {
    const CPLStringList previous(CPLGetThreadLocalConfigOptions(), TRUE);
    CPLSetThreadLocalConfigOptions(options.List());
    CPLPushErrorHandler(CPLQuietErrorHandler);
    work();
    CPLPopErrorHandler();
    CPLSetThreadLocalConfigOptions(previous.List());
  };
}

void allow_read_ahead(zarrcore::ReadOptions& options) {
  if (CPLTestBool(config_option(ConfigOption::read_ahead))) {
    options.lasting_scope = CallerState::lasting_scope;
  }
}

std::size_t thread_count(const char* value) {
  const int cpus = CPLGetNumCPUs();
  if (value == nullptr) value = config_option(ConfigOption::num_threads);
  if (value == nullptr) return static_cast<std::size_t>(std::clamp(cpus, 1, 8));
  const int wanted = EQUAL(value, "ALL_CPUS") ? cpus : std::atoi(value);
  return static_cast<std::size_t>(std::clamp(wanted, 1, 1024));
}

}  // namespace gdal_zarr
