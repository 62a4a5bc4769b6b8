#include "driver/stores/vsi/network_timeouts.h"

#include <cpl_conv.h>

#include <iterator>

#include "driver/gdal/config_options.h"

namespace gdal_zarr {
namespace {

constexpr ConfigOption kTimeouts[] = {ConfigOption::connect_timeout, ConfigOption::low_speed_time,
                                      ConfigOption::low_speed_limit};

}  // namespace

NetworkTimeouts::NetworkTimeouts() {
  static_assert(std::size(kTimeouts) == kOptions);
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (is_set(kTimeouts[i])) continue;
    CPLSetThreadLocalConfigOption(config_option_name(kTimeouts[i]), config_option(kTimeouts[i]));
    is_set_[i] = true;
  }
}

NetworkTimeouts::~NetworkTimeouts() {
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (is_set_[i]) CPLSetThreadLocalConfigOption(config_option_name(kTimeouts[i]), nullptr);
  }
}

}  // namespace gdal_zarr
