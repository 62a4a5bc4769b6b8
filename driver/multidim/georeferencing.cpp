#include "driver/multidim/georeferencing.h"

#include <ogr_spatialref.h>

#include <algorithm>

#include "driver/conventions/axis.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/spatial.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/regular_dimension.h"
#include "driver/stores/connection_string.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

// Coordinates in more chunks are not read to find their spacing.
constexpr std::uint64_t kMaxCoordinateChunks = 20'000;

// Whether attributes that hold for several arrays are for one of the shape of this raster.
bool is_of_shape(const Json& attributes, const RasterView& view) {
  const Json* shape = zarrcore::find_member(attributes, "spatial:shape");
  return shape != nullptr && *shape == Json::array({view.height(), view.width()});
}

struct SpatialTransform {
  GeoTransform transform;
  std::shared_ptr<const Json> attributes;  // that have it
};

// That of the array: its own, the one of its level in a pyramid, or of its group.
std::optional<SpatialTransform> find_spatial(const RasterView& view) {
  const Array& array = view.array();
  const auto [x, y] = array.raster_axes();
  if (view.x_axis() != x || view.y_axis() != y) return std::nullopt;  // of other dimensions
  const auto found_in =
      [](std::shared_ptr<const Json> attributes) -> std::optional<SpatialTransform> {
    const auto transform = spatial_transform(*attributes);
    if (!transform) return std::nullopt;
    return SpatialTransform{*transform, std::move(attributes)};
  };
  const Json& attributes = array.metadata().attributes;
  if (auto found = found_in(std::make_shared<const Json>(attributes))) return found;
  // A transform of null means that those of groups are not for this array.
  if (attributes.contains("spatial:transform")) return std::nullopt;
  const auto member = array.pyramid();
  if (member) {
    const PyramidLevel& level = member->level;
    if (auto found = found_in({level.multiscales, &level.entry()})) return found;
  }
  const auto group = array.group_attributes();
  const bool is_finest = !member || member->level.level == 0;
  if (is_of_shape(*group, view) ||
      (is_finest && zarrcore::find_member(*group, "spatial:shape") == nullptr)) {
    return found_in(group);
  }
  return std::nullopt;
}

std::optional<GeoTransform> from_coordinates(const RasterView& view) {
  const auto& dimensions = view.array().known_dimensions();
  for (const auto axis : {*view.x_axis(), *view.y_axis()}) {
    const auto* regular = dynamic_cast<const RegularDimension*>(dimensions[axis].get());
    if (regular != nullptr && regular->is_relative()) return std::nullopt;
  }
  const Session& session = *view.array().session();
  std::optional<RegularAxis> x;
  std::optional<RegularAxis> y;
  session.run_together(
      {[&] { x = find_regular_axis(read_coordinates(*dimensions[*view.x_axis()])); },
       [&, is_slow = session.is_slow()] {
         if (is_slow || x) y = find_regular_axis(read_coordinates(*dimensions[*view.y_axis()]));
       }});
  return x && y ? std::optional(make_geotransform(*x, *y)) : std::nullopt;
}

std::optional<GeoTransform> find_own_geotransform(const RasterView& view) {
  if (!view.x_axis() || !view.y_axis()) return std::nullopt;
  if (const auto spatial = find_spatial(view)) return spatial->transform;
  const Array& array = view.array();
  if (auto transform = own_geotransform(array.metadata().attributes)) return transform;
  std::optional<GeoTransform> stated;
  const std::string grid_mapping = grid_mapping_variable(array.metadata().attributes);
  if (!grid_mapping.empty()) {
    if (const auto variable = array.find_variable(grid_mapping)) {
      stated = parse_geotransform(*variable);
    }
  }
  if (stated && ((*stated)[2] != 0 || (*stated)[4] != 0)) return stated;
  // Programs that cut out a part of an array cut its coordinates, but often leave this text. Where
  // both agree, the text is more precise.
  const auto coordinates = from_coordinates(view);
  const bool is_current =
      stated && (!coordinates || agree(*stated, *coordinates, view.width(), view.height()));
  return is_current ? stated : coordinates;
}

std::optional<GeoTransform> from_finest_level(const RasterView& view) {
  const auto finest = view.array().finest_level();
  if (!finest || !view.x_axis() || !view.y_axis() ||
      finest->GetDimensions().size() != view.array().GetDimensions().size()) {
    return std::nullopt;
  }
  const RasterView fine(finest, view.x_axis(), view.y_axis(),
                        std::vector<std::uint64_t>(view.other_axes().size(), 0));
  const auto transform = find_own_geotransform(fine);
  if (!transform) return std::nullopt;
  return coarser_geotransform(*transform, fine.width(), fine.height(), view.width(), view.height());
}

}  // namespace

