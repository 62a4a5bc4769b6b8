#include "driver/stores/vsi/http_client.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_http.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>

#include "driver/stores/vsi/network_timeouts.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

struct DestroyResult {
  void operator()(CPLHTTPResult* result) const { CPLHTTPDestroyResult(result); }
};
using Result = std::unique_ptr<CPLHTTPResult, DestroyResult>;

// Silences GDAL: the caller reports failures, with the name of the value.
Result fetch(const std::string& url, const CPLStringList& options) {
  CPLPushErrorHandler(CPLQuietErrorHandler);
  Result result(CPLHTTPFetch(url.c_str(), options.List()));
  CPLPopErrorHandler();
  CPLErrorReset();
  return result;
}

const char* path_option(const std::string& url, const char* name) {
  return VSIGetPathSpecificOption(("/vsicurl/" + url).c_str(), name, nullptr);
}

// The options that are set for this path; GDAL itself looks up its configuration options.
CPLStringList path_options(const std::string& url) {
  static constexpr std::array<std::pair<const char*, const char*>, 12> kOptions{{
      {"GDAL_HTTP_AUTH", "HTTPAUTH"},
      {"GDAL_HTTP_CONNECTTIMEOUT", "CONNECTTIMEOUT"},
      {"GDAL_HTTP_HEADER_FILE", "HEADER_FILE"},
      {"GDAL_HTTP_LOW_SPEED_LIMIT", "LOW_SPEED_LIMIT"},
      {"GDAL_HTTP_LOW_SPEED_TIME", "LOW_SPEED_TIME"},
      {"GDAL_HTTP_MAX_RETRY", "MAX_RETRY"},
      {"GDAL_HTTP_PROXY", "PROXY"},
      {"GDAL_HTTP_PROXYUSERPWD", "PROXYUSERPWD"},
      {"GDAL_HTTP_RETRY_DELAY", "RETRY_DELAY"},
      {"GDAL_HTTP_TIMEOUT", "TIMEOUT"},
      {"GDAL_HTTP_UNSAFESSL", "UNSAFESSL"},
      {"GDAL_HTTP_USERPWD", "USERPWD"},
  }};
  CPLStringList options;
  for (const auto& [name, option] : kOptions) {
    if (const char* value = path_option(url, name)) {
      options.SetNameValue(option, value);
    }
  }
  return options;
}

std::string headers_for(const std::string& url, const std::string& range) {
  // Compressed answers have no byte ranges.
  std::string headers = "Accept-Encoding: identity";
  if (!range.empty()) headers += "\r\nRange: bytes=" + range;
  if (const char* more = path_option(url, "GDAL_HTTP_HEADERS")) {
    headers += std::string("\r\n") + more;
  }
  return headers;
}

// Reads a header such as "Content-Range: bytes 0-99/1234", if there is one.
void read_content_range(const CPLHTTPResult& result, HttpClient::Answer& answer) {
  const char* range = CSLFetchNameValue(result.papszHeaders, "Content-Range");
  if (range == nullptr) return;
  unsigned long long first = 0;
  unsigned long long size = 0;
  if (std::sscanf(range, "bytes %llu-%*u/%llu", &first, &size) != 2) {
    throw Error("the server sent the range \"" + std::string(range) + "\", which cannot be read");
  }
  answer.offset = first;
  answer.value_size = size;
}

zarrcore::ValueVersion version_of(const CPLHTTPResult& result, const HttpClient::Answer& answer) {
  const auto hash_of = [&](const char* name) -> std::uint64_t {
    std::string_view value = CSLFetchNameValueDef(result.papszHeaders, name, "");
    // Servers mark tags of files that they compress as weak.
    if (value.starts_with("W/")) value.remove_prefix(2);
    return value.empty() ? 0 : std::hash<std::string_view>()(value);
  };
  return zarrcore::ValueVersion({hash_of("ETag"), hash_of("Last-Modified"),
                                 answer.value_size.value_or(answer.bytes.size()), 0});
}

// GDAL's status for a file larger than allowed: curl's error code.
constexpr int kFileSizeExceeded = 63;

}  // namespace

// A persistent session, taken from the client for one request.
class HttpClient::Session {
 public:
  explicit Session(HttpClient& client) : client_(client) {
    const std::lock_guard lock(client.mutex_);
    if (client.idle_.empty()) {
      client.idle_.reserve(client.session_count_ + 1);  // so that the destructor cannot fail
      name_ = CPLSPrintf("Zarr:%p:%d", static_cast<void*>(&client),
                         static_cast<int>(client.session_count_++));
    } else {
      name_ = std::move(client.idle_.back());
      client.idle_.pop_back();
    }
  }
  ~Session() {
    const std::lock_guard lock(client_.mutex_);
    client_.idle_.push_back(std::move(name_));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& name() const { return name_; }

 private:
  HttpClient& client_;
  std::string name_;
};

HttpClient::~HttpClient() {
  for (const std::string& name : idle_) {
    CPLStringList options;
    options.SetNameValue("CLOSE_PERSISTENT", name.c_str());
    fetch("", options);
  }
}

std::optional<HttpClient::Answer> HttpClient::get(const std::string& url, const std::string& range,
                                                  std::uint64_t max_size) {
  const Session session(*this);
  const NetworkTimeouts timeouts;
  CPLStringList options = path_options(url);
  options.SetNameValue("PERSISTENT", session.name().c_str());
  options.SetNameValue("HEADERS", headers_for(url, range).c_str());
  // GDAL counts in int.
  constexpr std::uint64_t kMaxFetched = INT_MAX - 1;
  options.SetNameValue("MAX_FILE_SIZE", std::to_string(std::min(max_size, kMaxFetched)).c_str());
  const Result result = fetch(url, options);
  if (!result) throw Error("the request failed");
  if (result->nStatus == kFileSizeExceeded) {
    throw TooLarge("the value has more than the " + std::to_string(max_size) +
                   " bytes that can be right");
  }
  const std::string message = result->pszErrBuf != nullptr ? result->pszErrBuf : "";
  constexpr std::string_view kStatus = "HTTP error code : ";
  if (message.starts_with(kStatus)) {
    const int status = std::atoi(message.c_str() + kStatus.size());
    if (status == 404 || status == 410) return std::nullopt;
    const std::string problem = "HTTP response code: " + std::to_string(status);
    if (status == 416) throw OutOfRange(problem);
    throw Error(problem);
  }
  if (result->nStatus != 0 || !message.empty()) {
    throw Error(message.empty() ? "the request failed" : message);
  }
  Answer answer;
  answer.bytes =
      Buffer::copy_of(zarrcore::ByteSpan(reinterpret_cast<const std::byte*>(result->pabyData),
                                         static_cast<std::size_t>(result->nDataLen)));
  read_content_range(*result, answer);
  answer.version = version_of(*result, answer);
  return answer;
}

}  // namespace gdal_zarr
