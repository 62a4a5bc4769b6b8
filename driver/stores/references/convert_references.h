// Turns Kerchunk references in JSON into references in Parquet files.
#pragma once

#include <functional>
#include <string>

namespace gdal_zarr {

// Writes the references of the JSON document `document` to the new folder `folder`. Relative names
// of files stay as they are if both are in the same folder, and become absolute otherwise. Calls
// `progress(done)` with a number from 0 to 1; returns false when that returns false. Throws
// zarrcore::Error when a reference does not fit the format. Unless it returns true, nothing is
// left.
bool convert_references(const std::string& document, const std::string& folder,
                        const std::function<bool(double)>& progress);

}  // namespace gdal_zarr
