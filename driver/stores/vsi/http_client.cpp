#include "driver/stores/vsi/http_client.h"

#include <cpl_conv.h>
#include <cpl_http.h>
#include <cpl_multiproc.h>
#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/cancellation.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::AccessFailure;

constexpr std::size_t kMaxMessage = 300;

// The first line of an element's text.
std::string element(std::string_view xml, const std::string& name) {
  const std::string start = '<' + name + '>';
  const std::size_t begin = xml.find(start);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + start.size());
  const std::string raw(xml.substr(0, std::min(xml.find_first_of("<\r\n"), kMaxMessage)));
  const GdalText text(CPLUnescapeString(raw.c_str(), nullptr, CPLES_XML));
  std::string line = text.get();
  std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

// In lower case, to recognize what it begins with.
std::string start_of(std::string_view text) {
  return zarrcore::lower_case(text.substr(0, 16));
}

struct DestroyResult {
  void operator()(CPLHTTPResult* result) const { CPLHTTPDestroyResult(result); }
};
using Result = std::unique_ptr<CPLHTTPResult, DestroyResult>;

Result fetch(const std::string& url, const CPLStringList& options) {
  const QuietCall call;
  return Result(CPLHTTPFetch(url.c_str(), options.List()));
}

constexpr std::string_view kStatus = "HTTP error code : ";

// Returns true if the request succeeded after libcurl had sent it again, because a connection that
// had been used before was closed: GDAL reports the first failure instead of the status.
bool lacks_status(const CPLHTTPResult& result) {
  return result.nStatus == 0 && result.pszErrBuf != nullptr && *result.pszErrBuf != 0 &&
         !std::string_view(result.pszErrBuf).starts_with(kStatus);
}

// GDAL's persistent sessions, each with its own connection, which one thread uses at a time.
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

  // A session in use for one request.
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

std::unique_ptr<HttpConnection> make_http_connection(const HttpFolder& folder) {
  if (path_test(folder.path(), ConfigOption::share_connections)) {
    if (auto shared = make_shared_connections(folder)) return shared;
  }
  return std::make_unique<FetchSessions>(folder);
}

std::string headers_for(const HttpFolder& folder, const std::string& range) {
  // Compressed answers have no byte ranges.
  std::string headers = "Accept-Encoding: identity";
  if (!range.empty()) headers += "\r\nRange: bytes=" + range;
  const std::string more = folder.headers();
  return more.empty() ? headers : headers + "\r\n" + more;
}

// A failure that may pass.
class Transient : public AccessFailure {
 public:
  using AccessFailure::AccessFailure;
};

// Returns true if GDAL_HTTP_RETRY_CODES has the status of an answer.
bool is_retried(int status, const std::string& codes) {
  if (EQUAL(codes.c_str(), "ALL")) return true;
  const CPLStringList list(CSLTokenizeString2(codes.c_str(), ", ", 0));
  return list.FindString(std::to_string(status).c_str()) >= 0;
}

// Returns true if a request that ended with this code of curl may succeed when it is repeated: the
// server refused or dropped the connection, or did not answer.
bool is_transient(int curl_code) {
  constexpr std::array kTransient{7, 16, 18, 28, 35, 52, 55, 56, 92};
  return std::find(kTransient.begin(), kTransient.end(), curl_code) != kTransient.end();
}

// Reads a header such as "Content-Range: bytes 0-99/1234", if there is one. The size is "*" when
// the server does not know it.
void read_content_range(const HttpReply& reply, HttpClient::Answer& answer) {
  const char* range = CSLFetchNameValue(reply.headers.List(), "Content-Range");
  if (range == nullptr) return;
  unsigned long long first = 0;
  unsigned long long last = 0;
  unsigned long long size = 0;
  const int found = std::sscanf(range, "bytes %llu-%llu/%llu", &first, &last, &size);
  if (found < 2) {
    throw AccessFailure("the server sent the range \"" + std::string(range) +
                        "\", which cannot be read");
  }
  answer.offset = first;
  if (found == 3) answer.value_size = size;
}

// For a request without a range.
void check_is_whole(const HttpClient::Answer& answer) {
  const std::uint64_t sent = answer.bytes.size();
  if (answer.offset.value_or(0) == 0 && answer.value_size.value_or(sent) == sent) return;
  throw AccessFailure("the server sent " + std::to_string(sent) + " bytes at the offset " +
                      std::to_string(answer.offset.value_or(0)) +
                      " where the whole value was requested");
}

