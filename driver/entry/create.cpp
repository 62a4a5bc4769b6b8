#include "driver/entry/create.h"

#include <cpl_string.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "driver/entry/copy_references.h"
#include "driver/entry/manage.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/group.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

MultidimDataset* make_hierarchy(const char* name, CSLConstList group_options,
                                CSLConstList options) {
  return guarded<MultidimDataset*>(nullptr, [&] {
    warn_of_unused_options(group_options, kAllOptions);
    warn_of_similar_names(creation_options(), kDatasetOption, "creation option", options);
    check_copies_no_references(options);
    const std::string path = new_store_path(name);
    const auto session = create_session(path, CreationOptions(options, kDatasetOption),
                                        "open it for update to add arrays");
    session->end_opening();
    // An archive is complete when it is closed. Elsewhere the documents are stored; over the
    // network, consolidated metadata waits for the arrays.
    if (!session->is_new_archive() && !session->is_slow()) session->flush();
    return new MultidimDataset(session, path);
  });
}

// Unless `is_strict`, GDAL copies what it can: what could not be read or expressed is a warning. A
// group or an array that the copy lacks is an error, since its values would be lost.
bool copy_nodes(GDALDataset& source, MultidimDataset& copy, bool is_strict, OptionList options,
                GDALProgressFunc progress, void* progress_data) {
  HoldMessages messages;
  const bool is_copied =
      GDALDriver::DefaultCreateCopyMultiDimensional(&source, &copy, is_strict, options, progress,
                                                    progress_data) == CE_None &&
      !copy.session().has_failed_creation();
  if (is_copied) messages.soften();
  return is_copied;
}

// Creates a store under `name` with everything in `source`, which has a root group. Options whose
// names begin with "ARRAY:" are for its arrays. Returns null after a CE_Failure, which is also
// reported when the user stops the copy, and leaves nothing behind; when it returns a dataset, the
// copy is in the store.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    CPLStringList of_dataset;
    for (int i = 0; i < CSLCount(options); ++i) {
      if (!STARTS_WITH_CI(options[i], "ARRAY:")) of_dataset.AddString(options[i]);
    }
    std::unique_ptr<MultidimDataset> copy(make_hierarchy(name, nullptr, of_dataset.List()));
    if (!copy) return nullptr;
    if (copy_nodes(source, *copy, is_strict, options, progress, progress_data)) {
      // Before GDAL 3.7, a failed flush is reported to the error handler only.
      CPLErrorReset();
      copy->FlushCache(false);
      if (CPLGetLastErrorType() < CE_Failure) {
        remove_older_sidecar(copy->GetDescription());
        return copy.release();
      }
    }
    FirstFailure::note();
    const UnrelatedFailures unrelated;
    copy.reset();
    remove_new_store(new_store_path(name));
    return nullptr;
  });
}

}  // namespace

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

GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    std::unique_ptr<GDALDataset> created(make_hierarchy(name, group_options, options));
    if (created) remove_older_sidecar(created->GetDescription());
    return created.release();
  });
}

}  // namespace gdal_zarr
