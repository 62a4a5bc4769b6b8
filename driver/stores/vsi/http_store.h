// Stores on web servers and in object stores, where reading a value is one request.
#pragma once

#include <memory>
#include <string>

#include "driver/stores/vsi/absent_keys.h"
#include "driver/stores/vsi/http_options.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The store in such a folder. `vsi_store` is the same store over GDAL's virtual file systems: it
// lists, writes, and fetches values that need several requests. Both count their requests in
// `statistics`, which may be null, and share what is known to be absent: `vsi_store` forgets it on
// refresh(), and when values are put or renamed.
std::shared_ptr<zarrcore::Store> make_http_store(
    HttpFolder folder, std::shared_ptr<zarrcore::Store> vsi_store,
    std::shared_ptr<zarrcore::RequestStatistics> statistics, std::shared_ptr<AbsentKeys> absent);

}  // namespace gdal_zarr