zarrcore::ValueVersion version_of(const HttpReply& reply, const HttpClient::Answer& answer) {
  const auto header = [&](const char* name) -> std::string_view {
    return CSLFetchNameValueDef(reply.headers.List(), name, "");
  };
  if (const auto tag = header("ETag"); !tag.empty()) return version_of_tag(tag);
  // Without a tag, the size has to identify the version. For a part of a value, the size is unknown
  // unless the server states it.
  const std::uint64_t whole_size = answer.offset ? 0 : answer.bytes.size();
  const auto time = header("Last-Modified");
  return zarrcore::ValueVersion({0, time.empty() ? 0 : std::hash<std::string_view>()(time),
                                 answer.value_size.value_or(whole_size), 0});
}

}  // namespace

std::string server_message(std::string_view text) {
  if (text.find("<Error>") == std::string_view::npos) return {};
  const std::string code = element(text, "Code");
  const std::string message = element(text, "Message");
  if (code.empty() || message.empty()) return code + message;
  return (code + ": " + message).substr(0, kMaxMessage);
}

void check_is_no_page(std::string_view content_type, std::string_view body) {
  body.remove_prefix(std::min(body.find_first_not_of(" \t\r\n"), body.size()));
  const std::string type = start_of(content_type);
  const std::string start = start_of(body);
  if (type.starts_with("text/html") &&
      (start.starts_with("<!doctype") || start.starts_with("<html"))) {
    throw zarrcore::NotAValue("the server sent an HTML page instead of the value");
  }
  if ((type.starts_with("application/xml") || type.starts_with("text/xml")) &&
      (start.starts_with("<?xml") || start.starts_with("<error"))) {
    const std::string message = server_message(body);
    throw zarrcore::NotAValue("the server sent XML instead of the value" +
                              (message.empty() ? message : ": " + message));
  }
}

HttpClient::HttpClient(HttpFolder folder, std::shared_ptr<zarrcore::RequestStatistics> statistics)
    : folder_(std::move(folder)),
      connection_(make_http_connection(folder_)),
      statistics_(std::move(statistics)) {}

std::optional<HttpClient::Answer> HttpClient::get_once(std::string_view key,
                                                       const std::string& range,
                                                       std::uint64_t max_size) {
  zarrcore::CountedRequest request(statistics_.get());
  // The text of an error may be longer than the value.
  constexpr std::uint64_t kMinFetched = std::uint64_t{1} << 20;
  HttpReply reply = connection_->get(folder_.url_of(key), headers_for(folder_, range),
                                     std::max(max_size, kMinFetched));
  request.add_bytes(reply.bytes.size());
  const auto check_size = [&](bool is_larger) {
    if (!is_larger) return;
    throw TooLarge("the value has more than the " + std::to_string(max_size) +
                   " bytes that can be right");
  };
  check_size(reply.is_large);
  if (reply.curl_code != 0 || reply.status == 0) {
    if (is_transient(reply.curl_code)) throw Transient(reply.problem);
    throw AccessFailure(reply.problem.empty() ? "the request failed" : reply.problem);
  }
  if (reply.status >= 300) {
    const std::string reason = server_message(reply.bytes.text());
    const std::string problem = "HTTP response code: " + std::to_string(reply.status) +
                                (reason.empty() ? reason : " - " + reason);
    switch (reply.status) {
      case 404:
      case 410:
        return std::nullopt;
      case 401:
      case 403:
        check_denied_is_absent(folder_.path(), problem);
        return std::nullopt;
      case 416:
        throw OutOfRange(problem);
      default:
        break;
    }
    if (is_retried(reply.status, folder_.value(ConfigOption::retry_codes)))
      throw Transient(problem);
    throw AccessFailure(problem);
  }
  check_is_no_page(CSLFetchNameValueDef(reply.headers.List(), "Content-Type", ""),
                   reply.bytes.text());
  check_size(reply.bytes.size() > max_size);
  Answer answer;
  answer.bytes = std::move(reply.bytes);
  read_content_range(reply, answer);
  if (range.empty()) check_is_whole(answer);
  answer.version = version_of(reply, answer);
  return answer;
}

std::optional<HttpClient::Answer> HttpClient::get(std::string_view key, const std::string& range,
                                                  std::uint64_t max_size) {
  const int max_retries = std::atoi(folder_.value(ConfigOption::max_retry).c_str());
  double delay = CPLAtof(folder_.value(ConfigOption::retry_delay).c_str());
  for (int retries = 0;; ++retries) {
    try {
      return get_once(key, range, max_size);
    } catch (const Transient& error) {
      if (retries >= max_retries) throw AccessFailure(error.what());
    }
    zarrcore::Cancellation* const cancellation = zarrcore::Cancellation::current();
    if (cancellation == nullptr) {
      CPLSleep(delay);
    } else if (cancellation->wait_for(std::chrono::duration<double>(delay))) {
      throw AccessFailure("the request was cancelled");
    }
    delay *= 2;
  }
}

}  // namespace gdal_zarr
