// Stores over GDAL's virtual file systems.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The store in the folder `name`: zarrcore's own for local paths; for /vsi… paths one over GDAL's
// virtual file systems, which read archives, HTTP and object stores.
std::shared_ptr<zarrcore::Store> make_store(const std::string& name);

// How many requests to make in parallel over the network.
std::size_t parallel_network_requests();

}  // namespace gdal_zarr
