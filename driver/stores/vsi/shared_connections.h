// Requests over the connections that all datasets and threads share.
#pragma once

#include <memory>

#include "driver/stores/vsi/http_connection.h"

namespace gdal_zarr {

// Null if GDAL's libcurl cannot be used directly (see curl_library.h).
std::unique_ptr<HttpConnection> make_shared_connections(const HttpFolder& folder);

// Closes these connections. No request may be running.
void close_shared_connections();

}  // namespace gdal_zarr
