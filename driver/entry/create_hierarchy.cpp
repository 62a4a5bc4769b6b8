// Creating hierarchies by the multidimensional API: empty ones and copies.
#include <cpl_string.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driver/entry/copy_references.h"
#include "driver/entry/copy_virtual.h"
#include "driver/entry/create.h"
#include "driver/entry/manage.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/group.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/erase_raster.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

MultidimDataset* make_hierarchy(const char* name, CSLConstList group_options,
                                CSLConstList options) {
  return guarded<MultidimDataset*>(nullptr, [&] {
    warn_of_unused_options(group_options, kAllOptions);
    warn_of_similar_names(creation_options(), kDatasetOption, "creation option", options);
    check_copies_no_references(options);
    const CreationOptions values(options, kDatasetOption);
    const std::string path = new_store_path(name, values);
    const auto session = create_session(path, values, "open it for update to add arrays");
    session->end_opening();
    // An archive is complete when it is closed. Elsewhere the documents are stored; over the
    // network, consolidated metadata waits for the arrays.
    if (!session->is_archive() && !session->is_slow()) session->flush();
    return new MultidimDataset(session, path);
  });
}

// In a repository, the options say whether arrays that exist are replaced. Groups then become those
// of the copy, and their other arrays stay. Throws zarrcore::Error when a node is in the way.
void make_room(const GDALGroup& source, Session& session, bool overwrites,
               const std::string& group = {}) {
  const auto check = [&](const std::string& path, bool may_be_replaced) {
    if (overwrites && may_be_replaced) return;
    throw zarrcore::Error(
        session.path() + ": " + path + " already exists" +
        (may_be_replaced ? "; OVERWRITE=YES replaces it" : ", and is of another kind"));
  };
  for (const std::string& name : source.GetMDArrayNames()) {
    const std::string path = zarrcore::join_path(group, name);
    if (!session.hierarchy().node(path)) continue;
    check(path, session.array_metadata(path) != nullptr);
    erase_raster(session, path);
  }
  for (const std::string& name : source.GetGroupNames()) {
    const std::string path = zarrcore::join_path(group, name);
    if (!session.hierarchy().node(path)) continue;
    check(path, session.hierarchy().has(path, zarrcore::NodeKind::group));
    session.reuse_group(path);
    if (const auto below = source.OpenGroup(name)) make_room(*below, session, overwrites, path);
  }
}

// The first group or array of `source` that the copy lacks; empty if it has all of them.
std::string find_missing(const GDALGroup& source, const GDALGroup& copy) {
  const std::vector<std::string> arrays = copy.GetMDArrayNames();
  const std::set<std::string> copied(arrays.begin(), arrays.end());
  const auto full_name = [&](const std::string& name) {
    std::string full = source.GetFullName();
    if (full != "/") full += '/';
    full += name;
    return full;
  };
  for (const std::string& name : source.GetMDArrayNames()) {
    if (!copied.contains(name) && !copy.OpenMDArray(name)) return "array " + full_name(name);
  }
  for (const std::string& name : source.GetGroupNames()) {
    const auto from = source.OpenGroup(name);
    const auto to = copy.OpenGroup(name);
    if (!from || !to) return "group " + full_name(name);
    if (std::string missing = find_missing(*from, *to); !missing.empty()) return missing;
  }
  return {};
}

// GDAL copies as much as possible: unless `is_strict`, metadata that could not be read or expressed
// is a warning. A group or an array that is missing in the copy is an error, since its values would
// be lost.
bool copy_nodes(GDALDataset& source, MultidimDataset& copy, bool is_strict, OptionList options,
                GDALProgressFunc progress, void* progress_data) {
  HoldMessages messages;
  if (copy.session().icechunk() != nullptr) {
    make_room(*source.GetRootGroup(), copy.session(), CPLFetchBool(options, "OVERWRITE", false));
  }
  if (GDALDriver::DefaultCreateCopyMultiDimensional(&source, &copy, is_strict, options, progress,
                                                    progress_data) != CE_None) {
    if (!messages.have_failure()) {
      report(CE_Failure, CPLE_UserInterrupt, "Zarr: %s: stopped by the user",
             copy.GetDescription());
    }
    return false;
  }
  if (is_strict && messages.have_failure()) return false;
  const std::string missing = find_missing(*source.GetRootGroup(), *copy.GetRootGroup());
  if (missing.empty()) {
    messages.soften();
  } else {
    report(CE_Failure, CPLE_AppDefined, "Zarr: %s: %s of the source cannot be copied",
           copy.GetDescription(), missing.c_str());
  }
  return missing.empty();
}

}  // namespace

GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    CPLStringList of_dataset;
    for (int i = 0; i < CSLCount(options); ++i) {
      if (!STARTS_WITH_CI(options[i], "ARRAY:")) of_dataset.AddString(options[i]);
    }
    std::unique_ptr<MultidimDataset> copy(make_hierarchy(name, nullptr, of_dataset.List()));
    if (!copy) return nullptr;
    const std::string path = copy->GetDescription();
    const bool is_copied = guarded(false, [&] {
      if (!copy_nodes(source, *copy, is_strict, options, progress, progress_data)) return false;
      // Before GDAL 3.7, a failed flush is reported to the error handler only.
      CPLErrorReset();
      copy->FlushCache(false);
      if (CPLGetLastErrorType() >= CE_Failure) return false;
      copy->session().commit_copy();
      return true;
    });
    const bool is_in_repository = has_icechunk_prefix(path);
    const bool is_virtual = !EQUAL(CSLFetchNameValueDef(options, "VIRTUAL", "NO"), "NO");
    if (is_copied) {
      if (!is_in_repository && !is_virtual) remove_older_sidecar(path);
      return copy.release();
    }
    FirstFailure::note();
    const UnrelatedFailures unrelated;
    if (is_in_repository) {
      const QuietErrors quiet;
      copy->session().roll_back();
      copy.reset();
      return nullptr;
    }
    copy.reset();
    remove_new_store(path);
    return nullptr;
  });
}

GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    check_is_not_virtual(options);
    std::unique_ptr<MultidimDataset> created(make_hierarchy(name, group_options, options));
    if (created && !has_icechunk_prefix(created->GetDescription()))
      remove_older_sidecar(created->GetDescription());
    return static_cast<GDALDataset*>(created.release());
  });
}

}  // namespace gdal_zarr
