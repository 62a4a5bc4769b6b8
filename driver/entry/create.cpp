#include "driver/entry/create.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "driver/entry/copy_hierarchy.h"
#include "driver/entry/copy_raster.h"
#include "driver/entry/manage.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/group.h"
#include "driver/multidim/multidim_dataset.h"
#include "driver/multidim/plane_georeferencing.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/v2.h"
#include "zarrcore/metadata/v3.h"
#include "zarrcore/store/store.h"

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

// Whether a folder holds nothing but what a writer that was killed has left.
bool is_left_over(const std::string& path) {
  const CPLStringList names(VSIReadDir(path.c_str()));
  bool has_any = false;
  for (int i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "." || name == "..") continue;
    if (!name.ends_with(zarrcore::kTemporarySuffix)) return false;
    has_any = true;
  }
  return has_any;
}

// `advice` says what else can be done where a store exists.
void check_can_be_created(const std::string& path, const char* advice) {
  if (path_exists(path) && !is_left_over(path)) {
    const std::string message = path + " already exists";
    if (is_zarr_folder(path)) {
      throw Error(message + "; remove it first (gdalmanage delete \"" + path + "\"), or " + advice);
    }
    throw Error(message + (is_folder(path) ? " and is not a Zarr store" : ""));
  }
  check_parent_exists(path);
}

std::shared_ptr<Session> create_session(const std::string& path, const CreationOptions& options) {
  const zarrcore::Format& format =
      options.is("FORMAT", "ZARR_V3") ? zarrcore::v3_format() : zarrcore::v2_format();
  return Session::create(path, format, options.boolean("CREATE_CONSOLIDATED_METADATA"));
}

struct NewRaster {
  int columns;
  int rows;
  int bands;
  GDALDataType type;
  // Where it will lie, as far as that is known and coordinates of X and Y can say it.
  std::optional<GeoTransform> transform;
  // Whether its bands differ in what an array says of all its elements.
  bool bands_differ = false;
};

