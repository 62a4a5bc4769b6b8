#include "driver/entry/create.h"

#include <cpl_string.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/entry/open.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

GeoreferencingConvention convention_of(const CreationOptions& options) {
  constexpr const char* kOption = "GEOREFERENCING_CONVENTION";
  if (options.is(kOption, "CF")) return GeoreferencingConvention::cf;
  return options.is(kOption, "SPATIAL_PROJ") ? GeoreferencingConvention::spatial_proj
                                             : GeoreferencingConvention::gdal;
}

RasterView view_of(const std::shared_ptr<Array>& array) {
  const auto axes = array->raster_axes();
  return {array, axes.x, axes.y, {}};
}

class RasterCreation {
 public:
  // Throws zarrcore::Error for invalid options.
  RasterCreation(const char* name, CSLConstList option_list)
      : option_list_(option_list),
        options_(option_list, kAllOptions),
        path_(new_store_path(name, options_)),
        is_in_repository_(has_icechunk_prefix(path_)),
        is_appended_(is_in_repository_ || options_.boolean("APPEND_SUBDATASET")) {
    suggest_creation_options(option_list);
    if (is_appended_ && !is_in_repository_) check_is_not_virtual(option_list);
    array_name_ = options_.text("ARRAY_NAME");
    if (options_.is_given("ARRAY_NAME")) {
      check_array_name();
      return;
    }
    if (options_.boolean("APPEND_SUBDATASET")) {
      throw Error("appending a subdataset needs the option ARRAY_NAME");
    }
    array_name_ = store_name(is_in_repository_ ? name_in_repository() : path_);
  }

  // Creates the store, unless a subdataset is appended to one, and an array for all bands or one
  // for each band. If it throws zarrcore::Error, everything that it created is removed.
  std::unique_ptr<RasterDataset> run(const NewRaster& raster) {
    if (raster.types.empty()) throw Error(path_ + ": a raster needs at least one band");
    if (is_in_repository_) {
      session_ = create_session(path_, options_, "");
    } else if (is_appended_) {
      refuse_write_options(options_, path_ + " is not an Icechunk repository", true);
      SessionOptions session_options;
      session_options.is_writable = true;
      session_options.make_classic_dataset = &make_classic_dataset;
      session_ = Session::open(path_, session_options);
      group_ = zarrcore::parent_path(zarrcore::normalize_path(array_name_));
      old_attributes_ = session_->attributes(group_);
    } else {
      session_ = create_session(path_, options_,
                                "add an array to it (APPEND_SUBDATASET=YES, ARRAY_NAME=name)");
    }
    try {
      auto dataset = make_dataset(raster);
      session_->end_opening();
      return dataset;
    } catch (...) {
      undo(nullptr);
      throw;
    }
  }

  // Removes everything that run() created. Pending writes of the dataset, if there is one, are
  // dropped, and errors are not reported: the caller reports the original error.
  void undo(std::unique_ptr<RasterDataset> dataset) {
    const UnrelatedFailures unrelated;
    std::string problem;
    {
      const QuietErrors quiet;
      if (dataset) dataset->discard();
      try {
        if (is_in_repository_) {
          session_->roll_back();
        } else {
          session_->erase_created_nodes();
        }
        if (is_appended_ && !is_in_repository_ &&
            *session_->attributes(group_) != *old_attributes_) {
          session_->change_attributes(
              group_, [this](zarrcore::Json& attributes) { attributes = *old_attributes_; });
        }
      } catch (const std::exception& error) {
        problem = error.what();
      }
      dataset.reset();
      session_.reset();
    }
    if (is_appended_ && !problem.empty()) {
      const CPLErrorStateBackuper first_error;
      report(CE_Warning, CPLE_AppDefined, "%s is not as before: %s", path_.c_str(),
             problem.c_str());
    }
    if (!is_appended_) remove_new_store(path_);
  }

  // A copy is complete. Throws zarrcore::Error if it cannot be committed.
  void commit() const { session_->commit_copy(); }

  // Called when the dataset of run() is complete: removes the sidecar of an older store.
  void accept() const {
    // That of a virtual store is beside it.
    if (!is_appended_ && session_->reference_target() == nullptr) remove_older_sidecar(path_);
  }

  const CreationOptions& options() const { return options_; }
  bool is_in_repository() const { return is_in_repository_; }
  bool is_on_network() const { return session_->is_slow(); }
  // Returns true if run() has begun a new archive.
  bool makes_archive() const { return session_->is_archive(); }

 private:
  // Throws for an ARRAY_NAME that no new array can have.
  void check_array_name() const {
    if (zarrcore::normalize_path(array_name_).empty()) {
      throw Error("creation option ARRAY_NAME is \"" + array_name_ +
                  "\", not the name of an array");
    }
    if (array_name_.find(':') != std::string::npos) {
      throw Error("creation option ARRAY_NAME is \"" + array_name_ +
                  "\": names of arrays contain no colon");
    }
  }

