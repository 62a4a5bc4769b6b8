// The masks of the classic dataset: arrays of the store, or files that GDAL keeps beside it.
#include <algorithm>

#include "driver/gdal/error_guard.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {
namespace {

constexpr double kValid = 255;

}  // namespace

// Of each array, or one for all.
const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::masks() {
  if (masks_) return *masks_;
  masks_.emplace();
  guarded(false, [this] {
    const zarrcore::Shape& shape = view_.array().core().shape();
    const auto has_all = [&](const Array& mask) { return mask.core().shape() == shape; };
    // Others are for the array's own X and Y.
    const bool has_own_axes =
        shape.size() >= 2 && view_.x_axis() && view_.y_axis() &&
        RasterAxes{*view_.x_axis(), *view_.y_axis()} == view_.array().raster_axes();
    std::vector<std::shared_ptr<Array>> arrays;
    for (const auto& array : view_.arrays()) {
      arrays.push_back(find_mask(*array));
      if (arrays.back() && !has_own_axes && !has_all(*arrays.back())) arrays.back() = nullptr;
    }
    if (std::adjacent_find(arrays.begin(), arrays.end(), std::not_equal_to<>()) == arrays.end()) {
      arrays.resize(1);
      if (!arrays[0]) return true;
    }
    std::vector<std::unique_ptr<RasterDataset>> found;
    found.reserve(arrays.size());
    for (const auto& mask : arrays) {
      found.emplace_back();
      if (!mask) continue;
      RasterView view = has_all(*mask) ? view_.of({mask}) : RasterView(mask, 1, 0, {});
      if (view.is_flipped() != view_.is_flipped()) view.flip();
      found.back().reset(new RasterDataset(std::move(view), *this));
    }
    masks_ = std::move(found);
    return true;
  });
  return *masks_;
}

GDALRasterBand* RasterDataset::mask_of(int band) {
  if (masks().empty()) return nullptr;
  const auto& mask = masks()[masks().size() > 1 ? static_cast<std::size_t>(band - 1) : 0];
  if (!mask) return nullptr;
  return mask->GetRasterBand(mask->nBands > 1 ? band : 1);
}

bool RasterDataset::has_one_mask() {
  return masks().size() == 1 && masks()[0]->nBands == 1;
}

CPLErr RasterDataset::CreateMaskBand(int flags) {
  return create_mask(flags | GMF_PER_DATASET, 1);
}

CPLErr RasterDataset::create_mask(int flags, int band) {
  const bool is_of_dataset = (flags & GMF_PER_DATASET) != 0;
  if (!is_writable() || is_overview_ || view_.array().session()->root_is_array()) {
    return is_of_dataset ? GDALPamDataset::CreateMaskBand(flags)
                         : GetRasterBand(band)->GDALRasterBand::CreateMaskBand(flags);
  }
  return guarded(CE_Failure, [&] {
    if (mask_of(band) != nullptr) return CE_None;
    const bool is_of_array = !is_of_dataset && view_.arrays().size() > 1;
    const RasterView view = is_of_array
                                ? RasterView(view_.arrays()[static_cast<std::size_t>(band) - 1],
                                             view_.x_axis(), view_.y_axis(), {})
                                : view_;
    const bool has_all = view.array().core().shape().size() <= 2 || !is_of_dataset;
    create_mask_array(view, has_all);
    for (auto& mask : *masks_) {
      if (mask) old_overviews_.push_back(std::move(mask));
    }
    masks_.reset();
    // The other slices of the array have no mask, so all of their pixels are valid.
    if (has_all && view.band_count() > 1) {
      for (int other = 1; other <= nBands; ++other) {
        if (other != band && mask_of(other)->Fill(kValid) != CE_None) return CE_Failure;
      }
    }
    return CE_None;
  });
}

}  // namespace gdal_zarr
