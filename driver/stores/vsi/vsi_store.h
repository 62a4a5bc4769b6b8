// Stores over GDAL's virtual file systems.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The store in the folder `name`: zarrcore's own for local paths; for /vsi… paths one over GDAL's
// virtual file systems, which read archives, HTTP and object stores.
std::shared_ptr<zarrcore::Store> make_store(const std::string& name);

// Warns, once for each flag, that changes of other programs in the store at `root` can be lost.
void warn_of_other_writers(const std::string& root, std::atomic<bool>& has_warned);

// How many requests to make in parallel over the network.
std::size_t parallel_network_requests();

}  // namespace gdal_zarr
