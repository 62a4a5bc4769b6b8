#include "driver/raster/raster_dataset.h"

#include <cpl_string.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <tuple>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/time.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/plane_georeferencing.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/resampled_write.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// Halving a raster as often leaves nothing of it.
constexpr std::size_t kMaxOverviews = 31;

bool is_evenly_stepped(int length, int buffer_length) {
  return buffer_length > 0 && length % buffer_length == 0;
}

// For each coarser level, an array for each that the view has.
std::vector<std::vector<std::shared_ptr<Array>>> overview_arrays(const RasterView& view) {
  std::vector<std::vector<std::shared_ptr<Array>>> levels;
  for (const auto& array : view.arrays()) {
    const auto overviews = array->overviews();
    if (array == view.arrays().front()) levels.resize(overviews.size());
    levels.resize(std::min(levels.size(), overviews.size()));
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].push_back(overviews[i]);
  }
  return levels;
}

}  // namespace

RasterDataset::RasterDataset(RasterView view, const std::string& name,
                             const std::string& subdataset, double metadata_seconds)
    : view_(std::move(view)), metadata_seconds_(metadata_seconds) {
  make_bands();
  crs_ = view_.array().crs();
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  geotransform_ = find_geotransform(view_);
  CPLStringList geolocation = find_geolocation(view_, crs_.get());
  if (!geolocation.empty()) GDALDataset::SetMetadata(geolocation.List(), "GEOLOCATION");
  set_metadata();

  SetDescription(name.c_str());
  const std::string& path = view_.array().session()->path();
  SetPhysicalFilename(path.c_str());
  if (!subdataset.empty()) SetSubdatasetName(subdataset.c_str());
  load_sidecar();
  // Overviews in a file of their own, beside the store.
  if (subdataset.empty() && VSIIsLocal(path.c_str())) oOvManager.Initialize(this, path.c_str());
}

// What is kept in a file beside the store. On the network GDAL would ask four times, for a listing
// and for names that files of other programs had, too.
void RasterDataset::load_sidecar() {
  const MaskedMessages masked;
  const char* file = BuildPamFilename();
  CPLStringList siblings;
  if (file != nullptr && !VSIIsLocal(file)) {
    VSIStatBufL status;
    const bool is_there = VSIStatExL(file, &status, VSI_STAT_EXISTS_FLAG) == 0;
    siblings.AddString(is_there ? CPLGetFilename(file) : "");
  }
  TryLoadXML(siblings.List());
}

RasterDataset::RasterDataset(RasterView view, const RasterDataset& fine)
    : view_(std::move(view)), crs_(fine.crs_), overviews_(std::in_place) {
  make_bands();
  if (fine.geotransform_) {
    geotransform_ = coarser_geotransform(*fine.geotransform_, fine.nRasterXSize, fine.nRasterYSize,
                                         nRasterXSize, nRasterYSize);
  }
  // Nothing of an overview is kept beside the store.
  nPamFlags |= GPF_DISABLED;
}

void RasterDataset::make_bands() {
  nRasterXSize = view_.width();
  nRasterYSize = view_.height();
  eAccess = view_.array().session()->is_writable() ? GA_Update : GA_ReadOnly;
  for (int band = 1; band <= view_.band_count(); ++band) SetBand(band, new RasterBand(this, band));
}

const std::vector<std::shared_ptr<GDALMDArray>>& RasterDataset::variables_of_bands() {
  if (!variables_of_bands_) {
    std::vector<std::shared_ptr<GDALMDArray>> variables;
    for (const std::size_t axis : view_.other_axes()) {
      variables.push_back(view_.array().GetDimensions()[axis]->GetIndexingVariable());
    }
    variables_of_bands_ = std::move(variables);
  }
  return *variables_of_bands_;
}

