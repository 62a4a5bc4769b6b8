#include "driver/multidim/georeferencing.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cmath>

#include "driver/conventions/product.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/options.h"
#include "driver/stores/connection_string.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// Returns true if longitudes at the corners are beyond ±180 degrees. Opening a raster needs no
// others.
bool has_other_turns(const Array& longitudes, const std::vector<std::uint64_t>& slice) {
  return std::ranges::any_of(read_corners(longitudes, slice), [](double longitude) {
    return std::abs(longitude) > 180 && std::abs(longitude) <= 540;
  });
}

// GDAL's transformers need longitudes within ±180 degrees. Numbers that are not longitudes, such as
// fill values, are unchanged.
constexpr const char* kWithinOneTurn =
    "<LUT>-1e+30:-1e+30,-540.001:-540.001,-540:-180,-180.0000000001:179.9999999999,-180:-180,"
    "180:180,180.0000000001:-179.9999999999,540:180,540.001:540.001,1e+30:1e+30</LUT>";

// The name of a raster with the positions that a variable holds. GDAL's transformers read values as
// they are stored.
std::string unpacked_raster(const Session& session, const EvidenceVariable& variable,
                            const std::vector<std::uint64_t>& slice, bool are_longitudes) {
  const auto metadata = session.array_metadata(variable.path);
  std::string name = format_connection_string(session.path(), session.full_name(variable.path));
  for (const std::uint64_t index : slice) name += ':' + std::to_string(index);
  const Packing packing = read_packing(*metadata);
  const double scale = packing.scale.value_or(1);
  const double offset = packing.offset.value_or(0);
  const auto array = const_cast<Session&>(session).array(variable.path);
  const bool turns = are_longitudes && has_other_turns(*array, slice);
  if (scale == 1 && offset == 0 && !turns) return name;
  const zarrcore::Shape& shape = metadata->shape;
  const std::string columns = std::to_string(shape.back());
  const std::string rows = std::to_string(shape.size() > 1 ? shape[shape.size() - 2] : 1);
  const double nodata = array->GetNoDataValueAsDouble();
  const bool has_nodata = array->GetRawNoDataValue() != nullptr;
  constexpr const char* kMissing = "-1e+30";
  std::string xml = "<VRTDataset rasterXSize=\"" + columns + "\" rasterYSize=\"" + rows +
                    "\"><VRTRasterBand dataType=\"Float64\" band=\"1\">";
  if (has_nodata) xml += std::string("<NoDataValue>") + kMissing + "</NoDataValue>";
  xml += "<ComplexSource><SourceFilename relativeToVRT=\"0\">" + xml_escaped(name) +
         "</SourceFilename><SourceBand>1</SourceBand><ScaleOffset>" + zarrcore::dump_json(offset) +
         "</ScaleOffset><ScaleRatio>" + zarrcore::dump_json(scale) + "</ScaleRatio>";
  if (has_nodata) xml += "<NODATA>" + zarrcore::dump_json(nodata) + "</NODATA>";
  if (turns) xml += kWithinOneTurn;
  return xml + "</ComplexSource></VRTRasterBand></VRTDataset>";
}

}  // namespace

Position find_position(const RasterView& view) {
  const Evidence evidence = view.array().evidence();
  Position position;
  if (!view.x_axis() || !view.y_axis()) {
    position.crs = find_crs(evidence, std::nullopt);
  } else {
    std::vector<std::optional<std::uint64_t>> fixed(evidence.axes.size());
    if (view.is_slice()) {
      const auto indexes = view.other_indexes(0);
      for (std::size_t i = 0; i < indexes.size(); ++i) fixed[view.other_axes()[i]] = indexes[i];
    }
    position = find_position(evidence, {*view.x_axis(), *view.y_axis()}, fixed);
  }
  if (debugs()) {
    const auto text = [](const std::string& source) { return source.empty() ? "nothing" : source; };
    debug("Zarr: array " + evidence.array + ": CRS from " + text(position.crs.source) +
          ", position from " +
          text(position.transform.source.empty() && position.geolocation
                   ? "the arrays " + position.geolocation->x.path + " and " +
                         position.geolocation->y.path
                   : position.transform.source));
  }
  return position;
}

