// Stores over GDAL's virtual file systems.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

class AbsentKeys;
class HttpFolder;

// The store in the folder `name`: zarrcore's own for local paths; for /vsi… paths one over GDAL's
// virtual file systems, which read archives, HTTP and object stores.
std::shared_ptr<zarrcore::Store> make_store(const std::string& name);

// The store in a folder on a web server or in an object store, where reading a value is one request
// (http_store.cpp). `vsi_store` is the same store over GDAL's virtual file systems: it lists,
// writes, and fetches values that need several requests. Both count their requests in `statistics`,
// which may be null, and share what is known to be absent: `vsi_store` forgets it on refresh(), and
// when values are put or renamed.
std::shared_ptr<zarrcore::Store> make_http_store(
    HttpFolder folder, std::shared_ptr<zarrcore::Store> vsi_store,
    std::shared_ptr<zarrcore::RequestStatistics> statistics, std::shared_ptr<AbsentKeys> absent);

// Warns, once for each flag, that changes of other programs in the store at `root` can be lost.
void warn_of_other_writers(const std::string& root, std::atomic<bool>& has_warned);

// How many requests to make in parallel over the network.
std::size_t parallel_network_requests();

}  // namespace gdal_zarr
