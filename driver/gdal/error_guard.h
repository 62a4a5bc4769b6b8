// The border between exceptions and GDAL's error handling: every function that GDAL calls and that
// can fail runs its body in `guarded`.
#pragma once

#include <cpl_error.h>

#include <exception>
#include <new>
#include <utility>

#include "driver/gdal/messages.h"

namespace gdal_zarr {

// Runs `body` and returns its result. An exception becomes a CE_Failure with its text, and
// `failure` is returned. The first failure of the call is then GDAL's last error.
template <typename Result, typename Body>
Result guarded(Result failure, Body&& body) noexcept {
  FirstFailure first_failure;
  try {
    Result result = std::forward<Body>(body)();
    if (result != failure) first_failure.forget();
    return result;
  } catch (const std::bad_alloc&) {
    report(CE_Failure, CPLE_OutOfMemory, "Zarr: not enough memory");
  } catch (const std::exception& exception) {
    report(CE_Failure, CPLE_AppDefined, "Zarr: %s", exception.what());
  }
  FirstFailure::note();
  return failure;
}

}  // namespace gdal_zarr
