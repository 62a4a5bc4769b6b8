// HTTP requests for parts of files, one request each. /vsicurl/ asks for a file's size before it
// reads, which doubles the number of requests for many small files.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Requests over connections that stay open. GDAL's HTTP options apply: configuration options and
// those set for a path. Safe to use from several threads at once.
class HttpClient {
 public:
  HttpClient() = default;
  ~HttpClient();
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
    // The offset of the bytes, and the size of the whole file; empty when the server sent all of
    // it.
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> value_size;
    // Of the ETag, the time of the last change and the size.
    zarrcore::ValueVersion version;
  };

  // Gets the file at `url`, or the `range` of an HTTP Range header ("0-99", "-20") of it. Empty
  // when there is no such file. A server without support for ranges sends the whole file. Throws
  // zarrcore::Error, TooLarge when it has more than `max_size` bytes, OutOfRange.
  std::optional<Answer> get(const std::string& url, const std::string& range,
                            std::uint64_t max_size);

 private:
  class Session;

  std::mutex mutex_;
  std::vector<std::string> idle_;  // names of GDAL's persistent sessions
  std::size_t session_count_ = 0;
};

}  // namespace gdal_zarr