// Whether the coordinates along a dimension are the centres of cells that begin at `origin`.
bool lies_at(const GDALDimension& dimension, double origin, double step) {
  const auto axis = find_regular_axis(read_coordinates(dimension));
  if (!axis) return false;
  const double tolerance = std::abs(step) * 1e-6;
  const auto cells = static_cast<double>(dimension.GetSize());
  return std::abs(axis->first_centre - (origin + step / 2)) <= tolerance &&
         std::abs(axis->step - step) * cells <= tolerance;
}

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

  std::unique_ptr<RasterDataset> run(const NewRaster& raster) {
    if (raster.bands < 1) throw Error(path_ + ": a raster without bands cannot be made");
    if (is_appended_) {
      SessionOptions session_options;
      session_options.is_writable = true;
      session_ = Session::open(path_, session_options);
      group_ = zarrcore::parent_path(zarrcore::normalize_path(array_name_));
      old_attributes_ = session_->attributes(group_);
    } else {
      check_can_be_created(path_, "add an array to it (APPEND_SUBDATASET=YES, ARRAY_NAME=name)");
      session_ = create_session(path_, options_);
    }
    try {
      return make_dataset(raster);
    } catch (...) {
      undo(nullptr);
      throw;
    }
  }

  // Removes what was made. What waits of the dataset, if there is one, is given up; no reader of
  // the errors cares for more of those that led here.
  void undo(std::unique_ptr<RasterDataset> dataset) {
    {
      const CPLErrorStateBackuper first_error;
      CPLPushErrorHandler(CPLQuietErrorHandler);
      if (dataset) dataset->discard();
      guarded(false, [this] {
        session_->erase_created_nodes();
        if (is_appended_ && *session_->attributes(group_) != *old_attributes_) {
          session_->change_attributes(
              group_, [this](zarrcore::Json& attributes) { attributes = *old_attributes_; });
        }
        return true;
      });
      dataset.reset();
      session_.reset();
      CPLPopErrorHandler();
    }
    if (!is_appended_) delete_store(path_.c_str());
  }

  const CreationOptions& options() const { return options_; }

 private:
  std::unique_ptr<RasterDataset> make_dataset(const NewRaster& raster) {
    const bool is_split = raster.bands_differ && !asks_for_one_array();
    const bool is_one_array = raster.bands == 1 || (options_.boolean("SINGLE_ARRAY") && !is_split);
    std::vector<std::shared_ptr<Array>> arrays;
    if (is_one_array) {
      arrays.push_back(make_array(array_name_, raster, raster.bands > 1));
    } else {
      for (int band = 1; band <= raster.bands; ++band) {
        arrays.push_back(make_array(array_name_ + "_band" + std::to_string(band), raster, false));
      }
    }
    // So the arrays are found as bands of one raster again.
    if (is_split && !is_appended_) name_bands(arrays);
    RasterView view = arrays.size() > 1 ? RasterView(arrays) : view_of(arrays.front());
    const std::string name =
        is_appended_ ? format_connection_string(path_, arrays.front()->GetFullName()) : path_;
    return std::make_unique<RasterDataset>(
        std::move(view), name, is_appended_ ? arrays.front()->GetFullName() : std::string());
  }

  bool asks_for_one_array() const {
    const auto is_of_three = [this](const char* option) {
      const auto lengths = options_.lengths(option);
      return lengths && lengths->size() == 3;
    };
    return options_.is_given("SINGLE_ARRAY") || is_of_three("BLOCKSIZE") ||
           is_of_three("SHARD_CHUNK_SHAPE");
  }

  void name_bands(const std::vector<std::shared_ptr<Array>>& arrays) {
    zarrcore::Json names = zarrcore::Json::array();
    for (const auto& array : arrays) names.push_back(array->node_path());
    session_->change_attributes(
        "", [&](zarrcore::Json& attributes) { attributes[kBandsAttribute] = names; });
  }

  static RasterView view_of(const std::shared_ptr<Array>& array) {
    const auto axes = array->raster_axes();
    return {array, axes.x, axes.y, {}};
  }

  std::shared_ptr<Array> make_array(const std::string& name, const NewRaster& raster,
                                    bool has_bands) {
    NewArray array;
    array.type = GDALExtendedDataType::Create(raster.type);
    array.format = &session_->new_array_format();
    const auto add = [&](const std::string& dimension, int length) {
      array.shape.push_back(static_cast<std::uint64_t>(length));
      const bool is_shared = can_share(dimension, array.shape.back(), raster);
      array.dimension_names.push_back(
          is_shared ? dimension : std::string(zarrcore::last_segment(name)) + '_' + dimension);
    };
    const bool is_by_pixel = has_bands && options_.is("INTERLEAVE", "PIXEL");
    if (has_bands && !is_by_pixel) add("Band", raster.bands);
    add("Y", raster.rows);
    add("X", raster.columns);
    array.y = array.shape.size() - 2;
    array.x = array.shape.size() - 1;
    if (is_by_pixel) add("Band", raster.bands);
    array.keeps_pixels_together = is_by_pixel;
    const std::string path = zarrcore::normalize_path(name);
    const auto made = session_->create_array(path, make_array_metadata(array, option_list_));
    made->set_convention(convention_of(options_));
    return made;
  }

  // Arrays of a store share a dimension where they can: neither its length nor coordinates that it
  // has already may be wrong for the new one.
  bool can_share(const std::string& name, std::uint64_t length, const NewRaster& raster) const {
    for (const auto& dimension : session_->root_group()->GetDimensions(nullptr)) {
      if (dimension->GetName() != name) continue;
      if (dimension->GetSize() != length) return false;
      if (!dimension->GetIndexingVariable()) return true;
      if (!raster.transform || name == "Band") return false;
      const GeoTransform& transform = *raster.transform;
      return name == "X" ? lies_at(*dimension, transform[0], transform[1])
                         : lies_at(*dimension, transform[3], transform[5]);
    }
    return true;
  }

  CSLConstList option_list_;
  CreationOptions options_;
  std::string path_;
  bool is_appended_;
  std::string array_name_;
  std::shared_ptr<Session> session_;
  std::string group_;  // to which an array is appended
  std::shared_ptr<const zarrcore::Json> old_attributes_;
};

