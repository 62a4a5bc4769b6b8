// Codecs whose chunks are messages of GRIB: `grib` of kerchunk and `gribberish`. A chunk has the
// values of one message in the order of the message, as eccodes has them, or the latitudes or
// longitudes of its points.
#include <ogr_spatialref.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/codecs/gdal_codecs.h"
#include "driver/codecs/grib_message.h"
#include "driver/codecs/memory_raster.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::ChunkSpec;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::MutableByteSpan;

constexpr MemoryFormat kGrib{{"GRIB"}, "GRIB message", "grb", {"USE_IDX=NO"}};

// Which values of a message a codec decodes to.
struct GribOptions {
  enum class Variable : std::uint8_t { values, latitude, longitude };

  Variable variable = Variable::values;
  // kerchunk: this value is missing, whether there is a bitmap or not.
  std::optional<double> missing;
  // gribberish: columns of global grids from -180 on, and rows from the north.
  bool adjusts_longitudes = false;
  bool is_north_up = false;
};

// Values with a number of rows and columns.
struct Field {
  std::vector<double> values;
  std::size_t rows;
  std::size_t columns;
};

class GribCodec final : public MemoryFileCodec {
 public:
  GribCodec(const std::string& name, const GribOptions& options, const ChunkSpec& spec)
      : MemoryFileCodec(name, "GRIB messages", spec), options_(options) {
    const zarrcore::DataType& type = spec.data_type;
    const bool is_float = type.kind == zarrcore::TypeKind::floating && type.bits == 0 &&
                          type.float_format == zarrcore::FloatFormat::ieee;
    if (!is_float || (type.item_size != 4 && type.item_size != 8)) {
      throw Error("GRIB messages are read as float32 and float64, not as " +
                  zarrcore::type_name(type));
    }
  }

