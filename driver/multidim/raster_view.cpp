#include "driver/multidim/raster_view.h"

#include <algorithm>
#include <limits>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// GDAL counts pixels, and bytes of a block, with an int.
constexpr std::uint64_t kMaxInt = std::numeric_limits<int>::max();
constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 30;

}  // namespace

RasterView::RasterView(std::shared_ptr<Array> array, std::optional<std::size_t> x,
                       std::optional<std::size_t> y, const std::vector<std::uint64_t>& slice,
                       std::optional<BandRange> range)
    : arrays_{std::move(array)}, x_(x), y_(y), slice_(slice), range_(range) {
  const zarrcore::Shape& shape = arrays_.front()->core().shape();
  const std::string& name = arrays_.front()->GetFullName();
  std::vector<std::uint64_t> other_lengths;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == x_ || i == y_) {
      if (shape[i] == 0 || shape[i] > kMaxInt) {
        throw Error("array " + name + ": a dimension of length " + std::to_string(shape[i]) +
                    " cannot be an axis of a raster; the multidimensional API can read it");
      }
    } else {
      other_axes_.push_back(i);
      other_lengths.push_back(shape[i]);
    }
  }
  if (!slice_.empty()) {
    if (range_) throw Error("array " + name + ": a slice has one band, and no range of bands");
    if (slice_.size() != other_axes_.size()) {
      throw Error("array " + name + ": expected " + std::to_string(other_axes_.size()) +
                  (other_axes_.size() == 1 ? " index" : " indexes") +
                  ", one for each dimension that is neither X nor Y; got " +
                  std::to_string(slice_.size()));
    }
    for (std::size_t i = 0; i < slice_.size(); ++i) {
      if (slice_[i] >= other_lengths[i]) {
        throw Error("array " + name + ": index " + std::to_string(slice_[i]) +
                    " is outside a dimension of length " + std::to_string(other_lengths[i]));
      }
    }
    return;
  }
  const auto bands = zarrcore::checked_product(other_lengths);
  if (range_) {
    const std::string text = std::to_string(range_->first) + ':' + std::to_string(range_->last);
    if (range_->first == 0 || range_->last < range_->first || (bands && range_->last > *bands)) {
      throw Error("array " + name + ": the range of bands " + text +
                  " is not within 1:" + (bands ? std::to_string(*bands) : "2^64 or more"));
    }
    if (range_->last - range_->first >= kMaxBands) {
      throw Error("array " + name + ": the range of bands " + text + " has more than " +
                  std::to_string(kMaxBands));
    }
    band_count_ = static_cast<int>(range_->last - range_->first + 1);
    return;
  }
  if (!bands || *bands > kMaxBands || *bands == 0) {
    std::string indexes;
    for (std::size_t i = 0; i < other_axes_.size(); ++i) indexes += ":0";
    throw TooManyBands(
        "array " + name + " would have " + (bands ? std::to_string(*bands) : "2^64 or more") +
            " bands where 1 to " + std::to_string(kMaxBands) +
            " are possible; open a part of them, with the open option BAND_RANGE=1:" +
            std::to_string(kMaxBands) +
            ", or a slice, by an index along each other dimension: ZARR:\"" +
            arrays_.front()->session()->path() + "\":" + name + indexes,
        bands.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
  band_count_ = static_cast<int>(*bands);
}

RasterView::RasterView(const std::vector<std::shared_ptr<Array>>& arrays)
    : RasterView(arrays.front(), 1, 0, {}) {
  for (const auto& other : arrays) {
    if (other->core().shape() != array().core().shape() ||
        other->GetDataType().GetClass() != GEDTC_NUMERIC) {
      throw Error("arrays " + array().GetFullName() + " and " + other->GetFullName() +
                  " differ and cannot be bands of one raster");
    }
  }
  arrays_ = arrays;
  band_count_ = static_cast<int>(arrays.size());
}

int RasterView::length(std::optional<std::size_t> axis) const {
  return axis ? static_cast<int>(array().core().shape()[*axis]) : 1;
}

std::pair<int, int> RasterView::block_size() const {
  const zarrcore::Shape block = array().core().inner_chunk_shape();
  const auto along = [&](std::optional<std::size_t> axis, int length) {
    return axis ? static_cast<int>(std::clamp<std::uint64_t>(block[*axis], 1,
                                                             static_cast<std::uint64_t>(length)))
                : 1;
  };
  const int columns = along(x_, width());
  int rows = along(y_, height());
  const std::uint64_t row_bytes =
      static_cast<std::uint64_t>(columns) * array().GetDataType().GetSize();
  if (row_bytes * static_cast<std::uint64_t>(rows) > kMaxBlockBytes) {
    rows = static_cast<int>(std::max<std::uint64_t>(1, kMaxBlockBytes / row_bytes));
  }
  return {columns, rows};
}

std::vector<std::uint64_t> RasterView::other_indexes(int band) const {
  if (!slice_.empty()) return slice_;
  std::vector<std::uint64_t> indexes(other_axes_.size());
  auto rest = static_cast<std::uint64_t>(band) + (range_ ? range_->first - 1 : 0);
  for (std::size_t i = indexes.size(); i-- > 0;) {
    const std::uint64_t length = array().core().shape()[other_axes_[i]];
    indexes[i] = rest % length;
    rest /= length;
  }
  return indexes;
}

std::uint64_t RasterView::slice_number(int band) const {
  const std::vector<std::uint64_t> indexes = other_indexes(band);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    number = number * array().core().shape()[other_axes_[i]] + indexes[i];
  }
  return number;
}

std::uint64_t RasterView::slice_count() const {
  std::vector<std::uint64_t> lengths;
  lengths.reserve(other_axes_.size());
  for (const std::size_t axis : other_axes_) lengths.push_back(array().core().shape()[axis]);
  return zarrcore::checked_product(lengths).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace gdal_zarr
