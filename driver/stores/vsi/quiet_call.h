// Calls of GDAL's file systems whose failures the driver reports itself.
#pragma once

#include <cpl_error.h>
#include <cpl_vsi_error.h>

#include <string>

#include "driver/gdal/messages.h"
#include "driver/stores/vsi/network_timeouts.h"

namespace gdal_zarr {

// While it lives, GDAL's errors are neither reported nor left behind: reason() is for our own.
class QuietCall {
 public:
  QuietCall() { VSIErrorReset(); }

  // What the server said, and what GDAL and the server said; may be empty.
  static std::string server_reason() { return mask_secrets(VSIGetLastErrorMsg()); }
  static std::string reason() {
    const std::string server = VSIGetLastErrorMsg();
    const std::string gdal = CPLGetLastErrorMsg();
    return mask_secrets(server.empty() || gdal.empty() ? server + gdal : gdal + ": " + server);
  }

 private:
  QuietErrors quiet_;
  NetworkTimeouts timeouts_;
};

}  // namespace gdal_zarr
