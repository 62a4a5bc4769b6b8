// What a dataset does for those who write.
#include <cpl_string.h>

#include <algorithm>

#include "driver/conventions/crs.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/raster/build_overviews.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "driver/raster/sidecar.h"
#include "driver/stores/connection_string.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

bool is_default_domain(const char* domain) {
  return domain == nullptr || domain[0] == '\0';
}

}  // namespace

RasterDataset::~RasterDataset() {
  finish();
}

#if GDAL_ZARR_AT_LEAST(3, 7)
CPLErr RasterDataset::Close(GDAL_ZARR_CLOSE_PARAMETERS) {
  if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
  const CPLErr flushed = finish();
  const CPLErr closed = GDALPamDataset::Close();
  return flushed == CE_None ? closed : flushed;
}
#endif

CPLErr RasterDataset::IBuildOverviews(const char* resampling, int count, const int* factors,
                                      int band_count, const int* bands, GDALProgressFunc progress,
                                      void* progress_data, CSLConstList options) {
  if (!is_writable() || view_.array().session()->root_is_array()) {
    return GDALPamDataset::IBuildOverviews(resampling, count, factors, band_count, bands, progress,
                                           progress_data, options);
  }
  return guarded(CE_Failure, [&] {
    if (view_.is_slice()) {
      throw zarrcore::Error(std::string(GetDescription()) +
                            ": overviews are built for the array, not for a slice of it");
    }
    if (flush(false) != CE_None) return CE_Failure;
    overviews_.reset();
    if (count == 0) {
      remove_overview_levels(view_);
    } else {
      const std::span<const int> all_factors(factors, static_cast<std::size_t>(count));
      make_overview_levels(view_, all_factors, band_count == nBands, resampling);
      if (!fill_overviews(resampling, all_factors, {bands, static_cast<std::size_t>(band_count)},
                          progress, progress_data)) {
        return CE_Failure;
      }
    }
    return flush(false);
  });
}

bool RasterDataset::fill_overviews(const char* resampling, std::span<const int> factors,
                                   std::span<const int> bands, GDALProgressFunc progress,
                                   void* progress_data) {
  std::vector<RasterDataset*> levels;
  for (const auto& overview : overviews()) {
    const bool is_wanted = std::any_of(factors.begin(), factors.end(), [&](int factor) {
      const auto length = [&](int fine) {
        return static_cast<int>(overview_length(static_cast<std::uint64_t>(fine), factor));
      };
      return overview->nRasterXSize == length(nRasterXSize) &&
             overview->nRasterYSize == length(nRasterYSize);
    });
    if (is_wanted) levels.push_back(overview.get());
  }
  const auto total = static_cast<double>(bands.size());
  for (std::size_t i = 0; i < bands.size(); ++i) {
    std::vector<GDALRasterBandH> targets;
    targets.reserve(levels.size());
    for (RasterDataset* level : levels) {
      targets.push_back(GDALRasterBand::ToHandle(level->GetRasterBand(bands[i])));
    }
    const auto done = static_cast<double>(i);
    void* scaled =
        GDALCreateScaledProgress(done / total, (done + 1) / total, progress, progress_data);
    const CPLErr result =
        GDALRegenerateOverviews(GDALRasterBand::ToHandle(GetRasterBand(bands[i])),
                                static_cast<int>(targets.size()), targets.data(), resampling,
                                scaled != nullptr ? GDALScaledProgress : GDALDummyProgress, scaled);
    GDALDestroyScaledProgress(scaled);
    if (result != CE_None) return false;
  }
  return true;
}

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

void RasterDataset::discard() {
  is_discarded_ = true;
  nPamFlags &= ~GPF_DIRTY;
}

// Of a raster of several arrays: each is opened by itself, and finds then what GDAL keeps beside
// the store for it.
void RasterDataset::keep_beside_arrays() {
  nPamFlags &= ~GPF_DIRTY;
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const auto& array = view_.arrays()[i];
    const std::string& path = array->session()->path();
    RasterDataset one(RasterView(array, view_.x_axis(), view_.y_axis(), {}),
                      format_connection_string(path, array->GetFullName()), array->GetFullName(),
                      0);
    copy_unstored(*this, one);
    auto& band = static_cast<RasterBand&>(*GetRasterBand(static_cast<int>(i) + 1));
    auto& only_band = static_cast<RasterBand&>(*one.GetRasterBand(1));
    copy_unstored(band, only_band);
    if (const std::string name = band.name_beside_store(); !name.empty()) {
      only_band.set_name_beside_store(name);
    }
  }
}