  std::unique_ptr<RasterDataset> make_dataset(const NewRaster& raster) {
    make_groups(std::string(zarrcore::parent_path(zarrcore::normalize_path(array_name_))));
    const bool is_split = raster.bands_differ && !asks_for_one_array();
    const bool is_one_array =
        raster.types.size() == 1 || (options_.boolean("SINGLE_ARRAY") && !is_split);
    std::vector<std::string> names{array_name_};
    if (!is_one_array) {
      names.clear();
      for (std::size_t band = 1; band <= raster.types.size(); ++band) {
        const std::string prefix = options_.is_given("ARRAY_NAME") ? array_name_ + "_band" : "Band";
        names.push_back(prefix + std::to_string(band));
      }
    }
    if (is_in_repository_) make_room(names);
    const bool is_alone = session_->hierarchy().child_names("", zarrcore::NodeKind::array).empty();
    std::vector<std::shared_ptr<Array>> arrays;
    arrays.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      arrays.push_back(
          make_array(names[i], raster, is_one_array ? std::nullopt : std::optional(i)));
    }
    if (is_split && is_alone) name_bands(arrays);
    RasterView view = arrays.size() > 1 ? RasterView(arrays) : view_of(arrays.front());
    const std::string name =
        is_appended_ ? format_connection_string(path_, arrays.front()->GetFullName()) : path_;
    return RasterDataset::of_new_arrays(
        std::move(view), name, is_appended_ ? arrays.front()->GetFullName() : std::string());
  }

  // The repository's path, or the group in it.
  std::string name_in_repository() const {
    const IcechunkPath path = parse_icechunk_path(path_);
    return path.key.empty() ? path.repository : path.key;
  }

  // Removes arrays of these names if the options request it; otherwise, existing arrays are an
  // error.
  void make_room(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::string path = zarrcore::normalize_path(name);
      if (!session_->hierarchy().node(path)) continue;
      if (!options_.boolean("OVERWRITE")) {
        throw Error(
            path_ + ": " + path +
            " already exists; OVERWRITE=YES replaces it, and ARRAY_NAME gives the new array "
            "another name");
      }
      if (!session_->array_metadata(path)) {
        throw Error(path_ + ": " + path + " is a group, which an array does not replace");
      }
      erase_raster(*session_, path);
    }
  }

  // Creates the groups that do not exist yet on the way to `group`.
  void make_groups(const std::string& group) {
    if (group.empty() || session_->hierarchy().has(group, zarrcore::NodeKind::group)) return;
    make_groups(std::string(zarrcore::parent_path(group)));
    session_->create_group(group);
  }

  // Returns true if options imply one array for all bands.
  bool asks_for_one_array() const {
    const auto is_of_three = [this](const char* option) {
      const auto lengths = options_.lengths(option);
      return lengths && lengths->size() == 3;
    };
    return options_.is_given("SINGLE_ARRAY") || is_of_three("BLOCKSIZE") ||
           is_of_three("SHARD_CHUNK_SHAPE") || is_of_three("CHUNK_ASPECT_RATIO");
  }

  // Stores which arrays are the bands of the raster.
  void name_bands(const std::vector<std::shared_ptr<Array>>& arrays) {
    zarrcore::Json names = zarrcore::Json::array();
    for (const auto& array : arrays) names.push_back(array->node_path());
    session_->change_attributes(
        "", [&](zarrcore::Json& attributes) { attributes[kBandsAttribute] = names; });
  }

  // Creates the array of one band (counted from 0), or of all.
  std::shared_ptr<Array> make_array(const std::string& name, const NewRaster& raster,
                                    std::optional<std::size_t> band) {
    const bool has_bands = !band && raster.types.size() > 1;
    NewArray array;
    array.type = GDALExtendedDataType::Create(band ? raster.types[*band] : common_type(raster));
    array.format = &session_->new_array_format();
    if (raster.blocks) array.stored_type = raster.blocks->data_type;
    if (raster.has_one_bit && !raster.blocks)
      array.stored_type = zarrcore::DataType{zarrcore::TypeKind::boolean, 1};
    std::vector<std::string> shareable;
    const auto add = [&](const std::string& dimension, int length) {
      array.shape.push_back(static_cast<std::uint64_t>(length));
      const bool is_shared = can_share(dimension, array.shape.back(), raster);
      shareable.push_back(is_shared ? std::string() : dimension);
      array.dimension_names.push_back(
          is_shared ? dimension : std::string(zarrcore::last_segment(name)) + '_' + dimension);
    };
    const bool is_by_pixel = has_bands && (raster.blocks ? raster.blocks->is_by_pixel
                                                         : options_.is("INTERLEAVE", "PIXEL"));
    if (has_bands && !is_by_pixel) add("Band", static_cast<int>(raster.types.size()));
    add("Y", raster.rows);
    add("X", raster.columns);
    array.y = array.shape.size() - 2;
    array.x = array.shape.size() - 1;
    if (is_by_pixel) add("Band", static_cast<int>(raster.types.size()));
    array.keeps_pixels_together = is_by_pixel;
    const std::string path = zarrcore::normalize_path(name);
    const auto made = session_->create_array(path, make_array_metadata(array, option_list_));
    made->set_convention(convention_of(options_));
    // Whether dimensions can be shared is not known until the raster gets its position.
    if (!raster.transform) made->set_shareable_names(std::move(shareable));
    if (raster.blocks) made->set_blocks(raster.blocks->layout(made->core().shape().size()));
    made->set_stores_empty_chunks(options_.boolean("WRITE_EMPTY_CHUNKS"));
    return made;
  }

  GDALDataType common_type(const NewRaster& raster) const {
    GDALDataType type = raster.types.front();
    for (const GDALDataType other : raster.types) type = union_of_types(type, other);
    const bool is_given =
        std::ranges::all_of(raster.types, [&](auto of_band) { return of_band == type; });
    if (is_given) return type;
    if (raster.keeps_types) throw Error("bands of different data types cannot share an array");
    report(CE_Warning, CPLE_AppDefined,
           "Zarr: %s: bands of different data types share an array of %s; without creation options "
           "for one array each keeps its type",
           path_.c_str(), GDALGetDataTypeName(type));
    return type;
  }

  // Returns true if a new array can have a dimension of this name: either it does not exist yet, or
  // its length and coordinates are the same as the array's.
  bool can_share(const std::string& name, std::uint64_t length, const NewRaster& raster) const {
    const std::string group(zarrcore::parent_path(zarrcore::normalize_path(array_name_)));
    const auto dimension = find_visible_dimension(*session_, group, name);
    if (!dimension) return true;
    if (dimension->GetSize() != length) return false;
    if (!dimension->GetIndexingVariable()) return true;
    if (!raster.transform || name == "Band") return false;
    const GeoTransform& transform = *raster.transform;
    return name == "X" ? has_cells_from(*dimension, transform[0], transform[1])
                       : has_cells_from(*dimension, transform[3], transform[5]);
  }

  CSLConstList option_list_;
  CreationOptions options_;
  std::string path_;
  bool is_in_repository_;
  bool is_appended_;  // to a store that may have others
  std::string array_name_;
  std::shared_ptr<Session> session_;
  std::string group_;  // to which an array is appended
  std::shared_ptr<const zarrcore::Json> old_attributes_;
};

