// Groups as rasters: arrays of a group that have two dimensions and share shape, type and place are
// the bands of one raster, such as those of Sentinel-2 in EOPF products.
//
//   ZARR:"x.zarr":/measurements/reflectance/r10m                  all of them
//   ZARR:"x.zarr":/measurements/reflectance/r10m/{b04,b03,b02}    these, in this order
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/conventions/product.h"
#include "driver/raster/candidates.h"

namespace gdal_zarr {

// The name of a group, and of arrays in it; none mean all.
struct GroupName {
  std::string group;  // a node path
  std::vector<std::string> arrays;
};

// Empty if `name`, which begins with a slash or not, is neither that of a group with arrays in
// braces nor of an existing group.
std::optional<GroupName> parse_group_name(const Session& session, const std::string& name);

// The arrays that are bands. Without names: at most 64, those that the group or the product states
// as bands first, in their order, the others by name. Throws zarrcore::Error when there are none,
// or when one that is named does not exist or differs from the others.
std::vector<std::shared_ptr<Array>> bands_of_group(Session& session, const GroupName& name);

// What the group of an array and its product say of bands.
std::vector<SpectralBand> spectral_bands_of(const Array& array);

// A group with several such arrays that have a place, as far as metadata show it.
struct GroupRaster {
  std::string group;
  std::size_t bands;
  zarrcore::Shape shape;
  zarrcore::DataType type;
};

std::vector<GroupRaster> find_group_rasters(const Session& session,
                                            std::span<const Candidate> candidates);

}  // namespace gdal_zarr