void RasterDataset::load_beside_arrays() {
  for (std::size_t i = 0; i < view_.arrays().size(); ++i) {
    const auto& array = view_.arrays()[i];
    RasterDataset one(RasterView(array, view_.x_axis(), view_.y_axis(), {}),
                      format_connection_string(array->session()->path(), array->GetFullName()),
                      array->GetFullName(), 0);
    if (i == 0) copy_unstored(one, *this);
    auto& only_band = static_cast<RasterBand&>(*one.GetRasterBand(1));
    auto& band = static_cast<RasterBand&>(*GetRasterBand(static_cast<int>(i) + 1));
    copy_unstored(only_band, band);
    if (const std::string name = only_band.name_beside_store(); !name.empty()) {
      band.set_name_beside_store(name);
    }
  }
  nPamFlags &= ~GPF_DIRTY;
}

// Before pixels: they are not to be read by what was said before.
void RasterDataset::store_values_of_bands() {
  for (BandValues& values : band_values_) values.store();
}

FlushResult RasterDataset::FlushCache(bool at_closing) {
  const CPLErr flushed = flush(at_closing);
  if (!at_closing && !is_discarded_) view_.array().session()->refresh();
  return flush_result(flushed);
}

CPLErr RasterDataset::flush(bool at_closing) {
  if (is_discarded_) return CE_None;
  CPLErr result = CE_None;
  if (view_.arrays().size() > 1 && (nPamFlags & GPF_DIRTY) != 0) {
    result = guarded(CE_Failure, [this] {
      keep_beside_arrays();
      return CE_None;
    });
  }
#if GDAL_ZARR_AT_LEAST(3, 7)
  const CPLErr of_pam = GDALPamDataset::FlushCache(at_closing);
  if (of_pam != CE_None) result = of_pam;
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
    store_values_of_bands();
    if (georeferencing_has_changed_) {
      store_georeferencing(view_, geotransform_, crs_.get());
      georeferencing_has_changed_ = false;
    }
    view_.array().session()->flush();
    return true;
  });
  return is_flushed ? result : CE_Failure;
}

// The last flush, by Close() or the destructor.
CPLErr RasterDataset::finish() {
  if (is_finished_) return CE_None;
  is_finished_ = true;
  if (builds_overviews_when_closed_) {
    builds_overviews_when_closed_ = false;
    const bool is_built =
        guarded(false, [this] { return build_default_overviews(GDALDummyProgress, nullptr); });
    if (!is_built) {
      flush(true);
      return CE_Failure;
    }
  }
  return flush(true);
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

// GDAL's programs set the identity to say that there is none.
void RasterDataset::place(const GeoTransform& transform) {
  constexpr GeoTransform kNowhere{0, 1, 0, 0, 0, 1};
  geotransform_ = transform == kNowhere ? std::nullopt : std::optional(transform);
}

CPLErr RasterDataset::SetSpatialRef(const OGRSpatialReference* crs) {
  if (!is_writable()) return GDALPamDataset::SetSpatialRef(crs);
  return guarded(CE_Failure, [&] {
    crs_.reset(crs == nullptr || crs->IsEmpty() ? nullptr : crs->Clone());
    if (crs_) set_axis_mapping(*crs_, 1, 2);
    georeferencing_has_changed_ = true;
    return CE_None;
  });
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::SetGeoTransform(const GDALGeoTransform& transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = transform[static_cast<int>(i)];
  place(values);
#else
CPLErr RasterDataset::SetGeoTransform(double* transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  std::copy(transform, transform + values.size(), values.begin());
  place(values);
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
        // The place of the raster does not go with its metadata.
        const bool is_kept = name == kColorInterpretation || name == kBandsAttribute ||
                             name == "grid_mapping" || name == "coordinates";
        if (!is_kept && metadata.FetchNameValue(name.c_str()) == nullptr) {
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