std::vector<double> read_coordinates(const GDALDimension& dimension) {
  const auto variable = dimension.GetIndexingVariable();
  if (!variable || dimension.GetSize() > kMaxCoordinates ||
      variable->GetDataType().GetClass() != GEDTC_NUMERIC) {
    return {};
  }
  const std::vector<GUInt64> block = variable->GetBlockSize();
  if (block.size() != 1) return {};
  if (dimension.GetSize() / std::max<std::uint64_t>(1, block[0]) > kMaxCoordinateChunks) return {};
  std::vector<double> values(dimension.GetSize());
  const GUInt64 start = 0;
  const std::size_t count = values.size();
  const auto type = GDALExtendedDataType::Create(GDT_Float64);
  const auto* own = dynamic_cast<const Array*>(variable.get());
  const bool is_read = own != nullptr
                           ? own->read_coordinates(start, count, type, values.data())
                           : variable->Read(&start, &count, nullptr, nullptr, type, values.data());
  if (!is_read) return {};
  const double scale = variable->GetScale();
  const double offset = variable->GetOffset();
  for (double& value : values) value = value * scale + offset;
  return values;
}

std::optional<GeoTransform> find_geotransform(const RasterView& view) {
  if (auto transform = find_own_geotransform(view)) return transform;
  return from_finest_level(view);
}

std::string find_area_or_point(const RasterView& view) {
  std::string own = area_or_point(view.array().metadata().attributes);
  if (!own.empty() || !view.x_axis() || !view.y_axis()) return own;
  const MaskedMessages masked;  // a wrong transform is reported where it is looked for
  const auto spatial = find_spatial(view);
  return spatial ? area_or_point(*spatial->attributes) : own;
}

GeoTransform coarser_geotransform(const GeoTransform& fine, int fine_columns, int fine_rows,
                                  int columns, int rows) {
  const double x = static_cast<double>(fine_columns) / columns;
  const double y = static_cast<double>(fine_rows) / rows;
  return {fine[0], fine[1] * x, fine[2] * y, fine[3], fine[4] * x, fine[5] * y};
}

CPLStringList find_geolocation(const RasterView& view, const OGRSpatialReference* crs) {
  CPLStringList domain;
  if (!view.x_axis() || !view.y_axis()) return domain;
  const Array& array = view.array();
  const auto& dimensions = array.known_dimensions();
  std::shared_ptr<Array> longitude;
  std::shared_ptr<Array> latitude;
  for (const auto& variable : array.coordinate_arrays()) {
    const auto& own = variable->GetDimensions();
    const auto is_same = [](const GDALDimension& a, const GDALDimension& b) {
      return a.GetFullName() == b.GetFullName() && a.GetSize() == b.GetSize();
    };
    if (own.size() != 2 || !is_same(*own[0], *dimensions[*view.y_axis()]) ||
        !is_same(*own[1], *dimensions[*view.x_axis()])) {
      continue;
    }
    const AxisRole role = find_axis_role(variable->GetName(), variable->metadata().attributes);
    if (role.type == GDAL_DIM_TYPE_HORIZONTAL_X) longitude = variable;
    if (role.type == GDAL_DIM_TYPE_HORIZONTAL_Y) latitude = variable;
  }
  if (!longitude || !latitude) return domain;

  const std::unique_ptr<OGRSpatialReference> geographic(crs != nullptr ? crs->CloneGeogCS()
                                                                       : new OGRSpatialReference());
  if (crs == nullptr) geographic->SetWellKnownGeogCS("WGS84");
  char* wkt = nullptr;
  geographic->exportToWkt(&wkt);
  const auto set = [&](const char* key, const std::string& value) {
    domain.SetNameValue(key, value.c_str());
  };
  set("SRS", wkt);
  CPLFree(wkt);
  const std::string& store = array.session()->path();
  set("X_DATASET", format_connection_string(store, longitude->GetFullName()));
  set("X_BAND", "1");
  set("Y_DATASET", format_connection_string(store, latitude->GetFullName()));
  set("Y_BAND", "1");
  for (const char* offset : {"PIXEL_OFFSET", "LINE_OFFSET"}) set(offset, "0");
  for (const char* step : {"PIXEL_STEP", "LINE_STEP"}) set(step, "1");
  set("GEOREFERENCING_CONVENTION", "PIXEL_CENTER");
  return domain;
}

}  // namespace gdal_zarr
