#include "autotest/driver/cpp/hostile_answers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace gdal_zarr::test {
namespace {

using Then = ScriptedAnswer::Then;

const std::string kTagHeader = "ETag: " + std::string(kTag) + "\r\n";
const std::string kXml = "Content-Type: application/xml\r\n";
constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
constexpr std::size_t kTooMuch = std::size_t{2} << 20;

// As object stores explain errors.
std::string explanation(int status) {
  return R"(<?xml version="1.0" encoding="UTF-8"?><Error><Code>Code)" + std::to_string(status) +
         "</Code><Message>So it is &amp; stays</Message></Error>";
}

template <int kStatus>
ScriptedAnswer explained(const ValueRequest& request) {
  return {request.answer(kStatus, kXml, explanation(kStatus))};
}

template <int kStatus>
ScriptedAnswer unexplained(const ValueRequest& request) {
  return {request.raw_answer(kStatus, "", "")};
}

std::string half(const std::string& body) {
  return body.substr(0, body.size() / 2);
}

ScriptedAnswer chunked(const ValueRequest& request, const std::string& body, bool is_complete) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", body.size());
  const std::string chunk = body.empty() ? body : size.data() + body + "\r\n";
  return {request.raw_answer(request.status(), request.headers() + "Transfer-Encoding: chunked\r\n",
                             is_complete ? chunk + "0\r\n\r\n" : chunk),
          is_complete ? Then::next_request : Then::close};
}

void append_little_endian(std::string& bytes, std::uint32_t number, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xffU);
}

// A file of gzip with one block, which is not compressed.
std::string gzip(const std::string& text) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0);
  }
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  append_little_endian(packed, size, 2);
  append_little_endian(packed, ~size, 2);
  packed += text;
  append_little_endian(packed, ~crc, 4);
  append_little_endian(packed, size, 4);
  return packed;
}

// A range is one of the compressed value.
ScriptedAnswer in_gzip(const ValueRequest& request, const std::string& packed) {
  const std::string range =
      request.range().empty() ? std::string() : "Range: " + request.range() + "\r\n";
  const ValueRequest wanted("GET " + request.path() + " HTTP/1.1\r\n" + range + "\r\n", packed);
  return {request.answer(wanted.status(), wanted.headers() + "Content-Encoding: gzip\r\n",
                         wanted.body())};
}

std::map<std::string, HostileAnswer> statuses() {
  return {
      {"204", &unexplained<204>},
      {"304", &unexplained<304>},
      {"400", &explained<400>},
      {"401", &explained<401>},
      {"403", &explained<403>},
      {"404", &explained<404>},
      {"408", &explained<408>},
      {"410", &explained<410>},
      {"416", &explained<416>},
      {"429", &explained<429>},
      {"500", &explained<500>},
      {"503", &explained<503>},
      {"retry after",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(429, "Retry-After: 3600\r\n", "")};
       }},
      {"page",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(200, "Content-Type: text/html; charset=utf-8\r\n",
                                "<!DOCTYPE html><html><body>Please log in</body></html>")};
       }},
      {"error with the status 200",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(200, kXml, explanation(500))};
       }},
      {"redirect loop",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(302, "Location: " + request.path() + "\r\n", "")};
       }},
      // The other host is honest, unless it gets the password of this one.
      {"redirect to another host",
       [](const ValueRequest& request) -> ScriptedAnswer {
         const std::string host = request.header("Host");
         if (host.starts_with("localhost")) {
           if (!request.header("Authorization").empty()) return explained<401>(request);
           return request.honest_answer();
         }
         const std::string other = "http://localhost" + host.substr(host.find(':'));
         return {request.answer(302, "Location: " + other + request.path() + "\r\n", "")};
       }},
      {"redirect to nowhere", &explained<301>},
  };
}

std::map<std::string, HostileAnswer> bodies() {
  return {
      {"empty",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), "")};
       }},
      {"cut",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), half(request.body()),
                                request.body().size()),
                 Then::close};
       }},
      {"reset",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), half(request.body()),
                                request.body().size()),
                 Then::reset};
       }},
      {"reset at once",
       [](const ValueRequest& /*request*/) -> ScriptedAnswer { return {"", Then::reset}; }},
      {"closed at once",
       [](const ValueRequest& /*request*/) -> ScriptedAnswer { return {"", Then::close}; }},
      {"shorter",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), half(request.body()))};
       }},
      {"longer",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(),
                                request.body() + std::string(100, '\0'))};
       }},
      // More would be the answer to the next request.
      {"more than announced",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(),
                                request.body() + std::string(100, '\0'), request.body().size())};
       }},
      {"chunked transfer",
       [](const ValueRequest& request) { return chunked(request, request.body(), true); }},
      // The length is not announced.
      {"too much",
       [](const ValueRequest& request) {
         return chunked(request, request.body() + std::string(kTooMuch, '\0'), true);
       }},
      {"cut chunked transfer",
       [](const ValueRequest& request) { return chunked(request, half(request.body()), false); }},
      {"unasked gzip",
       [](const ValueRequest& request) { return in_gzip(request, gzip(request.value())); }},
      {"cut gzip",
       [](const ValueRequest& request) {
         const std::string packed = gzip(request.value());
         return in_gzip(request, packed.substr(0, packed.size() - 12));
       }},
      {"huge length",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), request.body(), kHuge),
                 Then::close};
       }},
      {"drip",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(request.status(), request.headers(), "", 1000), Then::drip};
       }},
      {"no HTTP",
       [](const ValueRequest& /*request*/) -> ScriptedAnswer {
         return {"220 mail ready\r\n", Then::close};
       }},
  };
}

