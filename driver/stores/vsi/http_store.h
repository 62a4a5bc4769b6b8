// Stores on web servers, where reading a value is one request.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Whether `path` is a folder that make_http_store() can open: /vsicurl/http… without a query.
bool is_http_path(const std::string& path);

// The store in such a folder; read-only. `vsi_store` is the same store over GDAL's virtual file
// systems: it lists, and fetches values that need several requests.
std::shared_ptr<zarrcore::Store> make_http_store(const std::string& path,
                                                 std::shared_ptr<zarrcore::Store> vsi_store);

}  // namespace gdal_zarr
