// What of an examined store can be repaired for certain, and what needs a decision.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "driver/commands/examined.h"

namespace gdal_zarr {

struct RepairPlan {
  // Arrays with chunks outside of their shape, which they had before they shrank.
  std::vector<const zarrcore::ExaminedArray*> shrunk = {};
  std::vector<std::string> groups = {};  // whose consolidated metadata is made again
  // What an interrupted rechunk has left.
  std::set<std::string, std::less<>> leftovers = {};
  std::size_t left = 0;  // findings that need a decision
};

// `examined` must outlive the result. Throws zarrcore::AccessFailure.
RepairPlan plan_repair(const zarrcore::Hierarchy& hierarchy,
                       const zarrcore::ExaminedStore& examined);

// Of the chunks that were outside of an array, those that are outside of it as it is now: it may
// have grown since it was examined.
std::vector<std::string> still_outside(const zarrcore::Hierarchy& hierarchy,
                                       const zarrcore::ExaminedArray& examined);

}  // namespace gdal_zarr
