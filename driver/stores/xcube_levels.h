// Pyramids of xcube: a folder, usually named x.levels, with a Zarr for each level.
//
//   x.levels/.zlevels        {"version": "1.0", "num_levels": 3, …}; may be missing
//   x.levels/0.zarr          a group with the arrays at the finest level
//   x.levels/1.zarr …        the same arrays at half the resolution
//
// https://xcube.readthedocs.io/en/latest/mldatasets.html
#pragma once

#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Returns true if the folder is such a pyramid, by the file that it then has, or by its name; on
// the network only folders of that name are.
bool is_xcube_pyramid(const std::string& folder);

// The folder as a store whose root is a group with a pyramid of the levels, consolidated if they
// are. Not for writing. A level that is a link to another place is left out. Throws zarrcore::Error
// if the file is not as above.
std::shared_ptr<zarrcore::Store> open_xcube_pyramid(std::shared_ptr<zarrcore::Store> folder);

}  // namespace gdal_zarr
