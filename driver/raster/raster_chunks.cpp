// Chunks below a window: reading them in advance, and whether they are stored.
#include <cpl_string.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "driver/gdal/error_guard.h"
#include "driver/raster/raster_band.h"

namespace gdal_zarr {
namespace {

bool is_same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

CPLErr RasterDataset::AdviseRead(int x, int y, int columns, int rows, int buffer_columns,
                                 int buffer_rows, GDALDataType type, int band_count, int* bands,
                                 OptionList options) {
  // Before GDAL 3.11, Python passes this to request all bands.
  if (band_count == 0 && bands == nullptr) band_count = nBands;
  return GDALPamDataset::AdviseRead(x, y, columns, rows, buffer_columns, buffer_rows, type,
                                    band_count, bands, options);
}

CPLErr RasterBand::AdviseRead(int x, int y, int columns, int rows, int buffer_columns,
                              int buffer_rows, GDALDataType type, OptionList options) {
  // Overviews are read instead.
  if (buffer_columns < columns && buffer_rows < rows && GetOverviewCount() > 0) {
    return GDALPamRasterBand::AdviseRead(x, y, columns, rows, buffer_columns, buffer_rows, type,
                                         options);
  }
  return guarded(CE_Failure, [&] {
    const auto length = [](int value) { return static_cast<std::uint64_t>(value); };
    const auto selection =
        view().selection(nBand - 1, length(x), length(y), length(columns), length(rows));
    // Programs announce whole images, which they read window by window.
    const bool is_bounded = CSLFetchNameValue(options, "CACHE_SIZE") != nullptr;
    if (is_bounded || !array().expect_reads(selection)) array().advise(selection, options);
    return CE_None;
  });
}

bool RasterDataset::shares_nodata() {
  if (!shares_nodata_) {
    const auto nodata_of = [this](int number) {
      int has_nodata = FALSE;
      const double value = band(number).GetNoDataValue(&has_nodata);
      return has_nodata != FALSE ? std::optional(value) : std::nullopt;
    };
    const auto first = nodata_of(1);
    shares_nodata_ = true;
    for (int number = 2; number <= nBands; ++number) {
      const auto other = nodata_of(number);
      *shares_nodata_ &=
          other.has_value() == first.has_value() && (!first || is_same_number(*first, *other));
    }
  }
  return *shares_nodata_;
}

// Returns true if missing chunks read as the nodata value that all bands share, or as zero without
// one.
bool RasterBand::missing_is_nodata() {
  if (!dataset().shares_nodata()) return false;
  int has_nodata = FALSE;
  const double nodata = GetNoDataValue(&has_nodata);
  GByte element[2 * sizeof(double)] = {};
  array().gdal_element(array().core().fill_value(), element);
  double parts[2] = {};
  GDALCopyWords(element, eDataType, 0, parts, GDT_CFloat64, 0, 1);
  return is_same_number(parts[0], has_nodata != FALSE ? nodata : 0) && parts[1] == 0;
}

int RasterBand::IGetDataCoverageStatus(int x, int y, int columns, int rows, int stop_mask,
                                       double* percentage) {
  constexpr int kUnknown = GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | GDAL_DATA_COVERAGE_STATUS_DATA;
  if (percentage != nullptr) *percentage = 100;
  return guarded(kUnknown, [&] {
    const auto covered = array().coverage(
        view().selection(nBand - 1, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y),
                         static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)),
        (stop_mask & GDAL_DATA_COVERAGE_STATUS_DATA) != 0,
        (stop_mask & GDAL_DATA_COVERAGE_STATUS_EMPTY) != 0);
    if (!covered) return kUnknown;
    auto [stored, all] = *covered;
    // Programs do not copy empty areas: in the copy, they would read as nodata, or as zero without
    // nodata.
    if (stored < all && !missing_is_nodata()) stored = all;
    if (percentage != nullptr) {
      *percentage = 100.0 * static_cast<double>(stored) / static_cast<double>(all);
    }
    int status = 0;
    if (stored > 0) status |= GDAL_DATA_COVERAGE_STATUS_DATA;
    if (stored < all) status |= GDAL_DATA_COVERAGE_STATUS_EMPTY;
    return status;
  });
}

}  // namespace gdal_zarr
