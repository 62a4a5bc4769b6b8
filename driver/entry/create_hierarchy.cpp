// Creating hierarchies by the multidimensional API: empty ones and copies; and removing what a copy
// replaces.
#include <cpl_string.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/geotransform.h"
#include "driver/entry/create.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/group.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/multidim/raster_view.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/overview_levels.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// An array that has none, or cannot be shown as a raster, has nothing to remove.
void erase_overviews(Session& session, const std::string& node_path) {
  try {
    const auto array = session.array(node_path);
    if (array->GetDimensions().size() < 2 || array->overviews().empty()) return;
    const auto axes = array->raster_axes();
    const RasterView view(array, axes.x, axes.y, {});
    OverviewLevels levels(view);
    levels.remove_all();
    levels.describe({});
  } catch (const zarrcore::Error&) {
    // The levels stay: another program has replaced them by something else.
  }
}

// The names of the dimensions of the arrays in a group and in the groups below it, which share the
// coordinates of groups above. Without the arrays of `excluded` paths.
std::set<std::string> dimension_names_below(Session& session, const std::string& group,
                                            const std::set<std::string>& excluded) {
  std::set<std::string> names;
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (excluded.contains(path)) continue;
    if (child.kind == zarrcore::Child::Kind::group) {
      names.merge(dimension_names_below(session, path, excluded));
    } else if (const auto metadata = session.array_metadata(path)) {
      for (const auto& name : metadata->dimension_names) {
        if (name) names.insert(*name);
      }
    }
  }
  return names;
}

// Returns true if the array holds the coordinates of an array in its group, or in a group below,
// that is none of `excluded`, which are node paths.
bool is_coordinate_of_others(Session& session, const std::string& node_path,
                             const std::set<std::string>& excluded) {
  if (!session.is_dimension_variable(node_path)) return false;
  const std::string group(zarrcore::parent_path(node_path));
  return dimension_names_below(session, group, excluded)
      .contains(std::string(zarrcore::last_segment(node_path)));
}

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

void collect_arrays(const GDALGroup& source, const std::string& group,
                    std::set<std::string>& paths) {
  for (const std::string& name : source.GetMDArrayNames())
    paths.insert(zarrcore::join_path(group, name));
  for (const std::string& name : source.GetGroupNames()) {
    if (const auto below = source.OpenGroup(name))
      collect_arrays(*below, zarrcore::join_path(group, name), paths);
  }
}

// Both have one dimension, and equal values in one unit, calendar, scale and offset.
bool have_same_values(const GDALMDArray& a, const GDALMDArray& b) {
  const auto read = [](const GDALMDArray& array, std::vector<double>& values) {
    const GUInt64 start = 0;
    const std::size_t count = values.size();
    return array.Read(&start, &count, nullptr, nullptr, GDALExtendedDataType::Create(GDT_Float64),
                      values.data());
  };
  const auto calendar_of = [](const GDALMDArray& array) {
    const auto calendar = array.GetAttribute("calendar");
    const char* text = calendar ? calendar->ReadAsString() : nullptr;
    return std::string(text != nullptr ? text : "");
  };
  // The unit of X and Y may have been written for their CRS.
  const std::string type = a.GetDimensionCount() == 1 ? a.GetDimensions()[0]->GetType() : "";
  const bool has_unit_of_crs = a.GetUnit().empty() && (type == GDAL_DIM_TYPE_HORIZONTAL_X ||
                                                       type == GDAL_DIM_TYPE_HORIZONTAL_Y);
  const bool has_other_unit = (a.GetUnit() != b.GetUnit() && !has_unit_of_crs) ||
                              a.GetScale() != b.GetScale() || a.GetOffset() != b.GetOffset() ||
                              calendar_of(a) != calendar_of(b);
  if (a.GetDimensionCount() != 1 || b.GetDimensionCount() != 1 ||
      a.GetTotalElementsCount() != b.GetTotalElementsCount() ||
      a.GetTotalElementsCount() > kMaxCoordinates || has_other_unit ||
      a.GetDataType().GetClass() != GEDTC_NUMERIC || b.GetDataType().GetClass() != GEDTC_NUMERIC) {
    return false;
  }
  std::vector<double> of_a(a.GetTotalElementsCount());
  std::vector<double> of_b(of_a.size());
  return read(a, of_a) && read(b, of_b) && of_a == of_b;
}

