#include "driver/stores/vsi/server_message.h"

#include <cpl_conv.h>
#include <cpl_port.h>
#include <cpl_string.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

constexpr std::size_t kMaxMessage = 300;

// The first line of an element's text.
std::string element(std::string_view xml, const std::string& name) {
  const std::string start = '<' + name + '>';
  const std::size_t begin = xml.find(start);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + start.size());
  const std::string raw(xml.substr(0, std::min(xml.find_first_of("<\r\n"), kMaxMessage)));
  const std::unique_ptr<char, decltype(&VSIFree)> text(
      CPLUnescapeString(raw.c_str(), nullptr, CPLES_XML), VSIFree);
  std::string line = text.get();
  std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

bool starts_with_any(std::string_view text, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* start) {
    return STARTS_WITH_CI(std::string(text.substr(0, 16)).c_str(), start);
  });
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
  if (starts_with_any(content_type, {"text/html"}) &&
      starts_with_any(body, {"<!doctype", "<html"})) {
    throw zarrcore::NotAValue("the server sent an HTML page instead of the value");
  }
  if (starts_with_any(content_type, {"application/xml", "text/xml"}) &&
      starts_with_any(body, {"<?xml", "<error"})) {
    const std::string message = server_message(body);
    throw zarrcore::NotAValue("the server sent XML instead of the value" +
                              (message.empty() ? message : ": " + message));
  }
}

}  // namespace gdal_zarr
