#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "driver/conventions/healpix.h"
#include "driver/conventions/position.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/georeferencing.h"
#include "driver/raster/raster_dataset.h"
#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr int kBlockSize = 256;
// An index for each cell is held in memory.
constexpr std::uint64_t kMaxIndexes = 200'000'000;

// Where the cells of a grid are in an array.
class CellPlaces {
 public:
  CellPlaces(const HealpixArray& found, const Array& array) : grid_(found.grid) {
    const std::uint64_t size = array.core().shape()[found.axis];
    has_all_ = found.indexes.empty();
    if (has_all_) return;
    const auto variable = array.session()->array(found.indexes);
    if (size > kMaxIndexes) {
      throw Error("array " + variable->GetFullName() + " has " + std::to_string(size) +
                  " indexes of cells, and at most " + std::to_string(kMaxIndexes) +
                  " can be looked up");
    }
    std::vector<std::int64_t> indexes(size);
    const GUInt64 start = 0;
    const std::size_t count = size;
    if (!variable->Read(&start, &count, nullptr, nullptr, GDALExtendedDataType::Create(GDT_Int64),
                        indexes.data())) {
      throw Error("the indexes of the cells, in array " + variable->GetFullName() +
                  ", cannot be read");
    }
    has_all_ = size == grid_.cell_count() && is_count(indexes);
    if (has_all_) return;
    places_.resize(size);
    std::iota(places_.begin(), places_.end(), std::int64_t{0});
    std::ranges::sort(places_, {}, [&](std::int64_t place) { return indexes[place]; });
    cells_.reserve(size);
    for (const std::int64_t place : places_) cells_.push_back(indexes[place]);
    if (std::ranges::adjacent_find(cells_) != cells_.end()) {
      throw Error("array " + variable->GetFullName() + " has the same index for several cells");
    }
  }

  const HealpixGrid& grid() const { return grid_; }
  bool has_all() const { return has_all_; }
  // The place of the cell at a longitude and latitude; -1 if the array does not have it.
  std::int64_t find(double longitude, double latitude) const {
    const auto cell = static_cast<std::int64_t>(grid_.cell_at(longitude, latitude));
    if (has_all_) return cell;
    const auto found = std::ranges::lower_bound(cells_, cell);
    return found != cells_.end() && *found == cell ? places_[found - cells_.begin()] : -1;
  }

 private:
  static bool is_count(const std::vector<std::int64_t>& indexes) {
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      if (indexes[i] != static_cast<std::int64_t>(i)) return false;
    }
    return true;
  }

  HealpixGrid grid_;
  bool has_all_;
  // Of the others, sorted by their index.
  std::vector<std::int64_t> cells_;
  std::vector<std::int64_t> places_;
};

class HealpixDataset final : public GDALDataset {
 public:
  HealpixDataset(CellPlaces places, std::unique_ptr<RasterDataset> cells, const std::string& name);

  const OGRSpatialReference* GetSpatialRef() const override { return crs_.get(); }
#if GDAL_ZARR_AT_LEAST(3, 12)
  CPLErr GetGeoTransform(GDALGeoTransform& transform) const override {
    transform = GDALGeoTransform(-180, pixel_, 0, 90, 0, -pixel_);
    return CE_None;
  }
#else
  CPLErr GetGeoTransform(double* transform) override {
    const double values[] = {-180, pixel_, 0, 90, 0, -pixel_};
    std::ranges::copy(values, transform);
    return CE_None;
  }
#endif
  const CellPlaces& places() const { return places_; }
  RasterDataset& cells() const { return *cells_; }
  double pixel() const { return pixel_; }

 private:
  CellPlaces places_;
  std::unique_ptr<RasterDataset> cells_;
  std::shared_ptr<OGRSpatialReference> crs_ = make_wgs84();
  double pixel_;  // in degrees
};

class HealpixBand final : public GDALRasterBand {
 public:
  HealpixBand(HealpixDataset* dataset, int band) : cells_(*dataset->cells().GetRasterBand(band)) {
    poDS = dataset;
    nBand = band;
    eDataType = cells_.GetRasterDataType();
    nBlockXSize = std::min(kBlockSize, dataset->GetRasterXSize());
    nBlockYSize = std::min(kBlockSize, dataset->GetRasterYSize());
  }

  // Computed on first use, which may read coordinates.
  const char* GetDescription() const override { return cells_.GetDescription(); }
  MetadataList GetMetadata(const char* domain) override { return cells_.GetMetadata(domain); }
  const char* GetMetadataItem(const char* name, const char* domain) override {
    return cells_.GetMetadataItem(name, domain);
  }

  double GetNoDataValue(int* success) override {
    int has_one = FALSE;
    double value = cells_.GetNoDataValue(&has_one);
    if (has_one == FALSE && !dataset().places().has_all()) {
      value = std::numeric_limits<double>::quiet_NaN();
      has_one = TRUE;
    }
    if (success != nullptr) *success = has_one;
    return value;
  }
  int64_t GetNoDataValueAsInt64(int* success) override {
    return cells_.GetNoDataValueAsInt64(success);
  }
  uint64_t GetNoDataValueAsUInt64(int* success) override {
    return cells_.GetNoDataValueAsUInt64(success);
  }
  double GetOffset(int* success) override { return cells_.GetOffset(success); }
  double GetScale(int* success) override { return cells_.GetScale(success); }
  const char* GetUnitType() override { return cells_.GetUnitType(); }
  char** GetCategoryNames() override { return cells_.GetCategoryNames(); }
  GDALRasterAttributeTable* GetDefaultRAT() override { return cells_.GetDefaultRAT(); }