std::map<std::string, HostileAnswer> ranges() {
  return {
      {"no Content-Range",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(206, kTagHeader, request.body())};
       }},
      {"unreadable Content-Range",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(206, kTagHeader + "Content-Range: bytes all\r\n", request.body())};
       }},
      {"shifted Content-Range",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(206, kTagHeader + request.content_range(1, request.value().size()),
                                request.body())};
       }},
      {"wrong size",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(206,
                                kTagHeader + request.content_range(0, request.value().size() + 4),
                                request.body())};
       }},
      // A part that begins later, as the server says itself.
      {"other bytes",
       [](const ValueRequest& request) -> ScriptedAnswer {
         const std::string body = request.value().substr(
             std::min<std::size_t>(request.first() + 4, request.value().size()),
             request.body().size());
         const std::uint64_t first = request.first() + 4;
         return {request.answer(206,
                                kTagHeader + "Content-Range: bytes " + std::to_string(first) + '-' +
                                    std::to_string(first + body.size() - 1) + '/' +
                                    std::to_string(request.value().size()) + "\r\n",
                                body)};
       }},
      {"whole value",
       [](const ValueRequest& request) -> ScriptedAnswer {
         return {request.answer(200, kTagHeader, request.value())};
       }},
      {"another version",
       [](const ValueRequest& request) -> ScriptedAnswer {
         const std::string range =
             request.range().empty() ? "" : request.content_range(0, request.value().size());
         return {request.answer(request.status(), "ETag: \"v2\"\r\n" + range, request.body())};
       }},
  };
}

}  // namespace

ValueRequest::ValueRequest(const std::string& request, std::string value)
    : request_(request), value_(std::move(value)) {
  const auto start = request_.find(' ') + 1;
  path_ = request_.substr(start, request_.find(' ', start) - start);
  range_ = header("Range");
  const std::uint64_t size = value_.size();
  std::uint64_t last = size - 1;
  if (is_suffix()) {
    first_ = size - std::min<std::uint64_t>(size, std::stoull(range_.substr(7)));
  } else if (!range_.empty()) {
    const auto dash = range_.find('-');
    first_ = std::min<std::uint64_t>(size, std::stoull(range_.substr(6)));
    if (dash + 1 < range_.size()) last = std::stoull(range_.substr(dash + 1));
  }
  body_ = value_.substr(first_, last - first_ + 1);
}

std::string ValueRequest::header(std::string_view name) const {
  const std::string before = "\r\n" + std::string(name) + ": ";
  const auto start = request_.find(before);
  if (start == std::string::npos) return {};
  const auto end = request_.find("\r\n", start + before.size());
  return request_.substr(start + before.size(), end - start - before.size());
}

std::string ValueRequest::content_range(std::uint64_t shift, std::uint64_t size) const {
  const std::uint64_t first = first_ + shift;
  return "Content-Range: bytes " + std::to_string(first) + '-' +
         std::to_string(first + body_.size() - 1) + '/' + std::to_string(size) + "\r\n";
}

std::string ValueRequest::headers() const {
  return range_.empty() ? kTagHeader : kTagHeader + content_range(0, value_.size());
}

std::string ValueRequest::answer(int status, const std::string& headers,
                                 const std::string& body) const {
  return answer(status, headers, body, body.size());
}

std::string ValueRequest::answer(int status, const std::string& headers, const std::string& body,
                                 std::uint64_t length) const {
  return raw_answer(status, headers + "Content-Length: " + std::to_string(length) + "\r\n", body);
}

std::string ValueRequest::raw_answer(int status, const std::string& headers,
                                     const std::string& body) const {
  const bool is_head = request_.starts_with("HEAD ");
  return "HTTP/1.1 " + std::to_string(status) + " Because\r\n" + headers + "\r\n" +
         (is_head ? "" : body);
}

ScriptedAnswer ValueRequest::honest_answer() const {
  if (first_ >= value_.size()) return explained<416>(*this);
  return {answer(status(), headers(), body_)};
}

const std::map<std::string, HostileAnswer>& hostile_answers() {
  static const auto all = [] {
    std::map<std::string, HostileAnswer> answers = statuses();
    answers.merge(bodies());
    answers.merge(ranges());
    return answers;
  }();
  return all;
}

}  // namespace gdal_zarr::test
