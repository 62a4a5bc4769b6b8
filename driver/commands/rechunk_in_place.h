// An array gets other chunks in place. The new array is made beside the old one under the name
// NAME.gdal-zarr-new, and takes its name when it is complete:
//
//   1  NAME and NAME.gdal-zarr-new are exchanged
//   2  NAME.gdal-zarr-new, which is the old one now, becomes NAME.gdal-zarr-old
//   3  NAME.gdal-zarr-old is erased
//
// Where the file system cannot exchange names, there is no NAME for a moment:
//
//   1  NAME becomes NAME.gdal-zarr-old
//   2  NAME.gdal-zarr-new becomes NAME
//
// A killed command is ended by the next one: the exchange of names, whatever arrays that is for,
// and the copy of an array that it is for, as long as the array and the options are the same. How
// far a copy has come is in a file of its folder. Other copies are removed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/commands/command.h"
#include "driver/multidim/group.h"

namespace gdal_zarr {

// Opens a store for GDAL's multidimensional API, with GDAL's flags. Throws zarrcore::Error.
std::unique_ptr<MultidimDataset> open_multidim(const std::string& path, unsigned flags);

struct StoredArrays {
  std::vector<std::string> paths;
  std::vector<std::string> problems;  // of nodes that cannot be read
};
StoredArrays arrays_of(const Session& session);

// Returns the paths of the arrays that are to change. Throws zarrcore::Error.
using ChooseArrays = std::function<std::vector<std::string>(Session& session)>;
// Gives them the layout that creation options say, one after the other; in an Icechunk repository,
// in one commit. Returns their paths. Throws zarrcore::Error.
std::vector<std::string> rechunk_in_place(const std::string& path, CSLConstList options,
                                          const ChooseArrays& choose,
                                          const CommandProgress& progress);

}  // namespace gdal_zarr
