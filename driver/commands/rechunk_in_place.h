// An array gets other chunks in place. The new array is made beside the old one under the name
// NAME.gdal-zarr-new, and takes its name when it is complete:
//
//   1  NAME becomes NAME.gdal-zarr-old
//   2  NAME.gdal-zarr-new becomes NAME
//   3  NAME.gdal-zarr-old is erased
//
// A killed command is ended by the next one: the exchange of names, whatever arrays that is for,
// and the copy of an array that it is for, as long as the array and the options are the same. How
// far a copy has come is in a file of its folder. Other copies are removed.
#pragma once

#include <span>
#include <string>

#include "driver/commands/command.h"
#include "driver/multidim/group.h"

namespace gdal_zarr {

// All throw zarrcore::Error. The paths are those of all arrays of the store.

// Ends the exchanges of names that a killed command has begun.
void end_exchanges(Session& session, std::span<const std::string> paths);
// Removes the copies that a killed command has made of arrays that are not `wanted`.
void erase_other_copies(Session& session, std::span<const std::string> paths,
                        std::span<const std::string> wanted);
// Continues the copy that a killed command has made of the array, if it is the same.
void rechunk_array(MultidimDataset& dataset, const std::string& path, CSLConstList options,
                   const CommandProgress& progress);

}  // namespace gdal_zarr
