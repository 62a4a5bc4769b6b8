#include "driver/raster/raster_dataset.h"

#include <cpl_string.h>

#include <functional>
#include <set>

#include "driver/conventions/position.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/group.h"
#include "driver/raster/raster_band.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

RasterDataset::RasterDataset(RasterView view, const std::string& name,
                             const std::string& subdataset, double metadata_seconds,
                             bool turns_north_up, const SidecarTexts* known_sidecars)
    : view_(std::move(view)), subdataset_(subdataset), metadata_seconds_(metadata_seconds) {
  make_bands();
  SetDescription(name.c_str());
  const std::string& path = view_.array().session()->path();
  set_sidecar_place();
  Position position;
  std::vector<std::function<void()>> requests{[&] { position = find_position(view_); }};
  if (known_sidecars != nullptr) {
    sidecar_texts_ = *known_sidecars;
  } else {
    for (const std::string& file : sidecars_to_read()) {
      std::string& text = sidecar_texts_[file];
      requests.emplace_back([file, &text] { text = read_sidecar(file); });
    }
  }
  view_.array().session()->run_together(requests);
  geotransform_ = position.transform.transform;
  control_points_.stored = std::move(position.gcps);
  crs_ = view_.array().pam_crs();
  // Cloned by this thread, since objects of a worker thread may not outlive it.
  if (!crs_ && position.crs.crs) crs_.reset(position.crs.crs->Clone());
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  crs_is_of_points_ = !geotransform_ && !control_points_.stored.empty();
  // Not GDALPamDataset's: what the store holds need not be in the sidecar as well.
  const auto set = [this](const char* domain, CPLStringList items) {
    if (!items.empty()) GDALDataset::SetMetadata(items.List(), domain);
  };
  if (turns_north_up) turn_north_up();
  // Its rows are in the order of the array.
  if (!view_.is_flipped()) set("GEOLOCATION", geolocation_domain(view_, position));
  set(kGeoreferencingSource, source_domain(position));
  placing_ = position.transform.attributes;
  set_icechunk_metadata(*this, *view_.array().session());
  read_items_ = stored_items();
  set("", attribute_items(read_items_));
  set_image_structure();
  if (view_.arrays().size() > 1) set_spectral_bands();

  load_sidecar();
  // External overviews, in a file beside the store.
  if (subdataset.empty() && VSIIsLocal(path.c_str())) oOvManager.Initialize(this, path.c_str());
}

RasterDataset::RasterDataset(RasterView view, const RasterDataset& fine)
    : view_(std::move(view)), crs_(fine.crs_), is_overview_(true), overviews_(std::in_place) {
  make_bands();
  if (fine.geotransform_) {
    geotransform_ = coarser_geotransform(*fine.geotransform_, fine.nRasterXSize, fine.nRasterYSize,
                                         nRasterXSize, nRasterYSize);
  }
  // An overview has no sidecar.
  nPamFlags |= GPF_DISABLED;
}

void RasterDataset::make_bands() {
  nRasterXSize = view_.width();
  nRasterYSize = view_.height();
  eAccess = view_.array().session()->is_writable() ? GA_Update : GA_ReadOnly;
  for (int band = 1; band <= view_.band_count(); ++band) SetBand(band, new RasterBand(this, band));
}

RasterDataset::~RasterDataset() {
  closing_.emplace();
  finish();
}

#if GDAL_ZARR_AT_LEAST(3, 7)
CPLErr RasterDataset::Close(GDAL_ZARR_CLOSE_PARAMETERS) {
  if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
  const FirstFailure first_failure;
  const CPLErr flushed = finish();
  const CPLErr closed = GDALPamDataset::Close();
  return flushed == CE_None ? closed : flushed;
}
#endif

std::vector<RasterDataset*> RasterDataset::parts() const {
  std::vector<RasterDataset*> parts;
  for (const auto* datasets : {&overviews_, &masks_}) {
    if (!*datasets) continue;
    for (const auto& dataset : **datasets) {
      if (dataset) parts.push_back(dataset.get());
    }
  }
  return parts;
}

void RasterDataset::discard() {
  is_discarded_ = true;
  for (RasterDataset* part : parts()) part->discard();
  nPamFlags &= ~GPF_DIRTY;
}

// Called before pixels are written, which must not be read with the old values.
void RasterDataset::store_values_of_bands() {
  for (BandValues& values : band_values_) values.store();
}

FlushResult RasterDataset::FlushCache(bool at_closing) {
  const FirstFailure first_failure;
  CPLErr flushed = flush(at_closing);
  if (!at_closing && !is_discarded_) {
    Session& session = *view_.array().session();
    if (flushed == CE_None) flushed = guarded(CE_Failure, [&] { session.commit_flushed(); });
    session.refresh();
    refresh_metadata();
  }
  return flush_result(flushed);
}

