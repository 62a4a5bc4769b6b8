// What broken, overloaded and hostile servers answer to a request for a value, as exact bytes.
// autotest/driver/hostile_server.py has most of these answers for tests of whole programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "autotest/driver/cpp/scripted_server.h"

namespace gdal_zarr::test {

// A GET or HEAD request for a value, and what an honest server sends.
class ValueRequest {
 public:
  ValueRequest(const std::string& request, std::string value);

  const std::string& path() const { return path_; }
  // "bytes=0-0"; empty for the whole value.
  const std::string& range() const { return range_; }
  bool is_suffix() const { return range_.starts_with("bytes=-"); }
  // The value of a header; empty without it.
  std::string header(std::string_view name) const;

  const std::string& value() const { return value_; }
  std::uint64_t first() const { return first_; }  // the offset of the body
  const std::string& body() const { return body_; }
  int status() const { return range_.empty() ? 200 : 206; }

  // A header for the body, as if it were `shift` bytes later in a value of `size` bytes.
  std::string content_range(std::uint64_t shift, std::uint64_t size) const;
  // The headers of the honest answer, except the length.
  std::string headers() const;
  // A status line, these headers, the length, and the body unless it is a HEAD request.
  std::string answer(int status, const std::string& headers, const std::string& body) const;
  // The same with another length.
  std::string answer(int status, const std::string& headers, const std::string& body,
                     std::uint64_t length) const;
  // The same without a length.
  std::string raw_answer(int status, const std::string& headers, const std::string& body) const;

  ScriptedAnswer honest_answer() const;

 private:
  std::string request_;
  std::string value_;
  std::string path_;
  std::string range_;
  std::uint64_t first_ = 0;
  std::string body_;
};

using HostileAnswer = ScriptedAnswer (*)(const ValueRequest&);

// By names such as "503" and "cut gzip".
const std::map<std::string, HostileAnswer>& hostile_answers();

// The tag of the value in honest answers.
inline constexpr std::string_view kTag = "\"v1\"";

}  // namespace gdal_zarr::test
