// Parses the texts that servers send instead of values and listings.
#pragma once

#include <cpl_conv.h>
#include <cpl_error.h>

#include <optional>
#include <string>
#include <string_view>

#include "driver/gdal/messages.h"

namespace gdal_zarr {

// "AccessDenied: Access Denied" of the XML with which object stores explain an error, in one line
// of at most 300 bytes. Empty for other texts.
std::string server_message(std::string_view text);

// Throws zarrcore::NotAValue if the body of a successful answer is a page for people, or an object
// store's explanation of an error.
void check_is_no_page(std::string_view content_type, std::string_view body);

// Listings that a server does not send to their end. Object stores list folders in pages; if one
// fails, GDAL's listing ends there as if it were complete. While this object lives, it notices on
// its thread when the server does not send a page. GDAL reports that in a debug message alone,
// which has the server's reply.
class ListingFailures {
 public:
  ListingFailures();
  ~ListingFailures();
  ListingFailures(const ListingFailures&) = delete;
  ListingFailures& operator=(const ListingFailures&) = delete;

  // Throws zarrcore::Error, which names the folder, if a page is missing.
  void check(const std::string& folder) const;

 private:
  static void CPL_STDCALL handle(CPLErr severity, CPLErrorNum number, const char* message);

  std::string user_debug_;  // the debug messages that CPL_DEBUG enables
  std::optional<CPLConfigOptionSetter> debug_;
  HeldMessages held_;
  bool has_failed_ = false;
  std::string reason_;
};

}  // namespace gdal_zarr
