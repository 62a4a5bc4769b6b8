#include "driver/stores/vsi/listing_failures.h"

#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <exception>

#include "driver/stores/vsi/server_message.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// Categories of the debug messages of object stores.
constexpr std::array<std::string_view, 5> kCategories{"S3", "GS", "AZURE", "ADLS", "OSS"};

// Whether a debug message is what a server sent instead of a page, which GDAL shows as it is: a
// document, or no bytes. Other messages of this category say which server is asked.
bool is_of_failure(std::string_view text) {
  return text.empty() || text == "(null)" || text.starts_with('<') || text.starts_with('{');
}

}  // namespace

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

void ListingFailures::check() const {
  if (!has_failed_) return;
  throw zarrcore::Error("the server did not send the listing of this folder to its end" +
                        (reason_.empty() ? reason_ : ": " + reason_));
}

}  // namespace gdal_zarr