// In a repository, the options say whether arrays that exist are replaced; coordinate variables
// that are equal stay. Attributes of groups are then replaced too, and other arrays of the
// groups stay. Throws zarrcore::Error when a node is in the way, or when arrays that stay would get
// other coordinates.
class RoomMaker {
 public:
  RoomMaker(const GDALGroup& source, Session& session, bool overwrites)
      : session_(session), overwrites_(overwrites) {
    collect_arrays(source, {}, replaced_);
    make_room(source, {});
  }

 private:
  void make_room(const GDALGroup& source, const std::string& group) {
    for (const std::string& name : source.GetMDArrayNames()) {
      const std::string path = zarrcore::join_path(group, name);
      if (!session_.hierarchy().node(path)) continue;
      const bool is_array = session_.array_metadata(path) != nullptr;
      const auto array = source.OpenMDArray(name);
      const bool is_equal = is_array && array && have_same_values(*array, *session_.array(path));
      if (is_equal && !overwrites_ && array->GetDimensions()[0]->GetName() == name) {
        session_.skip_copy(path);
        continue;
      }
      check(path, is_array, "; OVERWRITE=YES replaces it");
      if (!is_equal && is_coordinate_of_others(session_, path, replaced_)) {
        throw zarrcore::Error(session_.path() + ": " + path +
                              " has other values and holds the coordinates of arrays that stay");
      }
      erase_raster(session_, path);
    }
    for (const std::string& name : source.GetGroupNames()) {
      const std::string path = zarrcore::join_path(group, name);
      if (!session_.hierarchy().node(path)) continue;
      check(path, session_.hierarchy().has(path, zarrcore::NodeKind::group),
            "; OVERWRITE=YES replaces its attributes, and the arrays in it that are copied");
      session_.reuse_group(path);
      if (const auto below = source.OpenGroup(name)) make_room(*below, path);
    }
    const auto attributes = source.GetAttributes();
    if (!overwrites_ || attributes.empty()) return;
    session_.change_attributes(group, [&](zarrcore::Json& existing) {
      for (const auto& attribute : attributes) existing.erase(attribute->GetName());
    });
  }

  void check(const std::string& path, bool is_of_same_kind, const char* remedy) const {
    if (overwrites_ && is_of_same_kind) return;
    throw zarrcore::Error(session_.path() + ": " + path + " already exists" +
                          (is_of_same_kind ? remedy : ", and is of another kind"));
  }

  Session& session_;
  bool overwrites_;
  std::set<std::string> replaced_;
};

// GDAL gives dimensions other names if some of this name have another length.
void copy_dimension_names(const Session& from, const std::string& path, Session& to) {
  const auto source = from.array_metadata(path);
  const auto copy = to.array_metadata(path);
  if (!source || !copy || source->dimension_names.size() != copy->dimension_names.size()) return;
  auto names = copy->dimension_names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (source->dimension_names[i] && !source->dimension_names[i]->empty()) {
      names[i] = source->dimension_names[i];
    }
  }
  if (names == copy->dimension_names) return;
  to.writable_hierarchy().update_node(
      path,
      [&](zarrcore::NodeMetadata& node) {
        std::get<zarrcore::ArrayMetadata>(node).dimension_names = names;
      },
      zarrcore::NodeKind::array);
}

