#include "driver/stores/vsi/http_connection.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_http.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/stores/vsi/network_timeouts.h"
#include "driver/stores/vsi/shared_connections.h"

namespace gdal_zarr {
namespace {

struct DestroyResult {
  void operator()(CPLHTTPResult* result) const { CPLHTTPDestroyResult(result); }
};
using Result = std::unique_ptr<CPLHTTPResult, DestroyResult>;

// Silences GDAL: the caller reports failures, with the name of the value.
Result fetch(const std::string& url, const CPLStringList& options) {
  const QuietErrors quiet;
  return Result(CPLHTTPFetch(url.c_str(), options.List()));
}

constexpr std::string_view kStatus = "HTTP error code : ";

// Returns true if the request succeeded after libcurl had sent it again, because a connection that
// had been used before was closed: GDAL reports the first failure instead of the status.
bool lacks_status(const CPLHTTPResult& result) {
  return result.nStatus == 0 && result.pszErrBuf != nullptr && *result.pszErrBuf != 0 &&
         !std::string_view(result.pszErrBuf).starts_with(kStatus);
}

// GDAL's persistent sessions, each with a connection of its own that one thread uses at a time.
class FetchSessions final : public HttpConnection {
 public:
  explicit FetchSessions(const HttpFolder& folder) : folder_(folder) {}
  FetchSessions(const FetchSessions&) = delete;
  FetchSessions& operator=(const FetchSessions&) = delete;

  ~FetchSessions() override {
    for (const std::string& name : idle_) {
      CPLStringList options;
      options.SetNameValue("CLOSE_PERSISTENT", name.c_str());
      fetch("", options);
    }
  }

  HttpReply get(const std::string& url, const std::string& headers,
                std::uint64_t max_size) override {
    const Session session(*this);
    const HttpOptionScope scope(folder_);
    const NetworkTimeouts timeouts;
    CPLStringList options;
    options.SetNameValue("PERSISTENT", session.name().c_str());
    options.SetNameValue("HEADERS", headers.c_str());
    options.SetNameValue("MAX_RETRY", "0");
    // GDAL counts in int.
    constexpr std::uint64_t kMaxFetched = INT_MAX - 1;
    const std::uint64_t limit = std::min(max_size, kMaxFetched);
    options.SetNameValue("MAX_FILE_SIZE", std::to_string(limit).c_str());
    Result result = fetch(url, options);
    if (result && lacks_status(*result)) result = fetch(url, options);
    HttpReply reply;
    if (!result) {
      reply.problem = "the request failed";
      return reply;
    }
    reply.headers = CPLStringList(CSLDuplicate(result->papszHeaders), TRUE);
    const std::string message = result->pszErrBuf != nullptr ? result->pszErrBuf : "";
    const auto received = static_cast<std::uint64_t>(result->nDataLen);
    if (result->nStatus == kFileSizeExceeded || received > limit) {
      reply.is_large = true;
    } else if (message.starts_with(kStatus)) {
      reply.status = std::atoi(message.c_str() + kStatus.size());
    } else if (result->nStatus != 0 || !message.empty()) {
      reply.curl_code = result->nStatus;
      reply.problem = message.empty() ? "the request failed" : message;
    } else {
      reply.status = 200;
    }
    reply.bytes = zarrcore::Buffer::copy_of(zarrcore::ByteSpan(
        reinterpret_cast<const std::byte*>(result->pabyData), static_cast<std::size_t>(received)));
    return reply;
  }

 private:
  // GDAL's status for a file larger than allowed: curl's error code. Without an announced length,
  // GDAL ends the transfer when it has received more.
  static constexpr int kFileSizeExceeded = 63;

  // Taken for one request.
  class Session {
   public:
    explicit Session(FetchSessions& all) : all_(all) {
      const std::lock_guard lock(all.mutex_);
      if (all.idle_.empty()) {
        all.idle_.reserve(all.count_ + 1);  // so that the destructor cannot fail
        name_ = CPLSPrintf("Zarr:%p:%d", static_cast<void*>(&all), static_cast<int>(all.count_++));
      } else {
        name_ = std::move(all.idle_.back());
        all.idle_.pop_back();
      }
    }
    ~Session() {
      const std::lock_guard lock(all_.mutex_);
      all_.idle_.push_back(std::move(name_));
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const std::string& name() const { return name_; }

   private:
    FetchSessions& all_;
    std::string name_;
  };

  const HttpFolder& folder_;
  std::mutex mutex_;
  std::vector<std::string> idle_;  // names of sessions
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<HttpConnection> make_http_connection(const HttpFolder& folder) {
  if (path_test(folder.path(), ConfigOption::share_connections)) {
    if (auto shared = make_shared_connections(folder)) return shared;
  }
  return std::make_unique<FetchSessions>(folder);
}

}  // namespace gdal_zarr
