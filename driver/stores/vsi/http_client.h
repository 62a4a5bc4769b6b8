// HTTP requests for parts of files, one request each. /vsicurl/ asks for a file's size before it
// reads, which doubles the requests of who reads many small files.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Requests over connections that stay open. GDAL's options for HTTP count, those of its
// configuration as well as those that are set for a path. Safe to use from several threads at once.
class HttpClient {
 public:
  HttpClient() = default;
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // More than was wanted would have come.
  class TooLarge : public zarrcore::Error {
   public:
    using Error::Error;
  };

  // The file ends before the range begins.
  class OutOfRange : public zarrcore::Error {
   public:
    using Error::Error;
  };

  // What a server sent.
  struct Answer {
    zarrcore::Buffer bytes;
    // Where the bytes stand, and the size of the whole file; nothing when the server sent all of
    // it.
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> value_size;
    // By the ETag or the time of the last change, and the size.
    zarrcore::ValueVersion version;
  };

  // Gets the file at `url`, or the `range` of an HTTP Range header ("0-99", "-20") of it. Nothing
  // when there is no such file. A server that does not know ranges sends all of the file. Throws
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
