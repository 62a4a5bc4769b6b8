// What servers say in texts that they send instead of values.
#pragma once

#include <string>
#include <string_view>

namespace gdal_zarr {

// "AccessDenied: Access Denied" of the XML with which object stores explain an error, in one line
// of at most 300 bytes. Empty for other texts.
std::string server_message(std::string_view text);

// Throws zarrcore::NotAValue if the body of a successful answer is a page for people, or an object
// store's explanation of an error.
void check_is_no_page(std::string_view content_type, std::string_view body);

}  // namespace gdal_zarr
