#include "driver/create/create.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>

#include "driver/connection_string.h"
#include "driver/create/copy_hierarchy.h"
#include "driver/create/copy_raster.h"
#include "driver/create/creation_options.h"
#include "driver/create/new_array.h"
#include "driver/error_guard.h"
#include "driver/manage.h"
#include "driver/multidim/group.h"
#include "driver/multidim/multidim_dataset.h"
#include "driver/open_store.h"
#include "driver/raster/raster_dataset.h"
#include "driver/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/v2.h"
#include "zarrcore/metadata/v3.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

GeoreferencingConvention convention_of(const CreationOptions& options) {
  constexpr const char* kOption = "GEOREFERENCING_CONVENTION";
  if (options.is(kOption, "CF")) return GeoreferencingConvention::cf;
  return options.is(kOption, "SPATIAL_PROJ") ? GeoreferencingConvention::spatial_proj
                                             : GeoreferencingConvention::gdal;
}

// The path of the store that a name stands for.
std::string store_path(const char* name) {
  const ConnectionString connection = parse_connection_string(name);
  if (connection.array) {
    throw Error(std::string(name) + ": a new array is named by the option ARRAY_NAME");
  }
  return connection.store_path;
}

std::shared_ptr<Session> create_session(const std::string& path, const CreationOptions& options) {
  if (is_there(path)) {
    throw Error(path + " is there already; APPEND_SUBDATASET=YES adds an array to a store");
  }
  const zarrcore::Format& format =
      options.is("FORMAT", "ZARR_V3") ? zarrcore::v3_format() : zarrcore::v2_format();
  return Session::create(path, format, options.boolean("CREATE_CONSOLIDATED_METADATA"));
}

struct RasterShape {
  int columns;
  int rows;
  int bands;
  GDALDataType type;
};

// The arrays of a new raster, one or as many as there are bands.
class RasterCreation {
 public:
  RasterCreation(const char* name, CSLConstList option_list)
      : option_list_(option_list),
        options_(option_list, kAllOptions),
        path_(store_path(name)),
        is_appended_(options_.boolean("APPEND_SUBDATASET")) {
    array_name_ = options_.text("ARRAY_NAME");
    if (!array_name_.empty()) return;
    if (is_appended_) throw Error("the option ARRAY_NAME is needed to append a subdataset");
    array_name_ = store_name(path_);
  }

  std::unique_ptr<RasterDataset> run(const RasterShape& shape) {
    if (shape.bands < 1) throw Error(path_ + ": a raster without bands cannot be made");
    if (is_appended_) {
      SessionOptions session_options;
      session_options.is_writable = true;
      session_ = Session::open(path_, session_options);
    } else {
      session_ = create_session(path_, options_);
    }
    try {
      return make_dataset(shape);
    } catch (...) {
      undo();
      throw;
    }
  }

  // Removes what was made.
  void undo() {
    if (!session_) return;
    if (!is_appended_) {
      session_.reset();
      guarded(CE_None, [this] { return delete_store(path_.c_str()); });
      return;
    }
    for (const std::string& path : made_) session_->erase_node(path);
    session_->flush();
  }

  const CreationOptions& options() const { return options_; }

 private:
  std::unique_ptr<RasterDataset> make_dataset(const RasterShape& shape) {
    const bool is_one_array = shape.bands == 1 || options_.boolean("SINGLE_ARRAY");
    std::vector<std::shared_ptr<Array>> arrays;
    if (is_one_array) {
      arrays.push_back(make_array(array_name_, shape, shape.bands > 1));
    } else {
      for (int band = 1; band <= shape.bands; ++band) {
        arrays.push_back(make_array(array_name_ + "_band" + std::to_string(band), shape, false));
      }
    }
    RasterView view = arrays.size() > 1 ? RasterView(arrays) : view_of(arrays.front());
    const std::string name =
        is_appended_ ? format_connection_string(path_, arrays.front()->GetFullName()) : path_;
    return std::make_unique<RasterDataset>(
        std::move(view), name, is_appended_ ? arrays.front()->GetFullName() : std::string());
  }

  static RasterView view_of(const std::shared_ptr<Array>& array) {
    const auto axes = array->raster_axes();
    return {array, axes.x, axes.y, {}};
  }

  std::shared_ptr<Array> make_array(const std::string& name, const RasterShape& shape,
                                    bool has_bands) {
    NewArray array;
    array.type = GDALExtendedDataType::Create(shape.type);
    array.zarr_format = session_->zarr_format();
    const auto add = [&](const std::string& dimension, int length) {
      array.shape.push_back(static_cast<std::uint64_t>(length));
      array.dimension_names.push_back(dimension_name(dimension, name, array.shape.back()));
    };
    const bool is_by_pixel = has_bands && options_.is("INTERLEAVE", "PIXEL");
    if (has_bands && !is_by_pixel) add("Band", shape.bands);
    add("Y", shape.rows);
    add("X", shape.columns);
    array.y = array.shape.size() - 2;
    array.x = array.shape.size() - 1;
    if (is_by_pixel) add("Band", shape.bands);
    array.keeps_pixels_together = is_by_pixel;
    const std::string path = zarrcore::normalize_path(name);
    const auto made = session_->create_array(path, make_array_metadata(array, option_list_));
    made_.push_back(path);
    made->set_convention(convention_of(options_));
    return made;
  }

  // Arrays of a store share a dimension where they can; another length needs another name.
  std::string dimension_name(const std::string& name, const std::string& array,
                             std::uint64_t length) const {
    for (const auto& dimension : session_->root_group()->GetDimensions(nullptr)) {
      if (dimension->GetName() == name && dimension->GetSize() != length) {
        return std::string(zarrcore::last_segment(array)) + '_' + name;
      }
    }
    return name;
  }

  CSLConstList option_list_;
  CreationOptions options_;
  std::string path_;
  bool is_appended_;
  std::string array_name_;
  std::shared_ptr<Session> session_;
  std::vector<std::string> made_;
};

GDALDataType common_type(GDALDataset& source, bool is_strict) {
  GDALDataType type = source.GetRasterBand(1)->GetRasterDataType();
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    const GDALDataType other = source.GetRasterBand(band)->GetRasterDataType();
    if (other != type && is_strict) throw Error("bands of several data types make no one array");
    type = GDALDataTypeUnion(type, other);
  }
  return type;
}

}  // namespace

GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    RasterCreation creation(name, options);
    auto dataset = creation.run({columns, rows, bands, type});
    if (creation.options().is("OVERVIEWS", "AUTO")) dataset->build_overviews_when_closed();
    if (dataset->flush(false) != CE_None) {
      dataset.reset();
      creation.undo();
    }
    return dataset.release();
  });
}

GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data) {
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
    auto dataset =
        creation.run({source->GetRasterXSize(), source->GetRasterYSize(), source->GetRasterCount(),
                      common_type(*source, is_strict != FALSE)});
    bool is_copied = false;
    try {
      const bool has_overviews = creation.options().is("OVERVIEWS", "AUTO");
      is_copied = copy_raster(*source, *dataset, is_strict != FALSE, has_overviews, progress,
                              progress_data);
    } catch (...) {
      dataset.reset();
      creation.undo();
      throw;
    }
    if (is_copied) return dataset.release();
    dataset.reset();
    creation.undo();
    return nullptr;
  });
}

GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    warn_of_unused_options(group_options, kAllOptions);
    const std::string path = store_path(name);
    const auto session = create_session(path, CreationOptions(options, kDatasetOption));
    session->flush();
    return new MultidimDataset(session, path);
  });
}

}  // namespace gdal_zarr
