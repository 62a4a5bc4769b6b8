#include "driver/entry/create.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/entry/copy_raster.h"
#include "driver/entry/copy_references.h"
#include "driver/entry/create_multidim.h"
#include "driver/entry/raster_creation.h"
#include "driver/gdal/error_guard.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;

GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    check_copies_no_references(options);
    RasterCreation creation(name, options);
    std::vector<GDALDataType> types(static_cast<std::size_t>(std::max(bands, 0)), type);
    auto dataset = creation.run({columns, rows, std::move(types), std::nullopt});
    if (creation.options().is("OVERVIEWS", "AUTO")) dataset->build_overviews_when_closed();
    // An archive is complete when the dataset is closed. Over the network, the documents are
    // stored, and consolidated metadata waits for what will be set before.
    const bool is_flushed = !creation.makes_archive() && !creation.is_on_network();
    if (is_flushed && dataset->flush(false) != CE_None) {
      FirstFailure::note();
      creation.undo(std::move(dataset));
    } else {
      creation.accept();
    }
    return dataset.release();
  });
}

GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data) {
  if (copies_references(options)) {
    return guarded<GDALDataset*>(
        nullptr, [&] { return copy_references(name, *source, options, progress, progress_data); });
  }
  if (source->GetRootGroup() != nullptr) {
    return copy_hierarchy(name, *source, is_strict != FALSE, options, progress, progress_data);
  }
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    if (source->GetRasterCount() == 0) {
      throw Error(std::string(name) +
                  ": the source has no bands; if it has subdatasets, "
                  "gdalmdimtranslate copies them");
    }
    RasterCreation creation(name, options);
    auto dataset = creation.run(new_raster_like(*source, is_strict != FALSE));
    bool is_copied = false;
    try {
      const bool has_overviews = creation.options().is("OVERVIEWS", "AUTO");
      is_copied = copy_raster(*source, *dataset, is_strict != FALSE, has_overviews, progress,
                              progress_data);
    } catch (...) {
      creation.undo(std::move(dataset));
      throw;
    }
    if (is_copied) {
      creation.accept();
    } else {
      FirstFailure::note();
      creation.undo(std::move(dataset));
    }
    return dataset.release();
  });
}

}  // namespace gdal_zarr
