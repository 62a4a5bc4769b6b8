// Scale, offset, unit and nodata of the bands of one array, where bands differ in them.
//
// An item that all bands share is stored in the metadata of the array (conventions/cf/packing.h),
// where every program finds it. An item in which they differ is stored only in the array's
// attribute `gdal:bands`, so that no program applies the value of one band to another. The
// attribute has a list for each such item, with a value or null for each band:
//
//   {"scale": [0.1, 0.5], "unit": ["K", null]}
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "driver/conventions/gdal_attributes.h"
#include "driver/multidim/array.h"

namespace gdal_zarr {

enum class BandItem : std::uint8_t { scale, offset, unit, nodata };

// Values are JSON: numbers, a string, or a fill value; null where a band has none.
class BandValues {
 public:
  // Beyond this number, all bands have the values of the array.
  static constexpr std::size_t kMaxBands = 65536;

  BandValues(Array& array, std::size_t band_count);

  // The value of a band, or a null pointer if all bands have the array's value.
  const zarrcore::Json* find(BandItem item, std::size_t band) const;
  // Once all bands have the same value, it becomes the array's; until then it is pending.
  // Throws zarrcore::Error.
  void set(BandItem item, std::size_t band, zarrcore::Json value);
  bool has_changed() const { return has_changed_; }
  // Writes pending values to the metadata of the array. Values that other programs have changed for
  // other bands are preserved. Throws zarrcore::Error.
  void store();

 private:
  static constexpr std::size_t kItems = 4;
  using List = zarrcore::Json::array_t;  // empty where the bands agree

  std::array<List, kItems> read_lists() const;
  bool is_same_everywhere(const List& list, std::size_t band) const;
  void set_of_array(BandItem item, const zarrcore::Json& value);

  Array& array_;
  std::size_t band_count_;
  std::array<List, kItems> lists_;
  std::array<std::set<std::size_t>, kItems> changed_bands_;
  bool has_changed_ = false;
};

// The value of an item that an array has for all its bands.
zarrcore::Json value_of_array(const Array& array, BandItem item);

}  // namespace gdal_zarr
