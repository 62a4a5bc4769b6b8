// Gathers from a store what may say where an array lies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/conventions/evidence.h"
#include "driver/multidim/array.h"

namespace gdal_zarr {

// `dimensions` are those of the array, of its rank. The result refers to the array, and is for use
// at once: the store may change.
Evidence gather_evidence(const std::shared_ptr<const Array>& array,
                         const std::vector<std::shared_ptr<GDALDimension>>& dimensions);

// All elements of a variable of one or two dimensions, unpacked; empty when it does not hold
// numbers, cannot be read, or is too long.
std::vector<double> read_unpacked(const GDALMDArray& variable);
// The same of a variable of one dimension, empty for others.
std::vector<double> read_values(const GDALMDArray& variable);

// The corners of the last two dimensions, at `slice` of those before; unpacked, row by row. Empty
// when they cannot be read.
std::vector<double> read_corners(const Array& variable, std::vector<std::uint64_t> slice);

}  // namespace gdal_zarr
