// Time coordinates of the CF conventions (section 4.4,
// https://cfconventions.org/cf-conventions/cf-conventions.html#time-coordinate): numbers that count
// from a moment, in one of several calendars.
//
//   units = "days since 2000-01-01 00:00:00"
//   calendar = "noleap"
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr {

// Returns true if `units` have the form of a time coordinate's: "days since 1970-01-01".
bool is_time_unit(const std::string& units);

// "2000-01-31T06:00:00Z" for 30.25 "days since 2000-01-01" in the calendar `calendar` (empty means
// standard). Empty when the units or the calendar are not understood or the value is not a valid
// time.
std::optional<std::string> iso_time(double value, const std::string& units,
                                    const std::string& calendar);

}  // namespace gdal_zarr
