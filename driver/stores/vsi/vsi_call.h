// The scope in which the driver calls GDAL's file systems.
#pragma once

#include "driver/gdal/messages.h"
#include "driver/stores/vsi/network_timeouts.h"

namespace gdal_zarr {

// While it lives, the timeouts of NetworkTimeouts apply to this thread, and messages of GDAL are
// held back without their secrets.
struct VsiCall {
  MaskedMessages messages = {};
  NetworkTimeouts timeouts = {};
};

}  // namespace gdal_zarr