CPLErr RasterDataset::flush(bool at_closing) {
  if (is_discarded_) return CE_None;
  if (!view_.array().session()->is_archive()) {
    const CPLErr of_sidecar = flush_sidecar(at_closing);
    const CPLErr of_store = flush_to_store();
    return of_store != CE_None ? of_store : of_sidecar;
  }
  // GDAL adds the sidecar of a store in an archive to the archive. For that the archive must be
  // complete, and it cannot be changed afterwards.
  if (flush_to_store() != CE_None) {
    // GDAL would make an archive for it alone.
    if (at_closing) nPamFlags &= ~GPF_DIRTY;
    return CE_Failure;
  }
  return at_closing ? flush_sidecar(at_closing) : CE_None;
}

// Also flushes dirty blocks of GDAL's cache.
CPLErr RasterDataset::flush_sidecar(bool at_closing) {
  CPLErr result = CE_None;
  if (view_.arrays().size() > 1 && (nPamFlags & GPF_DIRTY) != 0) {
    result = guarded(CE_Failure, [this] { save_sidecars_of_arrays(); });
  }
#if GDAL_ZARR_AT_LEAST(3, 7)
  const CPLErr of_pam = GDALPamDataset::FlushCache(at_closing);
  if (of_pam != CE_None) result = of_pam;
#else
  // Failures there are reported to the error handler only.
  GDALPamDataset::FlushCache(at_closing);
#endif
  for (RasterDataset* part : parts()) {
    if (part->flush_sidecar(at_closing) != CE_None) result = CE_Failure;
  }
  return result;
}

CPLErr RasterDataset::flush_to_store() {
  if (is_discarded_ || !is_writable()) return CE_None;
  CPLErr result = CE_None;
#if GDAL_ZARR_AT_LEAST(3, 7)
  result = GDALDataset::FlushCache(false);
#else
  GDALDataset::FlushCache(false);
#endif
  for (RasterDataset* part : parts()) {
    if (part->flush_to_store() != CE_None) result = CE_Failure;
  }
  const bool is_flushed = guarded(false, [this] {
    store_values_of_bands();
    if (georeferencing_has_changed_) store_georeferencing();
    view_.array().session()->flush();
  });
  return is_flushed ? result : CE_Failure;
}

// The last flush, by Close() or the destructor.
CPLErr RasterDataset::finish() {
  if (is_finished_) return CE_None;
  is_finished_ = true;
  // Cleared first: building flushes.
  const bool is_built = !std::exchange(builds_overviews_when_closed_, false) || guarded(false, [&] {
    return build_default_overviews(GDALDummyProgress, nullptr);
  });
  const CPLErr flushed = std::max(flush(true), is_built ? CE_None : CE_Failure);
  if (!ends_session_) return flushed;
  Session& session = *view_.array().session();
  if (flushed != CE_None) session.set_failed();
  const CPLErr ended = guarded(CE_Failure, [&] { session.end_changes(); });
  return std::max(flushed, ended);
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

char** RasterDataset::GetFileList() {
  return guarded<char**>(nullptr, [this] {
    const Session& session = *view_.array().session();
    // The array, its coordinates, and the groups above it.
    const auto above = paths_upward(view_.array().node_path());
    std::set<std::string> nodes(above.begin(), above.end());
    for (const auto& dimension : view_.array().GetDimensions()) {
      if (const auto variable = dimension->GetIndexingVariable()) {
        nodes.insert(session.node_path(variable->GetFullName()));
      }
    }
    const std::string root = session.hierarchy().store()->description();
    CPLStringList files;
    if (has_icechunk_prefix(session.path())) {
      // The documents are inside of its files.
      files.AddString(root.c_str());
      return files.StealList();
    }
    if (has_reference_prefix(GetDescription())) {
      // GDAL would look for files named after the dataset, which do not exist for references.
      files.AddString(root.c_str());
    } else {
      files.AddString(has_reference_prefix(session.path()) ? root.c_str() : session.path().c_str());
      const CPLStringList of_gdal(GDALDataset::GetFileList());
      for (int i = 0; i < of_gdal.size(); ++i) {
        if (session.path() != of_gdal[i]) files.AddString(of_gdal[i]);
      }
      for (const std::string& sidecar : sidecar_files()) files.AddString(sidecar.c_str());
    }
    for (const std::string& key : session.hierarchy().documents_read()) {
      if (!nodes.contains(std::string(zarrcore::parent_path(key)))) continue;
      // A document inside a file of references is not a file.
      const std::string file = zarrcore::join_path(root, key);
      // PAM has listed the document by whose name the dataset was opened.
      if (file != GetDescription() && path_exists(file)) files.AddString(file.c_str());
    }
    return files.StealList();
  });
}

}  // namespace gdal_zarr
