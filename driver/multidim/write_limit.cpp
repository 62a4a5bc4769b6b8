#include "driver/multidim/write_limit.h"

#include <cpl_conv.h>

#include <algorithm>

#include "driver/gdal/config_options.h"
#include "driver/multidim/array.h"
#include "driver/multidim/session.h"
#include "zarrcore/array/array_writer.h"

namespace gdal_zarr {

std::uint64_t WriteLimit::max_bytes() {
  constexpr GIntBig kLeast = 1 << 20;
  const char* text = config_option(ConfigOption::write_cache_size);
  if (text == nullptr) return zarrcore::WriterOptions::kDefaultMaxBytes;
  return static_cast<std::uint64_t>(std::max(kLeast, CPLAtoGIntBig(text)));
}

void WriteLimit::enforce(const Array& current) {
  // Adding up all arrays after every small write would be too slow.
  constexpr unsigned kInterval = 64;
  if (++writes_ % kInterval != 0 && current.pending_bytes() <= max_bytes() / 2) return;
  const auto arrays = session_.live_arrays();
  std::uint64_t bytes = 0;
  for (const auto& array : arrays) bytes += array->pending_bytes();
  if (bytes <= max_bytes()) return;
  for (const auto& array : arrays) {
    if (array.get() != &current) array->flush();
  }
}

}  // namespace gdal_zarr
