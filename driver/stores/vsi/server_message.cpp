#include "driver/stores/vsi/server_message.h"

#include <cpl_port.h>
#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>

#include "driver/stores/vsi/vsi_call.h"
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
  const GdalText text(CPLUnescapeString(raw.c_str(), nullptr, CPLES_XML));
  std::string line = text.get();
  std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

bool starts_with_any(std::string_view text, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* start) {
    return STARTS_WITH_CI(std::string(text.substr(0, 16)).c_str(), start);
  });
}

// Categories of the debug messages of object stores.
constexpr std::array<std::string_view, 5> kCategories{"S3", "GS", "AZURE", "ADLS", "OSS"};

// Returns true if a debug message is the reply that a server sent instead of a page, which GDAL
// shows unchanged: a document, or no bytes. Other messages of this category name the requested
// server.
bool is_of_failure(std::string_view text) {
  return text.empty() || text == "(null)" || text.starts_with('<') || text.starts_with('{');
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

ListingFailures::ListingFailures() : user_debug_(CPLGetConfigOption("CPL_DEBUG", "OFF")) {
  if (!EQUAL(user_debug_.c_str(), "ON")) {
    std::string categories = EQUAL(user_debug_.c_str(), "OFF") ? "" : user_debug_;
    for (const std::string_view category : kCategories) categories.append(",").append(category);
    debug_.emplace("CPL_DEBUG", categories.c_str(), false);
  }
  CPLPushErrorHandlerEx(&ListingFailures::handle, this);
}

ListingFailures::~ListingFailures() {
  CPLPopErrorHandler();
  held_.emit();
}

void CPL_STDCALL ListingFailures::handle(CPLErr severity, CPLErrorNum number, const char* message) {
  auto& self = *static_cast<ListingFailures*>(CPLGetErrorHandlerUserData());
  const std::string_view text = message;
  const auto colon = text.find(": ");
  const auto* category = std::ranges::find(kCategories, text.substr(0, colon));
  if (severity == CE_Debug && category != kCategories.end()) {
    if (is_of_failure(text.substr(colon + 2))) {
      self.has_failed_ = true;
      try {
        self.reason_ = server_message(text.substr(colon + 2));
      } catch (const std::exception&) {
        // It failed for an unknown reason.
      }
    }
    const CPLString debug(self.user_debug_);
    const bool is_asked_for = !self.debug_ || debug.ifind(std::string(*category)) != debug.npos;
    if (!is_asked_for) return;
  }
  self.held_.add(severity, number, message);
}

void ListingFailures::check(const std::string& folder) const {
  if (!has_failed_) return;
  throw zarrcore::AccessFailure(folder +
                                ": the server did not send the listing of this folder to its end" +
                                (reason_.empty() ? reason_ : ": " + reason_));
}

}  // namespace gdal_zarr
