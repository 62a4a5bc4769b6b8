// How a request reaches a server and its reply comes back: over connections that all requests of
// the process share, or, where GDAL's libcurl cannot be used directly, with CPLHTTPFetch().
#pragma once

#include <cpl_string.h>

#include <cstdint>
#include <memory>
#include <string>

#include "driver/stores/vsi/http_options.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

struct HttpReply {
  int status = 0;         // of HTTP; 0 if the server did not reply
  int curl_code = 0;      // of libcurl; not 0 if the transfer failed
  std::string problem;    // why it failed
  bool is_large = false;  // more bytes than allowed: `bytes` are not complete
  CPLStringList headers;  // as NAME=VALUE
  zarrcore::Buffer bytes;
};

// Requests for values of one folder. Safe to use from several threads at once.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;

  // Sends one GET request, without retries. `headers` are separated by CR LF; GDAL's options for
  // the folder apply. Sets no error of GDAL.
  virtual HttpReply get(const std::string& url, const std::string& headers,
                        std::uint64_t max_size) = 0;
};

// As ZARR_SHARE_CONNECTIONS says. The folder must outlive the connection.
std::unique_ptr<HttpConnection> make_http_connection(const HttpFolder& folder);

}  // namespace gdal_zarr
