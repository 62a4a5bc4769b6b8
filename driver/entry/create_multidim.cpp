#include "driver/entry/create_multidim.h"

#include <cpl_string.h>

#include <memory>

#include "driver/entry/copy_references.h"
#include "driver/entry/new_store.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/group.h"

namespace gdal_zarr {
namespace {

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

}  // namespace

GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    std::unique_ptr<GDALDataset> created(make_hierarchy(name, group_options, options));
    if (created) remove_older_sidecar(created->GetDescription());
    return created.release();
  });
}

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

}  // namespace gdal_zarr
