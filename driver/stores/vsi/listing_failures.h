// Listings that a server does not send to their end. Object stores list folders in pages; if one
// fails, GDAL's listing ends there as if it were complete.
#pragma once

#include <cpl_conv.h>
#include <cpl_error.h>

#include <optional>
#include <string>

#include "driver/gdal/messages.h"

namespace gdal_zarr {

// While it lives, notices on this thread when the server does not send a page. GDAL says so in a
// debug message alone, which has what the server sent instead.
class ListingFailures {
 public:
  ListingFailures();
  ~ListingFailures();
  ListingFailures(const ListingFailures&) = delete;
  ListingFailures& operator=(const ListingFailures&) = delete;

  // Throws zarrcore::Error if a page is missing.
  void check() const;

 private:
  static void CPL_STDCALL handle(CPLErr severity, CPLErrorNum number, const char* message);

  std::string user_debug_;  // what CPL_DEBUG asks for
  std::optional<CPLConfigOptionSetter> debug_;
  HeldMessages held_;
  bool has_failed_ = false;
  std::string reason_;
};

}  // namespace gdal_zarr
