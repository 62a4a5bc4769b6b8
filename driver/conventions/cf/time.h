// CF times: numbers since a moment, in one of the calendars of the CF conventions (section 4.4).
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr {

// "2000-01-31T06:00:00Z" for 30.25 "days since 2000-01-01" in the calendar `calendar` (empty means
// standard). Nothing when units or calendar are not understood, or the value is no time.
std::optional<std::string> iso_time(double value, const std::string& units,
                                    const std::string& calendar);

}  // namespace gdal_zarr
