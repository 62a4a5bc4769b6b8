#include "driver/multidim/raster_view.h"

#include <algorithm>
#include <limits>

#include "driver/gdal/messages.h"
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

// The read and write path of the classic API: from a window of bands to selections of arrays.

zarrcore::Selection RasterView::window(const RasterRequest& request,
                                       zarrcore::Strides& strides) const {
  const std::size_t rank = array().core().shape().size();
  zarrcore::Selection selection{zarrcore::Shape(rank, 0), zarrcore::Shape(rank, 1),
                                std::vector<std::int64_t>(rank, 1)};
  strides.assign(rank, 0);
  if (x_) {
    selection.start[*x_] = request.x;
    selection.count[*x_] = request.columns;
    selection.step[*x_] = static_cast<std::int64_t>(request.x_step);
    strides[*x_] = request.pixel_space;
  }
  if (y_) {
    const auto step = static_cast<std::int64_t>(request.y_step);
    selection.start[*y_] = row_in_array(request.y);
    selection.count[*y_] = request.rows;
    selection.step[*y_] = is_flipped_ ? -step : step;
    strides[*y_] = request.line_space;
  }
  return selection;
}

zarrcore::Selection RasterView::selection(int band, int x, int y, int columns, int rows) const {
  RasterRequest request;
  request.x = static_cast<std::uint64_t>(x);
  request.y = static_cast<std::uint64_t>(y);
  request.columns = static_cast<std::uint64_t>(columns);
  request.rows = static_cast<std::uint64_t>(rows);
  zarrcore::Strides strides;
  zarrcore::Selection selection = window(request, strides);
  if (is_flipped_ && y_) {
    selection.start[*y_] = row_in_array(request.y + request.rows - 1);
    selection.step[*y_] = 1;
  }
  const std::vector<std::uint64_t> indexes = other_indexes(band);
  for (std::size_t i = 0; i < indexes.size(); ++i) selection.start[other_axes_[i]] = indexes[i];
  return selection;
}

bool RasterView::transfer_run(GDALRWFlag flag, const RasterRequest& request, int first, int step,
                              int count, std::byte* buffer) const {
  zarrcore::Strides strides;
  zarrcore::Selection selection = window(request, strides);
  const std::vector<std::uint64_t> indexes = other_indexes(first);
  for (std::size_t i = 0; i < indexes.size(); ++i) selection.start[other_axes_[i]] = indexes[i];
  if (count > 1) {
    const std::size_t axis = other_axes_.back();
    selection.count[axis] = static_cast<std::uint64_t>(count);
    selection.step[axis] = step;
    strides[axis] = request.band_space;
  }
  return array_of(first).transfer(flag, selection, GDALExtendedDataType::Create(request.type),
                                  buffer, std::move(strides));
}

bool RasterView::transfer_all(GDALRWFlag flag, const RasterRequest& request) const {
  zarrcore::Strides strides;
  zarrcore::Selection selection = window(request, strides);
  std::ptrdiff_t stride = request.band_space;
  for (std::size_t i = other_axes_.size(); i-- > 0;) {
    const std::uint64_t length = array().core().shape()[other_axes_[i]];
    selection.count[other_axes_[i]] = length;
    strides[other_axes_[i]] = stride;
    stride *= static_cast<std::ptrdiff_t>(length);
  }
  return array().transfer(flag, selection, GDALExtendedDataType::Create(request.type),
                          request.buffer, std::move(strides));
}

bool RasterView::transfer(GDALRWFlag flag, const RasterRequest& request,
                          std::span<const int> bands) const {
  return guarded(false, [&] {
    return request.progress == nullptr || request.progress == GDALDummyProgress
               ? transfer_part(flag, request, bands)
               : transfer_with_progress(flag, request, bands);
  });
}

bool RasterView::continues(const RasterRequest& request, double done) const {
  if (request.progress == nullptr || request.progress(done, "", request.progress_data) != FALSE) {
    return true;
  }
  report_stop("array " + array().GetFullName());
  return false;
}

std::vector<std::uint64_t> RasterView::cut(std::size_t axis, std::uint64_t first,
                                           std::uint64_t step, std::uint64_t count,
                                           std::uint64_t max_parts) const {
  // Shards, unless one holds it all.
  const zarrcore::Shape& chunk = array().metadata().chunk_shape;
  std::uint64_t unit = chunk.empty() ? 0 : chunk[axis];
  const std::uint64_t reach = first + (count - 1) * step;
  // Codecs around a shard, such as a checksum, are checked only when all of it is read at once.
  const auto& codecs = array().metadata().codecs;
  const bool has_frame = !codecs.empty() && codecs.back().name != "sharding_indexed" &&
                         std::ranges::any_of(codecs, [](const auto& codec) {
                           return codec.name == "sharding_indexed";
                         });
  if (unit == 0 || (first / unit == reach / unit && !has_frame)) {
    unit = array().core().inner_chunk_shape()[axis];
  }
  unit = std::max<std::uint64_t>(unit, 1);
  const std::uint64_t units = reach / unit - first / unit + 1;
  const std::uint64_t parts = std::clamp<std::uint64_t>(max_parts, 1, units);
  std::vector<std::uint64_t> ends;
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint64_t boundary = (first / unit + units * part / parts) * unit;
    const std::uint64_t end = (boundary - first + step - 1) / step;  // the first pixel after it
    if (end > (ends.empty() ? 0 : ends.back()) && end < count) ends.push_back(end);
  }
  ends.push_back(count);
  return ends;
}

