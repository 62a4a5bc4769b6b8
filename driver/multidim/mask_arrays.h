// Masks as arrays of a store, in the manner of CF's flags (CF conventions, sections 3.4 and 3.5):
// an array names its mask among its ancillary variables, and the mask states the meaning of its
// values.
//
//   dem:       "ancillary_variables": "dem_mask"
//   dem_mask:  "flag_values": [0, 255]   "flag_meanings": "invalid valid"
//
// A mask has the dimensions Y and X, or all dimensions of its array.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/multidim/array.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// The node paths of the masks that an array of the session names; `for_it_alone` leaves out those
// that other arrays of its group name as well.
std::vector<std::string> mask_paths(const Session& session, const std::string& node_path,
                                    bool for_it_alone = false);

// The node path of the mask of an array; empty if it has none. Of an array that is opened by its
// own path, it is in the folder above.
std::string mask_path(const Array& array);
// Returns the mask; null if the array has none. Throws zarrcore::Error if it cannot be read.
std::shared_ptr<Array> find_mask(const Array& array);

// Creates a mask for the raster, of its Y and X or of all dimensions of its first array, and names
// it in all its arrays. Throws zarrcore::Error.
std::shared_ptr<Array> create_mask_array(const RasterView& view, bool has_all_dimensions);

// `attributes` with this name among the ancillary variables, and without it.
zarrcore::Json with_mask(zarrcore::Json attributes, const std::string& mask_name);
zarrcore::Json without_mask(zarrcore::Json attributes, const std::string& mask_name);

}  // namespace gdal_zarr
