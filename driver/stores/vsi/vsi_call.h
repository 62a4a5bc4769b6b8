// The scopes in which the driver calls GDAL's file systems and sends requests.
#pragma once

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_vsi.h>
#include <cpl_vsi_error.h>

#include <memory>
#include <string>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {

struct FreeText {
  void operator()(char* text) const { VSIFree(text); }
};
// A text that GDAL has allocated.
using GdalText = std::unique_ptr<char, FreeText>;

// Limits how long GDAL waits for a server, unless its configuration or the path sets limits: a
// server that accepts a connection and never answers must not block a program forever, and a long
// download must not be cut off. While it lives, the following of GDAL's configuration options are
// set for this thread, unless they are set already:
//   GDAL_HTTP_CONNECTTIMEOUT   30 s to connect
//   GDAL_HTTP_LOW_SPEED_TIME   60 s during which less than
//   GDAL_HTTP_LOW_SPEED_LIMIT  1 byte/s arrives
class NetworkTimeouts {
 private:
  static CPLConfigOptionSetter default_of(ConfigOption option) {
    return {config_option_name(option), config_option_default(option), true};
  }

  CPLConfigOptionSetter connect_ = default_of(ConfigOption::connect_timeout);
  CPLConfigOptionSetter low_speed_time_ = default_of(ConfigOption::low_speed_time);
  CPLConfigOptionSetter low_speed_limit_ = default_of(ConfigOption::low_speed_limit);
};

// While it lives, the timeouts of NetworkTimeouts apply to this thread, and messages of GDAL are
// held back without their secrets.
struct VsiCall {
  MaskedMessages messages = {};
  NetworkTimeouts timeouts = {};
};

// For calls whose failures the driver reports itself. While it lives, GDAL's errors are not
// reported; at its end, the previous last error is restored. reason() is for our own messages. The
// timeouts apply as above.
class QuietCall {
 public:
  QuietCall() { VSIErrorReset(); }

  // The server's message; and GDAL's message with the server's. May be empty.
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
