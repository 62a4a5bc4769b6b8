// The threads and caches of the process, which all datasets share.
#pragma once

#include <memory>

#include "zarrcore/array/context.h"
#include "zarrcore/store/document_requests.h"

namespace gdal_zarr {

// Bounded for the process, not for each dataset. Lives as long as someone uses it.
std::shared_ptr<zarrcore::Context> shared_context();

// Runs on the threads of the context, with the options and error handlers of the calling thread.
zarrcore::RunTogether run_on(std::shared_ptr<zarrcore::Context> context);

}  // namespace gdal_zarr