  // Rejects a message of another size before memory is allocated for it.
  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    parse(encoded);
    return byte_count();
  }

  using MemoryFileCodec::decode;
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    zarrcore::check_size(name() + ": ", byte_count(), decoded.size());
    const GribMessage message = parse(encoded);
    Field field = options_.variable == GribOptions::Variable::values ? read_values(message)
                                                                     : make_positions(message);
    arrange(message.grid, field);
    std::byte* target = decoded.data();
    for (const double value : field.values) {
      if (spec().data_type.item_size == 8) {
        store(value, std::uint64_t{}, target);
      } else {
        store(static_cast<float>(value), std::uint32_t{}, target);
      }
    }
  }

 private:
  template <typename Value, typename Bits>
  static void store(Value value, Bits bits, std::byte*& target) {
    std::memcpy(&bits, &value, sizeof bits);
    zarrcore::store_integer(bits, zarrcore::Endian::little, target);
    target += sizeof bits;
  }

  // Throws Error unless the chunk is a message of its size.
  GribMessage parse(ByteSpan encoded) const {
    try {
      GribMessage message = parse_grib(encoded);
      const GribGrid& grid = message.grid;
      if (element_count() != grid.point_count() && element_count() != axis_length(grid)) {
        throw Error("the GRIB message has " + std::to_string(grid.rows) + " x " +
                    std::to_string(grid.columns) + " points where the chunk has " + chunk_text());
      }
      if (options_.variable == GribOptions::Variable::values) check_packing(message);
      return message;
    } catch (const Error& problem) {
      throw error(problem.what());
    }
  }

  // The number of rows for a chunk of latitudes of a regular grid, of columns for longitudes; 0 for
  // others.
  std::uint64_t axis_length(const GribGrid& grid) const {
    if (!grid.is_regular()) return 0;
    return options_.variable == GribOptions::Variable::latitude    ? grid.rows
           : options_.variable == GribOptions::Variable::longitude ? grid.columns
                                                                   : 0;
  }

  // GDAL decodes some packings wrongly, without an error.
  static void check_packing(const GribMessage& message) {
    if (message.edition == 1) {
      if (message.packing == 0) return;
      throw Error("the GRIB 1 message is not in simple packing, which alone is supported");
    }
    constexpr unsigned kCcsds = 42;
    constexpr unsigned kTemplates[] = {0, 2, 3, kGribIeee, 40, 41, kCcsds};
    if (std::ranges::find(kTemplates, message.packing) == std::end(kTemplates)) {
      throw Error("the GRIB 2 message is in the packing " + std::to_string(message.packing) +
                  ", which is not supported");
    }
    GDALDriver* driver = GetGDALDriverManager()->GetDriverByName("GRIB");
    if (message.packing == kCcsds && driver != nullptr &&
        driver->GetMetadataItem("HAVE_AEC") == nullptr) {
      throw Error("GDAL's driver GRIB was built without libaec, which CCSDS packing needs");
    }
  }

  // Returns a copy of the message whose number for missing values is not among its values; empty if
  // the message manages no missing values. If the number is among the values, GDAL silently
  // replaces it by another.
  static Buffer with_marked_missing(const GribMessage& message) {
    if (!message.manages_missing) return {};
    constexpr float kUnlikely = 9.999e20F;
    const std::uint32_t bits =
        message.missing_is_integer ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(kUnlikely);
    Buffer marked = Buffer::copy_of(message.bytes);
    for (unsigned i = 0; i < 4; ++i) {
      marked.data()[message.missing_offset + i] = static_cast<std::byte>(bits >> (24 - 8 * i));
    }
    return marked;
  }

  Field read_values(const GribMessage& message) const {
    const GribGrid& grid = message.grid;
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    if (message.edition == 2 && message.packing == kGribIeee) {
      // Old versions of GDAL read them in single precision.
      Field field{ieee_values(message), grid.rows, grid.columns};
      if (options_.missing) std::ranges::replace(field.values, *options_.missing, kNan);
      return field;
    }
    const Buffer marked = with_marked_missing(message);
    const MemoryRaster raster(name(), kGrib, marked.empty() ? message.bytes : marked.span());
    GDALDataset& dataset = raster.dataset();
    if (dataset.GetRasterCount() != 1 ||
        static_cast<std::uint32_t>(dataset.GetRasterXSize()) != grid.columns ||
        static_cast<std::uint32_t>(dataset.GetRasterYSize()) != grid.rows) {
      raster.fail("GDAL reads another grid than the GRIB message has");
    }
    const auto count = static_cast<std::size_t>(grid.point_count());
    std::vector<double> rows(count);
    GDALRasterBand& band = *dataset.GetRasterBand(1);
    const auto width = static_cast<int>(grid.columns);
    const auto height = static_cast<int>(grid.rows);
    if (band.RasterIO(GF_Read, 0, 0, width, height, rows.data(), width, height, GDT_Float64, 0, 0,
                      nullptr) != CE_None) {
      raster.fail("the GRIB message cannot be decoded");
    }
    int has_nodata = 0;
    const double nodata = message.manages_missing ? band.GetNoDataValue(&has_nodata) : 0;
    Field field{std::vector<double>(count), grid.rows, grid.columns};
    for (std::size_t i = 0; i < count; ++i) {
      // GDAL's rows begin in the north, and its columns in the west.
      const auto [column_steps, row_steps] = grid.steps(i);
      const std::size_t row = grid.scans_north() ? grid.rows - 1 - row_steps : row_steps;
      const std::size_t column = grid.scans_west() ? grid.columns - 1 - column_steps : column_steps;
      const double read = rows[row * grid.columns + column];
      const double value = message.scale ? message.scale->exact(read) : read;
      const bool is_missing = message.is_missing(i) || (has_nodata != 0 && read == nodata) ||
                              (options_.missing && value == *options_.missing);
      field.values[i] = is_missing ? kNan : value;
    }
    return field;
  }

  Field make_positions(const GribMessage& message) const {
    const GribGrid& grid = message.grid;
    const bool is_latitude = options_.variable == GribOptions::Variable::latitude;
    if (element_count() != grid.point_count()) {
      if (is_latitude) return {row_latitudes(grid), grid.rows, 1};
      return {column_longitudes(grid), 1, grid.columns};
    }
    Field field{std::vector<double>(static_cast<std::size_t>(grid.point_count())), grid.rows,
                grid.columns};
    if (grid.kind == GribGrid::Kind::projected) {
      project(message, is_latitude, field.values);
      return field;
    }
    if (grid.rotation != 0)
      throw error("the grid is turned about its pole, which is not supported");
    const std::vector<double> latitudes = row_latitudes(grid);
    const std::vector<double> longitudes = column_longitudes(grid);
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      const auto [column, row] = grid.steps(i);
      GeographicPoint position{latitudes[row], longitudes[column]};
      if (grid.is_rotated) position = unrotated(grid, position);
      field.values[i] = is_latitude ? position.latitude : position.longitude;
    }
    return field;
  }

  // Positions from the projection that GDAL finds in the message. The message states the position
  // of its first point, and steps in metres.
  void project(const GribMessage& message, bool is_latitude, std::vector<double>& values) const {
    const GribGrid& grid = message.grid;
    const MemoryRaster raster(name(), kGrib, message.bytes);
    const OGRSpatialReference* crs = raster.dataset().GetSpatialRef();
    if (crs == nullptr || !crs->IsProjected()) raster.fail("GDAL does not know the projection");
    OGRSpatialReference projected(*crs);
    projected.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    const std::unique_ptr<OGRSpatialReference> geographic(projected.CloneGeogCS());
    geographic->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    const std::unique_ptr<OGRCoordinateTransformation> to_metres(
        OGRCreateCoordinateTransformation(geographic.get(), &projected));
    const std::unique_ptr<OGRCoordinateTransformation> to_degrees(
        OGRCreateCoordinateTransformation(&projected, geographic.get()));
    double first_x = grid.first_longitude;
    double first_y = grid.first_latitude;
    if (!to_metres || !to_degrees || !to_metres->Transform(1, &first_x, &first_y)) {
      raster.fail("the first point of the grid has no place in its projection");
    }
    const double x_step = grid.scans_west() ? -grid.column_step : grid.column_step;
    const double y_step = grid.scans_north() ? grid.row_step : -grid.row_step;
    std::vector<double> x(grid.columns);
    std::vector<double> y(grid.columns);
    std::vector<double> rows(values.size());
    for (std::uint32_t row = 0; row < grid.rows; ++row) {
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        x[column] = first_x + column * x_step;
        y[column] = first_y + row * y_step;
      }
      if (!to_degrees->Transform(static_cast<int>(grid.columns), x.data(), y.data())) {
        raster.fail("a point of the grid has no geographic position");
      }
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        rows[std::size_t{row} * grid.columns + column] =
            is_latitude ? y[column] : normalized_longitude(x[column]);
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [column, row] = grid.steps(i);
      values[i] = rows[std::size_t{row} * grid.columns + column];
    }
  }

  // Applies the options of gribberish to a field in the order of the message.
  void arrange(const GribGrid& grid, Field& field) const {
    if (!options_.adjusts_longitudes && !options_.is_north_up) return;
    if (grid.scans_columns() || grid.alternates()) {
      throw error("the rows of the GRIB message are not one after the other, from the same side");
    }
    const auto row = [&](std::size_t index) {
      return field.values.begin() + static_cast<std::ptrdiff_t>(index * field.columns);
    };
    if (options_.is_north_up && grid.scans_north()) {
      for (std::size_t i = 0; i < field.rows / 2; ++i) {
        std::swap_ranges(row(i), row(i + 1), row(field.rows - 1 - i));
      }
    }
    if (!options_.adjusts_longitudes || !grid.is_regular() || grid.scans_west()) return;
    const std::vector<double> longitudes = column_longitudes(grid);
    const double step = longitudes.size() > 1 ? longitudes[1] - longitudes[0] : 0;
    const double excess = step * static_cast<double>(longitudes.size()) - 360;
    if (step <= 0 || std::abs(excess) >= step / 4) return;  // not global
    if (options_.variable == GribOptions::Variable::longitude) {
      for (double& longitude : field.values) longitude -= longitude >= 180 ? 360 : 0;
    }
    if (field.columns == 1) return;
    // The westernmost column becomes the first.
    const auto wrapped = [](double longitude) {
      return longitude >= 180 ? longitude - 360 : longitude;
    };
    const auto west = std::ranges::min_element(longitudes, {}, wrapped) - longitudes.begin();
    for (std::size_t i = 0; i < field.rows; ++i) {
      std::rotate(row(i), row(i) + west, row(i + 1));
    }
  }

  GribOptions options_;
};

