// Arrays of cells of a HEALPix grid (Górski et al. 2005, doi:10.1086/427976): 12 base cells of the
// sphere, each divided into 2^level × 2^level cells of equal area.
//
// Stated by a grid mapping variable (CF 1.13, and before it with the number of cells along the side
// of a base cell), by the variable of cell indexes (xdggs), or by a group (zarr-conventions):
//
//   grid_mapping_name = "healpix"   refinement_level = 5   indexing_scheme = "nested"
//   grid_mapping_name = "healpix"   healpix_nside = 32   healpix_order = "nest"
//   grid_name = "healpix"   level = 5   indexing_scheme = "ring"
//   dggs = {"name": "healpix", "refinement_level": 5, "indexing_scheme": "nested",
//           "spatial_dimension": "cells", "coordinate": "cell_ids"}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

// A HEALPix grid of one level, in one of the two orders of its cells.
class HealpixGrid {
 public:
  static constexpr unsigned kMaxLevel = 29;  // whose cells have numbers of 64 bits

  HealpixGrid(unsigned level, bool is_nested) : level_(level), is_nested_(is_nested) {}

  std::uint64_t side() const { return std::uint64_t{1} << level_; }  // cells along a base cell
  std::uint64_t cell_count() const { return 12 * side() * side(); }
  // The cell that contains a place on the sphere, in degrees.
  std::uint64_t cell_at(double longitude, double latitude) const;

 private:
  unsigned level_;
  bool is_nested_;
};

struct HealpixArray {
  HealpixGrid grid;
  std::size_t axis;     // the dimension along which the cells are
  std::string indexes;  // node path of the variable of their indexes; empty: all cells in order
};

// Empty if no attribute states such a grid. Throws zarrcore::Error if the grid cannot be shown.
std::optional<HealpixArray> find_healpix(const Evidence& evidence);

}  // namespace gdal_zarr
