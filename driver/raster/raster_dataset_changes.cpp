// What a dataset does for those who write.
#include <cpl_string.h>

#include <algorithm>

#include "driver/conventions/crs.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "driver/raster/store_georeferencing.h"

namespace gdal_zarr {
namespace {

bool is_default_domain(const char* domain) {
  return domain == nullptr || domain[0] == '\0';
}

}  // namespace

RasterDataset::~RasterDataset() {
#if GDAL_ZARR_AT_LEAST(3, 7)
  RasterDataset::Close();
#else
  flush(true);
#endif
}

#if GDAL_ZARR_AT_LEAST(3, 7)
CPLErr RasterDataset::Close(GDAL_ZARR_CLOSE_PARAMETERS) {
  if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
  const CPLErr flushed = flush(true);
  const CPLErr closed = GDALPamDataset::Close();
  return flushed == CE_None ? closed : flushed;
}
#endif

bool RasterDataset::build_default_overviews(GDALProgressFunc progress, void* progress_data) {
  constexpr int kTile = 256;
  std::vector<int> factors;
  for (int factor = 2; std::max(nRasterXSize, nRasterYSize) > kTile * factor / 2; factor *= 2) {
    factors.push_back(factor);
  }
  if (factors.empty()) return true;
  const bool has_colors = GetRasterBand(1)->GetColorTable() != nullptr;
  return BuildOverviews(has_colors ? "NEAREST" : "AVERAGE", static_cast<int>(factors.size()),
                        factors.data(), 0, nullptr, progress, progress_data, nullptr) == CE_None;
}

CPLErr RasterDataset::flush(bool at_closing) {
  CPLErr result = CE_None;
#if GDAL_ZARR_AT_LEAST(3, 7)
  result = GDALPamDataset::FlushCache(at_closing);
#else
  // The handler has been told of what failed there.
  GDALPamDataset::FlushCache(at_closing);
#endif
  if (!is_writable()) return result;
  if (overviews_) {
    for (const auto& overview : *overviews_) {
      if (overview->flush(at_closing) != CE_None) result = CE_Failure;
    }
  }
  const bool is_flushed = guarded(false, [this] {
    if (georeferencing_has_changed_) {
      store_georeferencing(view_, geotransform_, crs_.get());
      georeferencing_has_changed_ = false;
    }
    view_.array().session()->flush();
    return true;
  });
  return is_flushed ? result : CE_Failure;
}

void RasterDataset::settle_blocks(std::span<const int> bands, int x, int y, int columns, int rows) {
  for (const int index : bands) {
    GDALRasterBand& band = *GetRasterBand(index + 1);
    int width = 0;
    int height = 0;
    band.GetBlockSize(&width, &height);
    for (int block_y = y / height; block_y <= (y + rows - 1) / height; ++block_y) {
      for (int block_x = x / width; block_x <= (x + columns - 1) / width; ++block_x) {
        band.FlushBlock(block_x, block_y, TRUE);
      }
    }
  }
}

CPLErr RasterDataset::SetSpatialRef(const OGRSpatialReference* crs) {
  if (!is_writable()) return GDALPamDataset::SetSpatialRef(crs);
  crs_.reset(crs == nullptr || crs->IsEmpty() ? nullptr : crs->Clone());
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  georeferencing_has_changed_ = true;
  return CE_None;
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::SetGeoTransform(const GDALGeoTransform& transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = transform[static_cast<int>(i)];
  geotransform_ = values;
#else
CPLErr RasterDataset::SetGeoTransform(double* transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  std::copy(transform, transform + values.size(), values.begin());
  geotransform_ = values;
#endif
  georeferencing_has_changed_ = true;
  return CE_None;
}

// Makes the attributes that are shown as metadata these. What is said already, by the root's
// attributes too, keeps its type.
void RasterDataset::change_metadata(CPLStringList metadata) {
  const Session& session = *view_.array().session();
  const zarrcore::Json root = session.root_is_array() ? zarrcore::Json::object()
                                                      : shown_attributes(*session.attributes(""));
  for (const auto& array : view_.arrays()) {
    const zarrcore::Json shown = array->shown_attributes();
    array->change([&](zarrcore::ArrayMetadata& changed) {
      for (const auto& [name, value] : shown.items()) {
        if (name != kColorInterpretation && metadata.FetchNameValue(name.c_str()) == nullptr) {
          changed.attributes.erase(name);
        }
      }
      for (int i = 0; i < metadata.size(); ++i) {
        char* key = nullptr;
        const char* value = CPLParseNameValue(metadata[i], &key);
        const std::string name = key != nullptr ? key : "";
        CPLFree(key);
        if (name.empty() || value == nullptr) continue;
        const zarrcore::Json* known = zarrcore::find_member(shown, name);
        if (known == nullptr) known = zarrcore::find_member(root, name);
        if (known == nullptr || attribute_text(*known) != value) changed.attributes[name] = value;
      }
    });
  }
  GDALDataset::SetMetadata(metadata.List());
}

CPLErr RasterDataset::SetMetadata(MetadataList metadata, const char* domain) {
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadata(metadata, domain);
  }
  return guarded(CE_Failure, [&] {
    change_metadata(CPLStringList(CSLDuplicate(metadata)));
    return CE_None;
  });
}

CPLErr RasterDataset::SetMetadataItem(const char* name, const char* value, const char* domain) {
  if (!is_writable() || !is_default_domain(domain)) {
    return GDALPamDataset::SetMetadataItem(name, value, domain);
  }
  return guarded(CE_Failure, [&] {
    CPLStringList metadata(CSLDuplicate(GDALDataset::GetMetadata()));
    metadata.SetNameValue(name, value);
    change_metadata(metadata);
    return CE_None;
  });
}

}  // namespace gdal_zarr