BandValues& RasterDataset::values_of_bands(int band) {
  if (band_values_.empty()) {
    std::vector<BandValues> values;
    for (const auto& array : view_.arrays()) values.emplace_back(*array, view_.slice_count());
    band_values_ = std::move(values);
  }
  return band_values_[view_.arrays().size() > 1 ? static_cast<std::size_t>(band) : 0];
}

// Attributes of the root, and before them those of the array.
void RasterDataset::set_metadata() {
  const auto set = [this](const zarrcore::Json& attributes) {
    for (const auto& [name, value] : attributes.items()) {
      if (name == kColorInterpretation || name == kBandsAttribute) continue;  // the bands say it
      // Not the one of GDALPamDataset: what the store says need not go to an .aux.xml file.
      GDALDataset::SetMetadataItem(name.c_str(), attribute_text(value).c_str(), "");
    }
  };
  const Session& session = *view_.array().session();
  if (!session.root_is_array()) set(shown_attributes(*session.attributes("")));
  set(view_.array().shown_attributes());
}

char** RasterDataset::GetFileList() {
  return guarded<char**>(nullptr, [this] {
    const Session& session = *view_.array().session();
    // The folders of the array and of its coordinates, and the groups around the array.
    std::set<std::string> nodes{""};
    for (std::string path = view_.array().node_path(); !path.empty();
         path = zarrcore::parent_path(path)) {
      nodes.insert(path);
    }
    for (const auto& dimension : view_.array().GetDimensions()) {
      if (const auto variable = dimension->GetIndexingVariable()) {
        nodes.insert(session.node_path(variable->GetFullName()));
      }
    }
    const std::string root = session.hierarchy().store()->description();
    const CPLStringList of_pam(GDALPamDataset::GetFileList());
    CPLStringList files;
    for (int i = 0; i < of_pam.size(); ++i) {
      files.AddString(has_reference_prefix(of_pam[i]) ? root.c_str() : of_pam[i]);
    }
    for (const std::string& key : session.hierarchy().documents_read()) {
      if (!nodes.contains(std::string(zarrcore::parent_path(key)))) continue;
      // Documents that stand in references are no files.
      const std::string file = zarrcore::join_path(root, key);
      if (path_exists(file)) files.AddString(file.c_str());
    }
    return files.StealList();
  });
}

const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::overviews() {
  if (overviews_) return *overviews_;
  overviews_.emplace();
  guarded(false, [this] {
    for (const auto& arrays : overview_arrays(view_)) {
      const Array& array = *arrays.front();
      if (array.GetDimensions().size() != view_.array().GetDimensions().size()) continue;
      RasterView coarse = view_.of(arrays);
      const RasterDataset& finer = overviews_->empty() ? *this : *overviews_->back();
      const bool is_coarser =
          coarse.width() <= finer.nRasterXSize && coarse.height() <= finer.nRasterYSize &&
          (coarse.width() < finer.nRasterXSize || coarse.height() < finer.nRasterYSize);
      if (!is_coarser || coarse.band_count() != nBands || overviews_->size() >= kMaxOverviews) {
        report(CE_Warning, CPLE_AppDefined, "Zarr: array %s is no overview of %s",
               array.GetFullName().c_str(), view_.array().GetFullName().c_str());
        continue;
      }
      overviews_->push_back(
          std::unique_ptr<RasterDataset>(new RasterDataset(std::move(coarse), *this)));
    }
    return true;
  });
  return *overviews_;
}

RasterDataset* RasterDataset::best_overview(int& x, int& y, int& columns, int& rows,
                                            int buffer_columns, int buffer_rows,
                                            GDALRasterIOExtraArg* extra) {
  const bool is_decimated = buffer_columns < columns || buffer_rows < rows;
  if (!is_decimated || overviews().empty()) return nullptr;
  const int level = GDALBandGetBestOverviewLevel2(GetRasterBand(1), x, y, columns, rows,
                                                  buffer_columns, buffer_rows, extra);
  return level < 0 ? nullptr : (*overviews_)[static_cast<std::size_t>(level)].get();
}

