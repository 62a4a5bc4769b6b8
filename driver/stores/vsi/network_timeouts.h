// Limits how long GDAL waits for a server, unless its configuration or the path sets limits: a
// server that accepts a connection and never answers must not block a program forever, and a long
// download must not be cut off.
#pragma once

#include <cpl_conv.h>

#include "driver/gdal/config_options.h"

namespace gdal_zarr {

// While it lives, sets for this thread those of GDAL's configuration options that are not set:
//   GDAL_HTTP_CONNECTTIMEOUT   30 s to connect
//   GDAL_HTTP_LOW_SPEED_TIME   60 s during which less than
//   GDAL_HTTP_LOW_SPEED_LIMIT  1 byte/s arrives
class NetworkTimeouts {
  struct Default : CPLConfigOptionSetter {
    explicit Default(ConfigOption option)
        : CPLConfigOptionSetter(config_option_name(option), config_option(option), true) {}
  };

  Default connect_{ConfigOption::connect_timeout};
  Default low_speed_time_{ConfigOption::low_speed_time};
  Default low_speed_limit_{ConfigOption::low_speed_limit};
};

}  // namespace gdal_zarr