CPLStringList geolocation_domain(const RasterView& view, const Position& position) {
  CPLStringList domain;
  if (!position.geolocation) return domain;
  const Geolocation& geolocation = *position.geolocation;
  const Session& session = *view.array().session();
  const OGRSpatialReference* crs = position.crs.crs.get();
  OGRSpatialReference srs;
  srs.SetWellKnownGeogCS("WGS84");
  if (crs != nullptr && !geolocation.is_geographic) {
    srs = *crs;
  } else if (crs != nullptr) {
    const std::unique_ptr<OGRSpatialReference> geographic(crs->CloneGeogCS());
    if (geographic) srs = *geographic;
  }
  char* wkt = nullptr;
  srs.exportToWkt(&wkt);
  domain.SetNameValue("SRS", wkt);
  CPLFree(wkt);
  const auto set = [&](const char* key, const std::string& value) {
    domain.SetNameValue(key, value.c_str());
  };
  set("X_DATASET", unpacked_raster(session, geolocation.x, geolocation.slice, srs.IsGeographic()));
  set("X_BAND", "1");
  set("Y_DATASET", unpacked_raster(session, geolocation.y, geolocation.slice, false));
  set("Y_BAND", "1");
  for (const char* offset : {"PIXEL_OFFSET", "LINE_OFFSET"}) set(offset, "0");
  for (const char* step : {"PIXEL_STEP", "LINE_STEP"}) set(step, "1");
  set("GEOREFERENCING_CONVENTION", "PIXEL_CENTER");
  return domain;
}

std::vector<GroundControlPoint> read_gcp_grid(const Array& array) {
  const std::string path = '/' + array.node_path();
  const std::size_t measurements = path.rfind("/measurements/");
  if (measurements == std::string::npos || array.core().shape().size() < 2) return {};
  const std::string group =
      zarrcore::join_path(zarrcore::normalize_path(path.substr(0, measurements)), kGcpGroup);
  Session& session = *array.session();
  const auto read = [&](const char* name, std::size_t rank) -> std::vector<double> {
    const std::string variable = zarrcore::join_path(group, name);
    const auto metadata = session.coordinate_metadata(variable);
    if (!metadata || metadata->shape.size() != rank) return {};
    return read_unpacked(*session.array(variable));
  };
  if (!session.hierarchy().has(group, zarrcore::NodeKind::group)) return {};
  const auto lines = read("line", 1);
  const auto pixels = read("pixel", 1);
  const auto longitudes = read("longitude", 2);
  const auto latitudes = read("latitude", 2);
  const auto heights = read("height", 2);
  const std::size_t count = lines.size() * pixels.size();
  if (longitudes.size() != count || latitudes.size() != count) return {};
  std::vector<GroundControlPoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(longitudes[i]) || !std::isfinite(latitudes[i])) continue;
    const double height = heights.size() == count && std::isfinite(heights[i]) ? heights[i] : 0;
    points.push_back({std::to_string(i + 1), "", pixels[i % pixels.size()],
                      lines[i / pixels.size()], longitudes[i], latitudes[i], height});
  }
  return points;
}

CPLStringList source_domain(const Position& position) {
  CPLStringList domain;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) domain.SetNameValue(key, value.c_str());
  };
  set("CRS", position.crs.source);
  set("GEOTRANSFORM", position.transform.transform ? position.transform.source : std::string());
  if (position.geolocation) {
    set("GEOLOCATION",
        "arrays /" + position.geolocation->x.path + " and /" + position.geolocation->y.path);
  }
  return domain;
}

}  // namespace gdal_zarr
