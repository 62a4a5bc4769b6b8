#include "driver/stores/vsi/network_timeouts.h"

#include <cpl_conv.h>

#include <iterator>
#include <string>

#include "driver/gdal/config_options.h"

namespace gdal_zarr {
namespace {

constexpr ConfigOption kTimeouts[] = {ConfigOption::connect_timeout, ConfigOption::low_speed_time,
                                      ConfigOption::low_speed_limit};

std::string name_of(ConfigOption option) {
  return std::string(config_option_row(option).name);
}

}  // namespace

NetworkTimeouts::NetworkTimeouts() {
  static_assert(std::size(kTimeouts) == kOptions);
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (is_set(kTimeouts[i])) continue;
    CPLSetThreadLocalConfigOption(name_of(kTimeouts[i]).c_str(), config_option(kTimeouts[i]));
    is_set_[i] = true;
  }
}

NetworkTimeouts::~NetworkTimeouts() {
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (is_set_[i]) CPLSetThreadLocalConfigOption(name_of(kTimeouts[i]).c_str(), nullptr);
  }
}

}  // namespace gdal_zarr