 protected:
  CPLErr IReadBlock(int block_x, int block_y, void* buffer) override {
    return guarded(CE_Failure, [&] { return read_block(block_x, block_y, buffer); });
  }

 private:
  HealpixDataset& dataset() const { return *static_cast<HealpixDataset*>(poDS); }

  CPLErr read_block(int block_x, int block_y, void* buffer) {
    const HealpixDataset& shown = dataset();
    const auto pixels =
        static_cast<std::size_t>(nBlockXSize) * static_cast<std::size_t>(nBlockYSize);
    std::vector<std::pair<std::int64_t, std::size_t>> wanted;  // a cell's place, and a pixel
    wanted.reserve(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      const auto along = [&](int block, int length, std::size_t pixel) {
        return (static_cast<double>(block) * length + static_cast<double>(pixel) + 0.5) *
               shown.pixel();
      };
      const auto columns = static_cast<std::size_t>(nBlockXSize);
      const double longitude = along(block_x, nBlockXSize, i % columns) - 180;
      const double latitude = 90 - along(block_y, nBlockYSize, i / columns);
      // The last blocks reach beyond the sphere.
      const bool is_inside = longitude < 180 && latitude > -90;
      wanted.emplace_back(is_inside ? shown.places().find(longitude, latitude) : -1, i);
    }
    std::ranges::sort(wanted);
    const auto size = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(eDataType));
    auto* bytes = static_cast<std::byte*>(buffer);
    std::size_t next = 0;
    const Pixel missing = missing_pixel(*this);
    for (; next < wanted.size() && wanted[next].first < 0; ++next) {
      std::copy_n(missing.data(), size, bytes + wanted[next].second * size);
    }
    std::vector<std::byte> row;
    while (next < wanted.size()) {
      // Cells that are near each other in the array, read with those between.
      std::size_t end = next + 1;
      while (end < wanted.size() && wanted[end].first - wanted[end - 1].first <= kMaxGap &&
             wanted[end].first - wanted[next].first < kMaxRow) {
        ++end;
      }
      const std::int64_t first = wanted[next].first;
      const auto count = static_cast<std::size_t>(wanted[end - 1].first - first + 1);
      row.resize(count * size);
      const auto columns = static_cast<int>(count);
      const CPLErr read = cells_.RasterIO(GF_Read, static_cast<int>(first), 0, columns, 1,
                                          row.data(), columns, 1, eDataType, 0, 0, nullptr);
      if (read != CE_None) return read;
      for (; next < end; ++next) {
        const auto cell = static_cast<std::size_t>(wanted[next].first - first);
        std::copy_n(row.data() + cell * size, size, bytes + wanted[next].second * size);
      }
    }
    return CE_None;
  }

  static constexpr std::int64_t kMaxGap = 1024;
  static constexpr std::int64_t kMaxRow = 4 << 20;

  GDALRasterBand& cells_;
};

HealpixDataset::HealpixDataset(CellPlaces places, std::unique_ptr<RasterDataset> cells,
                               const std::string& name)
    : places_(std::move(places)),
      cells_(std::move(cells)),
      pixel_(22.5 / static_cast<double>(places_.grid().side())) {
  SetDescription(name.c_str());
  nRasterXSize = static_cast<int>(16 * places_.grid().side());
  nRasterYSize = nRasterXSize / 2;
  GDALDataset::SetMetadata(cells_->GetMetadata(nullptr));
  for (int band = 1; band <= cells_->GetRasterCount(); ++band) {
    SetBand(band, new HealpixBand(this, band));
  }
}

}  // namespace

GDALDataset* open_on_the_sphere(const std::shared_ptr<Array>& array,
                                const std::vector<std::uint64_t>& slice, const std::string& name,
                                const std::string& subdataset) {
  const auto found = find_healpix(gather_evidence(array, array->known_dimensions()));
  if (!found) {
    throw Error("array " + array->GetFullName() +
                " is on no HEALPix grid, as the open option SPHERE needs");
  }
  if (found->grid.side() > std::uint64_t{1} << 26) {
    throw Error("array " + array->GetFullName() + " has more cells than a raster can show");
  }
  auto cells = std::make_unique<RasterDataset>(RasterView(array, found->axis, std::nullopt, slice),
                                               name, subdataset);
  CellPlaces places(*found, *array);
  const bool is_float = GDALDataTypeIsFloating(cells->GetRasterBand(1)->GetRasterDataType()) != 0;
  if (!places.has_all() && !is_float && array->GetRawNoDataValue() == nullptr) {
    throw Error("array " + array->GetFullName() + " has no nodata value for places without a cell");
  }
  return new HealpixDataset(std::move(places), std::move(cells), name);
}

}  // namespace gdal_zarr
