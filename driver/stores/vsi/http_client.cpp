#include "driver/stores/vsi/http_client.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_http.h>
#include <cpl_multiproc.h>
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
#include "driver/stores/vsi/server_message.h"
#include "driver/stores/vsi/vsi_file.h"
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
  const CPLErrorStateBackuper state;
  CPLPushErrorHandler(CPLQuietErrorHandler);
  Result result(CPLHTTPFetch(url.c_str(), options.List()));
  CPLPopErrorHandler();
  return result;
}

std::string headers_for(const HttpFolder& folder, const std::string& range) {
  // Compressed answers have no byte ranges.
  std::string headers = "Accept-Encoding: identity";
  if (!range.empty()) headers += "\r\nRange: bytes=" + range;
  const std::string more = folder.headers();
  return more.empty() ? headers : headers + "\r\n" + more;
}

// A failure that may pass.
class Transient : public Error {
 public:
  using Error::Error;
};

// Whether GDAL_HTTP_RETRY_CODES has the status of an answer.
bool is_retried(int status, const std::string& codes) {
  if (EQUAL(codes.c_str(), "ALL")) return true;
  const CPLStringList list(CSLTokenizeString2(codes.c_str(), ", ", 0));
  return list.FindString(std::to_string(status).c_str()) >= 0;
}

// Whether a request that ended with this code of curl may succeed when it is repeated: the server
// refused or dropped the connection, or did not answer.
bool is_transient(int curl_code) {
  constexpr std::array kCodes{7, 16, 18, 28, 35, 52, 55, 56, 92};
  return std::find(kCodes.begin(), kCodes.end(), curl_code) != kCodes.end();
}

std::string_view text_of(const CPLHTTPResult& result) {
  return {reinterpret_cast<const char*>(result.pabyData),
          static_cast<std::size_t>(result.nDataLen)};
}

// Reads a header such as "Content-Range: bytes 0-99/1234", if there is one. The size is "*" when
// the server does not know it.
void read_content_range(const CPLHTTPResult& result, HttpClient::Answer& answer) {
  const char* range = CSLFetchNameValue(result.papszHeaders, "Content-Range");
  if (range == nullptr) return;
  unsigned long long first = 0;
  unsigned long long last = 0;
  unsigned long long size = 0;
  const int found = std::sscanf(range, "bytes %llu-%llu/%llu", &first, &last, &size);
  if (found < 2) {
    throw Error("the server sent the range \"" + std::string(range) + "\", which cannot be read");
  }
  answer.offset = first;
  if (found == 3) answer.value_size = size;
}

// For a request without a range.
void check_is_whole(const HttpClient::Answer& answer) {
  const std::uint64_t sent = answer.bytes.size();
  if (answer.offset.value_or(0) == 0 && answer.value_size.value_or(sent) == sent) return;
  throw Error("the server sent " + std::to_string(sent) + " bytes at the offset " +
              std::to_string(*answer.offset) + " where the whole value was requested");
}

zarrcore::ValueVersion version_of(const CPLHTTPResult& result, const HttpClient::Answer& answer) {
  const auto hash_of = [&](const char* name) -> std::uint64_t {
    std::string_view value = CSLFetchNameValueDef(result.papszHeaders, name, "");
    // Servers mark tags of files that they compress as weak.
    if (value.starts_with("W/")) value.remove_prefix(2);
    return value.empty() ? 0 : std::hash<std::string_view>()(value);
  };
  const std::uint64_t tag = hash_of("ETag");
  if (tag != 0) return zarrcore::ValueVersion({tag, 0, 0, 0});
  // Without a tag, the size must do. That of a part is unknown when the server does not say it.
  const std::uint64_t whole_size = answer.offset ? 0 : answer.bytes.size();
  return zarrcore::ValueVersion(
      {0, hash_of("Last-Modified"), answer.value_size.value_or(whole_size), 0});
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

std::optional<HttpClient::Answer> HttpClient::get_once(std::string_view key,
                                                       const std::string& range,
                                                       std::uint64_t max_size) {
  const Session session(*this);
  const HttpOptionScope scope(folder_);
  const NetworkTimeouts timeouts;
  CPLStringList options;
  options.SetNameValue("PERSISTENT", session.name().c_str());
  options.SetNameValue("HEADERS", headers_for(folder_, range).c_str());
  options.SetNameValue("MAX_RETRY", "0");
  // The text of an error may be longer than the value. GDAL counts in int.
  constexpr std::uint64_t kMinFetched = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMaxFetched = INT_MAX - 1;
  const std::uint64_t max_fetched = std::clamp(max_size, kMinFetched, kMaxFetched);
  options.SetNameValue("MAX_FILE_SIZE", std::to_string(max_fetched).c_str());
  const Result result = fetch(folder_.url_of(key), options);
  if (!result) throw Error("the request failed");
  const auto check_size = [&](bool is_larger) {
    if (!is_larger) return;
    throw TooLarge("the value has more than the " + std::to_string(max_size) +
                   " bytes that can be right");
  };
  check_size(result->nStatus == kFileSizeExceeded);
  const std::string message = result->pszErrBuf != nullptr ? result->pszErrBuf : "";
  constexpr std::string_view kStatus = "HTTP error code : ";
  if (message.starts_with(kStatus)) {
    const int status = std::atoi(message.c_str() + kStatus.size());
    if (status == 404 || status == 410) return std::nullopt;
    const std::string reason = server_message(text_of(*result));
    const std::string problem = "HTTP response code: " + std::to_string(status) +
                                (reason.empty() ? reason : " - " + reason);
    if (status == 401 || status == 403) {
      check_denied_is_absent(folder_.path(), problem);
      return std::nullopt;
    }
    if (status == 416) throw OutOfRange(problem);
    const std::string codes =
        folder_.option("GDAL_HTTP_RETRY_CODES").value_or("408,429,500,502,503,504");
    if (is_retried(status, codes)) throw Transient(problem);
    throw Error(problem);
  }
  if (result->nStatus != 0 || !message.empty()) {
    const std::string problem = message.empty() ? "the request failed" : message;
    if (is_transient(result->nStatus)) throw Transient(problem);
    throw Error(problem);
  }
  check_is_no_page(CSLFetchNameValueDef(result->papszHeaders, "Content-Type", ""),
                   text_of(*result));
  check_size(static_cast<std::uint64_t>(result->nDataLen) > max_size);
  Answer answer;
  answer.bytes =
      Buffer::copy_of(zarrcore::ByteSpan(reinterpret_cast<const std::byte*>(result->pabyData),
                                         static_cast<std::size_t>(result->nDataLen)));
  read_content_range(*result, answer);
  if (range.empty()) check_is_whole(answer);
  answer.version = version_of(*result, answer);
  return answer;
}

std::optional<HttpClient::Answer> HttpClient::get(std::string_view key, const std::string& range,
                                                  std::uint64_t max_size) {
  const int max_retries = std::atoi(folder_.option("GDAL_HTTP_MAX_RETRY").value_or("0").c_str());
  double delay = CPLAtof(folder_.option("GDAL_HTTP_RETRY_DELAY").value_or("30").c_str());
  for (int retries = 0;; ++retries) {
    try {
      return get_once(key, range, max_size);
    } catch (const Transient& error) {
      if (retries >= max_retries) throw Error(error.what());
    }
    CPLSleep(delay);
    delay *= 2;
  }
}

}  // namespace gdal_zarr
