// Arrays viewed as a raster: which dimensions are X and Y, which make bands, and which are held at
// an index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/multidim/array.h"
#include "driver/stores/connection_string.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

// A window of a raster, every step-th pixel of it, in memory of the caller's layout.
struct RasterRequest {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t columns = 1;  // pixels in the buffer
  std::uint64_t rows = 1;
  std::uint64_t x_step = 1;  // pixels of the raster from one to the next
  std::uint64_t y_step = 1;
  void* buffer = nullptr;
  GDALDataType type = GDT_Unknown;
  std::ptrdiff_t pixel_space = 0;  // bytes
  std::ptrdiff_t line_space = 0;
  std::ptrdiff_t band_space = 0;
  // Receives the progress of the request, and stops it by returning FALSE. May be null.
  GDALProgressFunc progress = nullptr;
  void* progress_data = nullptr;
};

// An array has more slices than a raster can have bands.
class TooManyBands : public zarrcore::Error {
 public:
  // `slices` may be 2^64-1 for more.
  TooManyBands(const std::string& message, std::uint64_t slices)
      : Error(message), slices_(slices) {}
  std::uint64_t slices() const { return slices_; }

 private:
  std::uint64_t slices_;
};

// The end of an array's name that states a range: ":bands=1-100".
inline std::string range_suffix(const BandRange& range) {
  return ":bands=" + std::to_string(range.first) + '-' + std::to_string(range.last);
}

class RasterView {
 public:
  static constexpr std::uint64_t kMaxBands = 65536;

  // `x` and `y` are indexes of dimensions; an array of one dimension has no Y, a scalar has
  // neither. `slice` has an index for each of the other dimensions. If it is empty, the slices
  // along these dimensions become bands: all of them, or those in `range`. Throws zarrcore::Error
  // when that does not fit the array or exceeds what GDAL can represent.
  RasterView(std::shared_ptr<Array> array, std::optional<std::size_t> x,
             std::optional<std::size_t> y, const std::vector<std::uint64_t>& slice,
             std::optional<BandRange> range = {});

  // A band for each of several arrays of numbers that have two dimensions, Y and X, and the same
  // shape. Throws zarrcore::Error for others.
  explicit RasterView(const std::vector<std::shared_ptr<Array>>& arrays);

  // The same view of the same number of other arrays with the same dimensions.
  RasterView of(const std::vector<std::shared_ptr<Array>>& arrays) const {
    RasterView view =
        arrays.size() > 1 ? RasterView(arrays) : RasterView(arrays.front(), x_, y_, slice_, range_);
    view.is_flipped_ = is_flipped_;
    return view;
  }

  // From now on, the first row is the last one of the array. Only for reading.
  void flip() { is_flipped_ = !is_flipped_; }
  bool is_flipped() const { return is_flipped_; }

  // They differ only in their types, elements and metadata; array() is the first.
  const std::vector<std::shared_ptr<Array>>& arrays() const { return arrays_; }
  Array& array() const { return *arrays_.front(); }
  // The array of a band (counted from 0).
  Array& array_of(int band) const {
    return *arrays_[arrays_.size() > 1 ? static_cast<std::size_t>(band) : 0];
  }
  std::optional<std::size_t> x_axis() const { return x_; }
  std::optional<std::size_t> y_axis() const { return y_; }
  int width() const { return length(x_); }
  int height() const { return length(y_); }
  int band_count() const { return band_count_; }
  // Returns true if a band is a whole array, not a slice of one.
  bool bands_are_arrays() const { return other_axes_.empty(); }
  // Returns true if dimensions that are neither X nor Y are held at an index.
  bool is_slice() const { return !slice_.empty(); }
  // The slices that are bands, if these are not all.
  const std::optional<BandRange>& range() const { return range_; }
  // Pixels along X and Y that are decoded at once.
  std::pair<int, int> block_size() const;

  // The dimensions that are neither X nor Y, and the index of each in a band (counted from 0).
  const std::vector<std::size_t>& other_axes() const { return other_axes_; }
  std::vector<std::uint64_t> other_indexes(int band) const;
  // The position of a band (counted from 0) among all slices of its array, and their number, at
  // most 2^64-1.
  std::uint64_t slice_number(int band) const;
  std::uint64_t slice_count() const;

  // Reads or writes the given bands (counted from 0), together where their layout allows. A read
  // that reports progress is done in several parts. Returns false after a CE_Failure.
  bool transfer(GDALRWFlag flag, const RasterRequest& request, std::span<const int> bands) const;
  // Tells the progress function of a request how much of it is done, from 0 to 1. False when it
  // stops the request, after a CE_Failure.
  bool continues(const RasterRequest& request, double done) const;
  // The elements of one band (counted from 0) in a window.
  zarrcore::Selection selection(int band, int x, int y, int columns, int rows) const;

 private:
  bool transfer_part(GDALRWFlag flag, const RasterRequest& request,
                     std::span<const int> bands) const;
  bool transfer_with_progress(GDALRWFlag flag, const RasterRequest& request,
                              std::span<const int> bands) const;
  // Cuts `count` pixels of a buffer, the first of which is at `first` along an axis of the array,
  // into at most `max_parts` between chunks: the ends of the parts.
  std::vector<std::uint64_t> cut(std::size_t axis, std::uint64_t first, std::uint64_t step,
                                 std::uint64_t count, std::uint64_t max_parts) const;
  int length(std::optional<std::size_t> axis) const;
  std::uint64_t row_in_array(std::uint64_t row) const {
    return is_flipped_ ? static_cast<std::uint64_t>(height()) - 1 - row : row;
  }
  // `count` bands from `first` on, `step` apart along the last of the other dimensions.
  bool transfer_run(GDALRWFlag flag, const RasterRequest& request, int first, int step, int count,
                    std::byte* buffer) const;
  bool transfer_all(GDALRWFlag flag, const RasterRequest& request) const;
  zarrcore::Selection window(const RasterRequest& request, zarrcore::Strides& strides) const;

  std::vector<std::shared_ptr<Array>> arrays_;  // at least one
  std::optional<std::size_t> x_;
  std::optional<std::size_t> y_;
  std::vector<std::size_t> other_axes_;
  std::vector<std::uint64_t> slice_;
  std::optional<BandRange> range_;
  int band_count_ = 1;
  bool is_flipped_ = false;
};

}  // namespace gdal_zarr