// The window is cut into parts along Y where several chunks lie along it, else along X, else by
// bands. Each part is large enough to be worth a separate request, and small enough for a prompt
// stop.
bool RasterView::transfer_with_progress(GDALRWFlag flag, const RasterRequest& request,
                                        std::span<const int> bands) const {
  constexpr std::uint64_t kParts = 8;
  constexpr std::uint64_t kMaxPartBytes = 32 << 20;
  const std::uint64_t bytes = request.columns * request.rows * bands.size() *
                              static_cast<std::uint64_t>(GDALGetDataTypeSizeBytes(request.type));
  const std::uint64_t max_parts = flag == GF_Read ? std::max(kParts, bytes / kMaxPartBytes + 1) : 1;
  std::vector<std::uint64_t> rows{request.rows};
  std::vector<std::uint64_t> columns{request.columns};
  std::vector<std::uint64_t> band_ends{bands.size()};
  if (y_) rows = cut(*y_, request.y, request.y_step, request.rows, max_parts);
  if (x_ && rows.size() < kParts) {
    columns = cut(*x_, request.x, request.x_step, request.columns, max_parts / rows.size());
  }
  const bool is_one_chunk = rows.size() * columns.size() == 1;
  if (is_one_chunk && bands.size() > 1 && flag == GF_Read) {
    const std::uint64_t unit =
        arrays_.size() > 1 ? 1 : array().core().inner_chunk_shape()[other_axes_.back()];
    const std::uint64_t step = std::max(unit, (bands.size() + max_parts - 1) / max_parts);
    band_ends.clear();
    for (std::uint64_t end = step; end < bands.size(); end += step) band_ends.push_back(end);
    band_ends.push_back(bands.size());
  }
  const auto total = static_cast<double>(rows.size() * columns.size() * band_ends.size());
  double done = 0;
  std::uint64_t band = 0;
  for (const std::uint64_t band_end : band_ends) {
    std::uint64_t row = 0;
    for (const std::uint64_t row_end : rows) {
      std::uint64_t column = 0;
      for (const std::uint64_t column_end : columns) {
        RasterRequest part = request;
        part.x += column * request.x_step;
        part.y += row * request.y_step;
        part.columns = column_end - column;
        part.rows = row_end - row;
        part.buffer = static_cast<std::byte*>(request.buffer) +
                      static_cast<std::ptrdiff_t>(band) * request.band_space +
                      static_cast<std::ptrdiff_t>(row) * request.line_space +
                      static_cast<std::ptrdiff_t>(column) * request.pixel_space;
        if (!transfer_part(flag, part, bands.subspan(band, band_end - band))) return false;
        if (!continues(request, ++done / total)) return false;
        column = column_end;
      }
      row = row_end;
    }
    band = band_end;
  }
  return true;
}

bool RasterView::transfer_part(GDALRWFlag flag, const RasterRequest& request,
                               std::span<const int> bands) const {
  const bool is_all = slice_.empty() && !range_ && arrays_.size() == 1 &&
                      static_cast<int>(bands.size()) == band_count_ && bands.front() == 0 &&
                      std::ranges::is_sorted(bands) && bands.back() == band_count_ - 1 &&
                      std::ranges::adjacent_find(bands) == bands.end();
  if (is_all) return transfer_all(flag, request);
  // Runs of bands that are evenly spaced along the last of the other dimensions.
  const std::uint64_t row =
      other_axes_.empty() || !slice_.empty() ? 1 : array().core().shape()[other_axes_.back()];
  const auto row_of = [&](int band) {
    return (static_cast<std::uint64_t>(band) + (range_ ? range_->first - 1 : 0)) / row;
  };
  auto* buffer = static_cast<std::byte*>(request.buffer);
  for (std::size_t first = 0; first < bands.size();) {
    std::size_t end = first + 1;
    int step = 1;
    if (end < bands.size()) step = bands[end] - bands[first];
    while (end < bands.size() && step != 0 && bands[end] - bands[end - 1] == step &&
           row_of(bands[end]) == row_of(bands[first])) {
      ++end;
    }
    if (!transfer_run(flag, request, bands[first], step, static_cast<int>(end - first),
                      buffer + static_cast<std::ptrdiff_t>(first) * request.band_space)) {
      return false;
    }
    first = end;
  }
  return true;
}

}  // namespace gdal_zarr