// What groups of another Zarr store state of positions and pyramids, which GDAL's objects do not
// show (shown_attributes()), and GDAL's sidecars of the arrays.
void copy_hidden(const GDALGroup& source, const Session& from, const std::string& group,
                 MultidimDataset& copy) {
  Session& to = copy.session();
  const auto all = from.attributes(group, zarrcore::NodeKind::group);
  const zarrcore::Json shown = shown_attributes(*all);
  zarrcore::Json hidden = without_nczarr(*all);
  for (const auto& [name, value] : shown.items()) hidden.erase(name);
  if (!hidden.empty()) {
    to.change_attributes(group, [&](zarrcore::Json& attributes) {
      for (const auto& [name, value] : hidden.items()) attributes[name] = value;
    });
  }
  for (const std::string& name : source.GetMDArrayNames()) {
    copy_dimension_names(from, zarrcore::join_path(group, name), to);
  }
  const auto& from_store = from.hierarchy().store();
  const auto& to_store = to.hierarchy().store();
  if (from_store->traits().is_folder && to_store->traits().is_folder) {
    for (const std::string& name : source.GetMDArrayNames()) {
      const std::string path = zarrcore::join_path(group, name);
      copy_sidecar(*from_store, path, *to_store, path);
    }
  }
  for (const std::string& name : source.GetGroupNames()) {
    const auto below = source.OpenGroup(name);
    const std::string path = zarrcore::join_path(group, name);
    if (below && from.group_metadata(path)) copy_hidden(*below, from, path, copy);
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
  copy.session().dimensions().allow_lengths();
  if (copy.session().icechunk() != nullptr) {
    RoomMaker(*source.GetRootGroup(), copy.session(), CPLFetchBool(options, "OVERWRITE", false));
  }
  PartialProgress watched(0, 1, progress, progress_data);
  if (GDALDriver::DefaultCreateCopyMultiDimensional(
          &source, &copy, is_strict, options, watched.function(), watched.data()) != CE_None) {
    if (watched.is_stopped() && !messages.have_failure()) {
      report_stop(copy.GetDescription());
    } else if (!messages.have_failure()) {
      report(CE_Failure, CPLE_FileIO, "Zarr: %s: an array of the source cannot be read",
             copy.GetDescription());
    }
    return false;
  }
  if (is_strict && messages.have_failure()) return false;
  const std::string missing = find_missing(*source.GetRootGroup(), *copy.GetRootGroup());
  if (missing.empty()) {
    messages.soften();
    const auto* zarr = dynamic_cast<MultidimDataset*>(&source);
    if (zarr != nullptr && !zarr->session().root_is_array())
      copy_hidden(*source.GetRootGroup(), zarr->session(), {}, copy);
  } else {
    report(CE_Failure, CPLE_AppDefined, "Zarr: %s: %s of the source cannot be copied",
           copy.GetDescription(), missing.c_str());
  }
  return missing.empty();
}

}  // namespace

void erase_raster(Session& session, const std::string& node_path) {
  const std::string group(zarrcore::parent_path(node_path));
  const auto metadata = session.array_metadata(node_path);
  erase_overviews(session, node_path);
  std::vector<std::string> paths = mask_paths(session, node_path, true);
  std::vector<std::string> unused;
  for (const auto& name :
       metadata ? metadata->dimension_names : decltype(metadata->dimension_names)()) {
    if (!name || !zarrcore::is_valid_segment(*name)) continue;
    std::string path = zarrcore::join_path(group, *name);
    if (path != node_path && session.is_dimension_variable(path)) unused.push_back(std::move(path));
  }
  paths.push_back(node_path);
  if (!unused.empty()) {
    std::set<std::string> of_raster(paths.begin(), paths.end());
    of_raster.insert(unused.begin(), unused.end());
    const std::set<std::string> used = dimension_names_below(session, group, of_raster);
    std::erase_if(unused, [&](const std::string& path) {
      return used.contains(std::string(zarrcore::last_segment(path)));
    });
  }
  paths.insert(paths.end(), unused.begin(), unused.end());
  session.erase_nodes(paths);
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
