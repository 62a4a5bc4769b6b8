#include "driver/stores/vsi/network_timeouts.h"

#include <cpl_conv.h>

namespace gdal_zarr {
namespace {

struct Timeout {
  const char* option;
  const char* value;
};
constexpr Timeout kTimeouts[] = {{"GDAL_HTTP_CONNECTTIMEOUT", "30"},
                                 {"GDAL_HTTP_LOW_SPEED_TIME", "60"},
                                 {"GDAL_HTTP_LOW_SPEED_LIMIT", "1"}};

}  // namespace

NetworkTimeouts::NetworkTimeouts() {
  static_assert(std::size(kTimeouts) == kOptions);
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (CPLGetConfigOption(kTimeouts[i].option, nullptr) != nullptr) continue;
    CPLSetThreadLocalConfigOption(kTimeouts[i].option, kTimeouts[i].value);
    is_set_[i] = true;
  }
}

NetworkTimeouts::~NetworkTimeouts() {
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (is_set_[i]) CPLSetThreadLocalConfigOption(kTimeouts[i].option, nullptr);
  }
}

}  // namespace gdal_zarr