// Creates the copy of a raster. Returns null after a CE_Failure; throws zarrcore::Error. Nothing is
// left behind then.
GDALDataset* fill_copy(RasterCreation& creation, GDALDataset& source, const NewRaster& raster,
                       bool is_strict, GDALProgressFunc progress, void* progress_data) {
  auto dataset = creation.run(raster);
  bool is_copied = false;
  try {
    const bool has_overviews = creation.options().is("OVERVIEWS", "AUTO");
    is_copied = copy_raster(source, *dataset, raster.blocks ? &*raster.blocks : nullptr, is_strict,
                            has_overviews, progress, progress_data);
    if (is_copied) creation.commit();
  } catch (...) {
    creation.undo(std::move(dataset));
    throw;
  }
  if (is_copied) {
    dataset->end_session_when_closed();
    creation.accept();
  } else {
    FirstFailure::note();
    creation.undo(std::move(dataset));
  }
  return dataset.release();
}

}  // namespace

GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    check_copies_no_references(options);
    check_is_not_virtual(options);
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
      dataset->end_session_when_closed();
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
    NewRaster raster = new_raster_like(*source, is_strict != FALSE);
    const auto copy = [&](std::optional<RasterBlocks> blocks) {
      raster.blocks = std::move(blocks);
      return fill_copy(creation, *source, raster, is_strict != FALSE, progress, progress_data);
    };
    if (creation.options().is("VIRTUAL", "NO")) return copy(std::nullopt);
    if (creation.options().is("VIRTUAL", "YES"))
      return copy(find_blocks(*source, creation.is_in_repository(), false));
    HoldMessages messages;
    try {
      GDALDataset* const made = copy(find_blocks(*source, creation.is_in_repository(), true));
      if (made != nullptr || CPLGetLastErrorNo() == CPLE_UserInterrupt) return made;
      messages.soften();
      CPLDebug("Zarr", "pixels are copied: %s", CPLGetLastErrorMsg());
    } catch (const Error& problem) {
      messages.soften();
      CPLDebug("Zarr", "pixels are copied: %s", problem.what());
    }
    return copy(std::nullopt);
  });
}

}  // namespace gdal_zarr
