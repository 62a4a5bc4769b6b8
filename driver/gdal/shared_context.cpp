#include "driver/gdal/shared_context.h"

#include <gdal.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

#include "driver/gdal/worker_scope.h"

namespace gdal_zarr {

std::shared_ptr<zarrcore::Context> shared_context() {
  static std::mutex mutex;
  static auto& current = *new std::weak_ptr<zarrcore::Context>;
  const std::lock_guard lock(mutex);
  auto context = current.lock();
  if (!context) {
    context = std::make_shared<zarrcore::Context>();
    current = context;
  }
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
