// Scale, offset, unit and nodata of the bands of one array, where bands differ in them.
//
// What all bands share the array says itself (conventions/packing.h), as every program knows it. Of
// an item in which they differ it says nothing, for no program shall take the value of one band for
// that of another: the values stand in the array's attribute `gdal:bands` then, a list for each
// such item with one value, or null, for each band:
//
//   {"scale": [0.1, 0.5], "unit": ["K", null]}
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// Of an array. Of a group that holds an array for each band of a raster: the list of their names.
inline constexpr const char* kBandsAttribute = "gdal:bands";

enum class BandItem : std::uint8_t { scale, offset, unit, nodata };

// Values are JSON: numbers, a text, or a fill value; null where a band has none.
class BandValues {
 public:
  // More bands than this have what the array has.
  static constexpr std::size_t kMaxBands = 65536;

  BandValues(Array& array, std::size_t band_count);

  // The band's value, or null (the pointer) where all bands have that of the array.
  const zarrcore::Json* find(BandItem item, std::size_t band) const;
  // Once all bands have the same value, it is the array's; until then what was set waits.
  // Throws zarrcore::Error.
  void set(BandItem item, std::size_t band, zarrcore::Json value);
  // Changes the metadata of the array by what waits. Throws zarrcore::Error.
  void store();

 private:
  static constexpr std::size_t kItems = 4;
  using List = std::vector<zarrcore::Json>;  // empty where the bands agree

  bool is_same_everywhere(const List& list, std::size_t band) const;
  void set_of_array(BandItem item, const zarrcore::Json& value);

  Array& array_;
  std::size_t band_count_;
  std::array<List, kItems> lists_;
  bool has_changed_ = false;
};

// The value of a band's item as BandValues has it, of an array that says it of all its bands.
zarrcore::Json value_of_array(const Array& array, BandItem item);

}  // namespace gdal_zarr