// Zarr has no complex integers: floating point numbers hold them without loss.
GDALDataType storable_type(GDALDataType type) {
  if (type == GDT_CInt16) return GDT_CFloat32;
  return type == GDT_CInt32 ? GDT_CFloat64 : type;
}

GDALDataType common_type(GDALDataset& source, bool is_strict) {
  GDALDataType type = source.GetRasterBand(1)->GetRasterDataType();
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    const GDALDataType other = source.GetRasterBand(band)->GetRasterDataType();
    if (other != type && is_strict) throw Error("bands of several data types make no one array");
    type = GDALDataTypeUnion(type, other);
  }
  return is_strict ? type : storable_type(type);
}

// A text that two bands share when their nodata values are the same; empty without one.
std::string nodata_text(GDALRasterBand& band) {
  int is_set = FALSE;
  if (band.GetRasterDataType() == GDT_Int64) {
    const auto value = band.GetNoDataValueAsInt64(&is_set);
    return is_set != FALSE ? std::to_string(value) : std::string();
  }
  if (band.GetRasterDataType() == GDT_UInt64) {
    const auto value = band.GetNoDataValueAsUInt64(&is_set);
    return is_set != FALSE ? std::to_string(value) : std::string();
  }
  const double value = band.GetNoDataValue(&is_set);
  return is_set != FALSE ? CPLSPrintf("%.17g", value) : std::string();
}

// Whether bands differ in scale, offset, unit or nodata.
bool bands_differ(GDALDataset& source) {
  const auto key = [&](int index) {
    GDALRasterBand& band = *source.GetRasterBand(index);
    const char* unit = band.GetUnitType();
    return std::tuple(band.GetScale(nullptr), band.GetOffset(nullptr),
                      std::string(unit != nullptr ? unit : ""), nodata_text(band));
  };
  const auto first = key(1);
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    if (key(band) != first) return true;
  }
  return false;
}

std::optional<GeoTransform> unrotated_transform(GDALDataset& source) {
  GeoTransform transform{};
  if (GDALGetGeoTransform(GDALDataset::ToHandle(&source), transform.data()) != CE_None ||
      transform[2] != 0 || transform[4] != 0) {
    return std::nullopt;
  }
  return transform;
}

}  // namespace

GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options) {
  return guarded<GDALDataset*>(nullptr, [&] {
    RasterCreation creation(name, options);
    auto dataset = creation.run({columns, rows, bands, type, std::nullopt});
    if (creation.options().is("OVERVIEWS", "AUTO")) dataset->build_overviews_when_closed();
    if (dataset->flush(false) != CE_None) creation.undo(std::move(dataset));
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
    auto dataset = creation.run({source->GetRasterXSize(), source->GetRasterYSize(),
                                 source->GetRasterCount(), common_type(*source, is_strict != FALSE),
                                 unrotated_transform(*source), bands_differ(*source)});
    bool is_copied = false;
    try {
      const bool has_overviews = creation.options().is("OVERVIEWS", "AUTO");
      is_copied = copy_raster(*source, *dataset, is_strict != FALSE, has_overviews, progress,
                              progress_data);
    } catch (...) {
      creation.undo(std::move(dataset));
      throw;
    }
    if (!is_copied) creation.undo(std::move(dataset));
    return dataset.release();
  });
}

GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options) {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    warn_of_unused_options(group_options, kAllOptions);
    const std::string path = store_path(name);
    check_can_be_created(path, "open it for update to add arrays");
    const auto session = create_session(path, CreationOptions(options, kDatasetOption));
    session->flush();
    return new MultidimDataset(session, path);
  });
}

}  // namespace gdal_zarr