const OGRSpatialReference* RasterDataset::GetSpatialRef() const {
  return crs_ ? crs_.get() : GDALPamDataset::GetSpatialRef();
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::GetGeoTransform(GDALGeoTransform& transform) const {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  transform = GDALGeoTransform(geotransform_->data());
  return CE_None;
}
#else
CPLErr RasterDataset::GetGeoTransform(double* transform) {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  std::copy(geotransform_->begin(), geotransform_->end(), transform);
  return CE_None;
}
#endif

std::optional<CPLErr> RasterDataset::transfer_directly(
    GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer, int buffer_columns,
    int buffer_rows, GDALDataType type, std::span<const int> bands, GSpacing pixel_space,
    GSpacing line_space, GSpacing band_space, const GDALRasterIOExtraArg* extra) {
  const bool is_exact = buffer_columns == columns && buffer_rows == rows;
  const bool is_stepped = flag == GF_Read && extra->eResampleAlg == GRIORA_NearestNeighbour &&
                          extra->bFloatingPointWindowValidity == FALSE &&
                          is_evenly_stepped(columns, buffer_columns) &&
                          is_evenly_stepped(rows, buffer_rows);
  if (!is_exact && !is_stepped && flag == GF_Read) return std::nullopt;
  if (is_writable()) settle_blocks(bands, x, y, columns, rows);
  if (flag == GF_Write) store_values_of_bands();
  RasterRequest request;
  request.x_step = static_cast<std::uint64_t>(columns / buffer_columns);
  request.y_step = static_cast<std::uint64_t>(rows / buffer_rows);
  // Nearest neighbour takes the pixel under the centre of each pixel of the buffer.
  request.x = static_cast<std::uint64_t>(x) + request.x_step / 2;
  request.y = static_cast<std::uint64_t>(y) + request.y_step / 2;
  request.columns = static_cast<std::uint64_t>(buffer_columns);
  request.rows = static_cast<std::uint64_t>(buffer_rows);
  request.buffer = buffer;
  request.type = type;
  request.pixel_space = pixel_space;
  request.line_space = line_space;
  request.band_space = band_space;
  request.progress = extra->pfnProgress;
  request.progress_data = extra->pProgressData;
  if (!is_exact && flag == GF_Write) {
    request.columns = static_cast<std::uint64_t>(columns);
    request.rows = static_cast<std::uint64_t>(rows);
    request.x = static_cast<std::uint64_t>(x);
    request.y = static_cast<std::uint64_t>(y);
    return write_resampled(view_, request, bands, buffer_columns, buffer_rows) ? CE_None
                                                                               : CE_Failure;
  }
  return view_.transfer(flag, request, bands) ? CE_None : CE_Failure;
}

CPLErr RasterDataset::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                                int buffer_columns, int buffer_rows, GDALDataType type,
                                int band_count, BandMap band_map, GSpacing pixel_space,
                                GSpacing line_space, GSpacing band_space,
                                GDALRasterIOExtraArg* extra) {
  return guarded(CE_Failure, [&] {
    if (flag == GF_Read) {
      GDALRasterIOExtraArg overview_extra = *extra;
      if (RasterDataset* overview =
              best_overview(x, y, columns, rows, buffer_columns, buffer_rows, &overview_extra)) {
        return overview->IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                   type, band_count, band_map, pixel_space, line_space, band_space,
                                   &overview_extra);
      }
    }
    std::vector<int> bands(band_map, band_map + band_count);
    for (int& band : bands) --band;
    if (const auto result =
            transfer_directly(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows, type,
                              bands, pixel_space, line_space, band_space, extra)) {
      return *result;
    }
    return GDALPamDataset::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                     type, band_count, band_map, pixel_space, line_space,
                                     band_space, extra);
  });
}

}  // namespace gdal_zarr