GribOptions::Variable read_variable(const Json& configuration) {
  const auto name = zarrcore::text_option(configuration, "var");
  return name == "latitude"    ? GribOptions::Variable::latitude
         : name == "longitude" ? GribOptions::Variable::longitude
                               : GribOptions::Variable::values;
}

// Kerchunk's codec. Its `dtype` is the type of the decoded bytes.
zarrcore::Codec make_grib(const Json& configuration, const ChunkSpec& spec) {
  if (const Json* dtype = zarrcore::find_value(configuration, "dtype")) {
    const bool is_single = *dtype == "float32" || *dtype == "<f4" || *dtype == "f4";
    const bool is_double = *dtype == "float64" || *dtype == "<f8" || *dtype == "f8";
    if (!(is_single && spec.data_type.item_size == 4) &&
        !(is_double && spec.data_type.item_size == 8)) {
      throw Error("\"dtype\" is " + zarrcore::excerpt(*dtype) + " where the elements are " +
                  zarrcore::type_name(spec.data_type));
    }
  }
  GribOptions options;
  options.variable = read_variable(configuration);
  options.missing = 9999;  // eccodes' `missingValue`, which no message changes
  return std::make_unique<GribCodec>("grib", options, spec);
}

zarrcore::Codec make_gribberish(const Json& configuration, const ChunkSpec& spec) {
  GribOptions options;
  options.variable = read_variable(configuration);
  options.adjusts_longitudes =
      zarrcore::boolean_option(configuration, "adjust_longitude_range", false);
  options.is_north_up = zarrcore::boolean_option(configuration, "north_up", false);
  return std::make_unique<GribCodec>("gribberish", options, spec);
}

}  // namespace

zarrcore::CodecFactory find_grib_codec(std::string_view name) {
  if (name == "grib") return &make_grib;
  if (name == "gribberish") return &make_gribberish;
  return nullptr;
}

}  // namespace gdal_zarr
