// HTTP requests for parts of files, one request each. /vsicurl/ requests a file's size before it
// reads, which doubles the number of requests for many small files.
#pragma once

#include <cpl_string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "driver/stores/vsi/http_options.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

struct HttpReply {
  int status = 0;         // of HTTP; 0 if the server did not reply
  int curl_code = 0;      // of libcurl; not 0 if the transfer failed
  std::string problem;    // why it failed
  bool is_large = false;  // more bytes than allowed: `bytes` are not complete
  CPLStringList headers;  // as NAME=VALUE
  zarrcore::Buffer bytes;
};

// Sends requests for values of one folder to a server and receives the replies. Safe to use from
// several threads at once.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;

  // Sends one GET request, without retries. `headers` are separated by CR LF; GDAL's options for
  // the folder apply. Sets no error of GDAL.
  virtual HttpReply get(const std::string& url, const std::string& headers,
                        std::uint64_t max_size) = 0;
};

// Over connections that all requests of the process share; null if GDAL's libcurl cannot be used
// directly (see http_transfers.h). The folder must outlive the result.
std::unique_ptr<HttpConnection> make_shared_connections(const HttpFolder& folder);
// Closes these connections. No request may be running.
void close_shared_connections();

// "AccessDenied: Access Denied" of the XML with which object stores explain an error, in one line
// of at most 300 bytes. Empty for other texts.
std::string server_message(std::string_view text);

// Throws zarrcore::NotAValue if the body of a successful answer is a page for people, or an object
// store's explanation of an error.
void check_is_no_page(std::string_view content_type, std::string_view body);

// Requests for files of a folder, over connections that stay open and that ZARR_SHARE_CONNECTIONS
// lets threads and datasets share. GDAL's HTTP options apply. Safe to use from several threads at
// once.
class HttpClient {
 public:
  // Counts requests in `statistics`, unless it is null.
  HttpClient(HttpFolder folder, std::shared_ptr<zarrcore::RequestStatistics> statistics);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // The server would send more than the limit.
  class TooLarge : public zarrcore::Error {
   public:
    using Error::Error;
  };

  // The range begins after the end of the file.
  class OutOfRange : public zarrcore::Error {
   public:
    using Error::Error;
  };

  // The answer of a server.
  struct Answer {
    zarrcore::Buffer bytes;
    // The offset of the bytes in the file; empty when the server sent all of it, or does not state
    // that it sent a part.
    std::optional<std::uint64_t> offset;
    // The size of the file, if the server sent a part of it and knows the size.
    std::optional<std::uint64_t> value_size;
    // From the ETag, or else from the time of the last change and the size.
    zarrcore::ValueVersion version;
  };

  // Gets the file of `key`, or the `range` of an HTTP Range header ("0-99", "-20") of it. Empty
  // when there is no such file. A server without support for ranges sends the whole file. Failures
  // that may pass are retried as GDAL_HTTP_MAX_RETRY says. Throws zarrcore::Error,
  // zarrcore::AccessDenied, TooLarge when the file has more than `max_size` bytes, OutOfRange.
  std::optional<Answer> get(std::string_view key, const std::string& range, std::uint64_t max_size);

  const HttpFolder& folder() const { return folder_; }

 private:
  std::optional<Answer> get_once(std::string_view key, const std::string& range,
                                 std::uint64_t max_size);

  HttpFolder folder_;
  std::unique_ptr<HttpConnection> connection_;
  std::shared_ptr<zarrcore::RequestStatistics> statistics_;
};

}  // namespace gdal_zarr
