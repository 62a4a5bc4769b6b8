#include "driver/virtual/cube_array.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include "driver/gdal/messages.h"
#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

using Dimensions = std::vector<std::shared_ptr<GDALDimension>>;

std::shared_ptr<OGRSpatialReference> crs_of(const Cube& cube, std::size_t y, std::size_t x) {
  if (!cube.raster.crs) return nullptr;
  std::shared_ptr<OGRSpatialReference> crs(cube.raster.crs->Clone());
  std::vector<int> mapping = crs->GetDataAxisToSRSAxisMapping();
  for (int& axis : mapping) {
    axis = axis == 1 ? static_cast<int>(x) + 1 : axis == 2 ? static_cast<int>(y) + 1 : 0;
  }
  crs->SetDataAxisToSRSAxisMapping(mapping);
  return crs;
}

class CubeArray final : public GDALMDArray {
 public:
  static std::shared_ptr<CubeArray> create(std::shared_ptr<const Cube> cube,
                                           Dimensions dimensions) {
    std::shared_ptr<CubeArray> array(new CubeArray(std::move(cube), std::move(dimensions)));
    array->SetSelf(array);
    return array;
  }

  const Cube& cube() const { return *cube_; }

  bool IsWritable() const override { return false; }
  const std::string& GetFilename() const override { return cube_->sources.front().file; }
  const Dimensions& GetDimensions() const override { return dimensions_; }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  const std::string& GetUnit() const override { return cube_->raster.unit; }
  std::shared_ptr<OGRSpatialReference> GetSpatialRef() const override { return crs_; }
  const void* GetRawNoDataValue() const override {
    return cube_->raster.has_nodata ? cube_->raster.missing.data() : nullptr;
  }
  double GetScale(bool* is_set, GDALDataType* type) const override {
    return stated(cube_->raster.scale, 1, is_set, type);
  }
  double GetOffset(bool* is_set, GDALDataType* type) const override {
    return stated(cube_->raster.offset, 0, is_set, type);
  }
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList) const override {
    if (cube_->comment.empty()) return {};
    return {std::make_shared<GDALAttributeString>(GetFullName(), "long_name", cube_->comment)};
  }
  std::vector<GUInt64> GetBlockSize() const override {
    const zarrcore::Shape shape = cube_->grid.layout(dimensions_.size()).chunk_shape;
    return {shape.begin(), shape.end()};
  }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    return guarded(false, [&] {
      if (std::any_of(step, step + dimensions_.size(),
                      [](GInt64 of_axis) { return of_axis != 1; })) {
        throw Error("array " + GetName() + ": its source is read without steps only");
      }
      if (buffer_type.GetClass() != GEDTC_NUMERIC) throw Error("its elements are numbers");
      read(start, count, stride, buffer_type.GetNumericDataType(), static_cast<GByte*>(buffer));
      return true;
    });
  }

 private:
  CubeArray(std::shared_ptr<const Cube> cube, Dimensions dimensions)
      : GDALAbstractMDArray("/", cube->name),
        GDALMDArray("/", cube->name),
        cube_(std::move(cube)),
        dimensions_(std::move(dimensions)),
        type_(GDALExtendedDataType::Create(cube_->raster.type)) {
    const auto axes = cube_->index(0, 1, 2, 3);
    const auto at = [&](std::uint64_t axis) {
      return static_cast<std::size_t>(std::ranges::find(axes, axis) - axes.begin());
    };
    crs_ = crs_of(*cube_, at(2), at(3));
  }

  static double stated(const std::optional<double>& value, double usual, bool* is_set,
                       GDALDataType* type) {
    if (is_set != nullptr) *is_set = value.has_value();
    if (type != nullptr) *type = GDT_Unknown;
    return value.value_or(usual);
  }

  // The part of a region along bands, rows and columns: those that the array lacks have one
  // element. The first of each is not used.
  struct Region {
    std::uint64_t start[4] = {0, 0, 0, 0};
    std::uint64_t count[4] = {1, 1, 1, 1};
    GSpacing spacing[4] = {0, 0, 0, 0};  // in bytes
  };

  // Calls `use` for the first pixel of each of `rows` rows in all bands.
  template <typename Use>
  static void for_rows(const Region& region, std::uint64_t rows, GByte* buffer, const Use& use) {
    for (std::uint64_t band = 0; band < region.count[1]; ++band) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        use(buffer + static_cast<GSpacing>(band) * region.spacing[1] +
            static_cast<GSpacing>(row) * region.spacing[2]);
      }
    }
  }

  void read(const GUInt64* start, const size_t* count, const GPtrDiff_t* stride, GDALDataType type,
            GByte* buffer) const {
    const auto axes = cube_->index(0, 1, 2, 3);  // 0 for the dimensions of steps, which are first
    Region region;
    zarrcore::Shape lengths;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] == 0) lengths.push_back(count[i]);
      region.start[axes[i]] = start[i];
      region.count[axes[i]] = count[i];
      region.spacing[axes[i]] = stride[i] * GDALGetDataTypeSizeBytes(type);
    }
    const zarrcore::Shape all = cube_->step_shape();
    for (std::uint64_t n = 0; n < *zarrcore::checked_product(lengths); ++n) {
      const zarrcore::Shape place = position_of(n, lengths);
      std::uint64_t step = 0;
      GByte* of_step = buffer;
      for (std::size_t i = 0; i < all.size(); ++i) {
        step = step * all[i] + start[i] + place[i];
        of_step += static_cast<GSpacing>(place[i]) * stride[i] * GDALGetDataTypeSizeBytes(type);
      }
      read_step(step, region, type, of_step);
    }
  }

  void read_step(std::uint64_t step, const Region& region, GDALDataType type, GByte* buffer) const {
    for_rows(region, region.count[2], buffer, [&](GByte* row) {
      GDALCopyWords64(cube_->raster.missing.data(), cube_->raster.type, 0, row, type,
                      static_cast<int>(region.spacing[3]),
                      static_cast<GPtrDiff_t>(region.count[3]));
    });
    const auto sources = cube_->sources_of_step.find(step);
    if (sources == cube_->sources_of_step.end()) return;
    for (const CubeSource* source : sources->second) read_source(*source, region, type, buffer);
  }

  void read_source(const CubeSource& source, const Region& region, GDALDataType type,
                   GByte* buffer) const {
    const auto x = std::max(source.x, region.start[3]);
    const auto y = std::max(source.y, region.start[2]);
    const auto x_end = std::min(source.x + source.columns, region.start[3] + region.count[3]);
    const auto y_end = std::min(source.y + source.rows, region.start[2] + region.count[2]);
    if (x >= x_end || y >= y_end) return;
    const PlainGrib plain;
    if (!dataset_ || opened_ != source.file) {
      dataset_.reset(
          GDALDataset::Open(source.file.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
      opened_ = source.file;
    }
    std::vector<int> bands(region.count[1]);
    std::iota(bands.begin(), bands.end(), source.first_band + static_cast<int>(region.start[1]));
    const auto columns = static_cast<int>(x_end - x);
    const auto rows = static_cast<int>(y_end - y);
    GByte* const target = buffer + static_cast<GSpacing>(y - region.start[2]) * region.spacing[2] +
                          static_cast<GSpacing>(x - region.start[3]) * region.spacing[3];
    if (!dataset_ ||
        dataset_->RasterIO(GF_Read, static_cast<int>(x - source.x), static_cast<int>(y - source.y),
                           columns, rows, target, columns, rows, type,
                           static_cast<int>(bands.size()), bands.data(), region.spacing[3],
                           region.spacing[2], region.spacing[1], nullptr) != CE_None) {
      throw Error(source.file + " cannot be read");
    }
    if (format_of(*dataset_) != "GRIB") return;
    // GDAL shows missing values of messages as a nodata value; the array has NaN there.
    int has_nodata = FALSE;
    const double nodata = dataset_->GetRasterBand(bands[0])->GetNoDataValue(&has_nodata);
    if (has_nodata == FALSE) return;
    for_rows(region, y_end - y, target, [&](GByte* at) {
      for (int column = 0; column < columns; ++column, at += region.spacing[3]) {
        double value = 0;
        GDALCopyWords(at, type, 0, &value, GDT_Float64, 0, 1);
        if (value != nodata) continue;
        GDALCopyWords(cube_->raster.missing.data(), cube_->raster.type, 0, at, type, 0, 1);
      }
    });
  }

  std::shared_ptr<const Cube> cube_;
  Dimensions dimensions_;
  GDALExtendedDataType type_;
  std::shared_ptr<OGRSpatialReference> crs_;
  mutable std::unique_ptr<GDALDataset> dataset_;  // the one that was read last
  mutable std::string opened_;
};

// The group of coordinate variables in memory, with the arrays of cubes.
class CubeGroup final : public GDALGroup {
 public:
  using Arrays = std::map<std::string, std::shared_ptr<GDALMDArray>>;

  CubeGroup(std::shared_ptr<GDALGroup> coordinates, Arrays arrays)
      : GDALGroup("", "/"), coordinates_(std::move(coordinates)), arrays_(std::move(arrays)) {}

  std::vector<std::string> GetMDArrayNames(CSLConstList options) const override {
    auto names = coordinates_->GetMDArrayNames(options);
    for (const auto& [name, array] : arrays_) names.push_back(name);
    return names;
  }
  std::shared_ptr<GDALMDArray> OpenMDArray(const std::string& name,
                                           CSLConstList options) const override {
    const auto found = arrays_.find(name);
    return found != arrays_.end() ? found->second : coordinates_->OpenMDArray(name, options);
  }
  Dimensions GetDimensions(CSLConstList options) const override {
    return coordinates_->GetDimensions(options);
  }

 private:
  std::shared_ptr<GDALGroup> coordinates_;
  Arrays arrays_;
};

class CubeDataset final : public GDALDataset {
 public:
  CubeDataset(std::unique_ptr<GDALDataset> memory, std::shared_ptr<GDALGroup> root)
      : memory_(std::move(memory)), root_(std::move(root)) {}
  std::shared_ptr<GDALGroup> GetRootGroup() const override { return root_; }

 private:
  std::unique_ptr<GDALDataset> memory_;
  std::shared_ptr<GDALGroup> root_;
};

void add_text(GDALMDArray& array, const char* name, const char* text) {
  const auto attribute =
      array.CreateAttribute(name, {}, GDALExtendedDataType::CreateString(), nullptr);
  if (!attribute || !attribute->Write(text)) throw Error("coordinates cannot be made");
}

// The dimensions that the arrays of a dataset share, if they have the same coordinates.
class CubeDimensions {
 public:
  explicit CubeDimensions(std::shared_ptr<GDALGroup> group) : group_(std::move(group)) {}

  bool has(const std::string& name) const { return made_.contains(name); }

  // If a dimension of the name has another length or other values, the array's name is added to it.
  template <typename T>
  std::shared_ptr<GDALDimension> get(std::string name, const std::string& array, const char* type,
                                     const char* direction, std::uint64_t length,
                                     const std::vector<T>& values) {
    const std::vector<double> numbers(values.begin(), values.end());
    const auto differs = [&] {
      const auto found = made_.find(name);
      return found != made_.end() &&
             (found->second.dimension->GetSize() != length || found->second.values != numbers);
    };
    if (differs()) name += '_' + array;
    if (differs()) throw Error("two dimensions have the name " + name);
    Made& made = made_[name];
    if (made.dimension) return made.dimension;
    made = {group_->CreateDimension(name, type, direction, length, nullptr), numbers};
    if (values.empty()) return made.dimension;
    const auto variable = group_->CreateMDArray(
        name, {made.dimension},
        GDALExtendedDataType::Create(std::is_integral_v<T> ? GDT_Int64 : GDT_Float64), nullptr);
    const GUInt64 start = 0;
    const std::size_t count = values.size();
    if (!variable ||
        !variable->Write(&start, &count, nullptr, nullptr, variable->GetDataType(),
                         values.data()) ||
        !made.dimension->SetIndexingVariable(variable)) {
      throw Error("coordinates cannot be made");
    }
    return made.dimension;
  }

 private:
  struct Made {
    std::shared_ptr<GDALDimension> dimension;
    std::vector<double> values;
  };

  std::shared_ptr<GDALGroup> group_;
  std::map<std::string, Made> made_;
};

Dimensions dimensions_of(const Cube& cube, CubeDimensions& made) {
  const auto& transform = cube.raster.transform;
  const std::vector<double> none;
  const auto get = [&](const std::string& name, const char* type, const char* direction,
                       std::uint64_t length, const auto& values) {
    return made.get(name, cube.name, type, direction, length, values);
  };
  Dimensions dimensions;
  if (!cube.dimension.empty() && !cube.has_times) {
    dimensions.push_back(get(cube.dimension, "", "", cube.times.size(), none));
  } else if (!cube.dimension.empty()) {
    dimensions.push_back(
        get(cube.dimension, GDAL_DIM_TYPE_TEMPORAL, "", cube.times.size(), cube.times));
    const auto times = dimensions.back()->GetIndexingVariable();
    if (!times->GetAttribute("axis")) {
      times->SetUnit("seconds since 1970-01-01 00:00:00");
      add_text(*times, "standard_name", "time");
      add_text(*times, "calendar", "standard");
      add_text(*times, "axis", "T");
    }
  }
  for (const CubeAxis& axis : cube.axes) {
    dimensions.push_back(get(axis.name, "", "", axis.values.size(), axis.values));
  }
  const auto add_bands = [&] {
    if (cube.has_bands()) dimensions.push_back(get("Band", "", "", cube.grid.bands, none));
  };
  if (!cube.bands_are_last()) add_bands();
  const auto add_axis = [&](const char* name, const char* type, const char* direction, int first,
                            std::uint64_t length) {
    const auto at = static_cast<std::size_t>(first);
    dimensions.push_back(get(
        name, type, direction, length,
        transform ? cell_centres((*transform)[at], (*transform)[at == 0 ? 1 : 5], length) : none));
  };
  add_axis("Y", GDAL_DIM_TYPE_HORIZONTAL_Y, "NORTH", 3, cube.grid.rows);
  add_axis("X", GDAL_DIM_TYPE_HORIZONTAL_X, "EAST", 0, cube.grid.columns);
  if (cube.bands_are_last()) add_bands();
  return dimensions;
}

}  // namespace

zarrcore::Shape Cube::step_shape() const {
  zarrcore::Shape shape;
  if (!dimension.empty()) shape.push_back(times.size());
  for (const CubeAxis& axis : axes) shape.push_back(axis.values.size());
  return shape;
}

zarrcore::Shape Cube::index(std::uint64_t step, std::uint64_t band, std::uint64_t row,
                            std::uint64_t column) const {
  zarrcore::Shape index = position_of(step, step_shape());
  if (has_bands() && !bands_are_last()) index.push_back(band);
  index.insert(index.end(), {row, column});
  if (has_bands() && bands_are_last()) index.push_back(band);
  return index;
}

std::unique_ptr<GDALDataset> make_cube_dataset(
    const std::vector<std::shared_ptr<const Cube>>& cubes) {
  GDALDriver* const driver = GetGDALDriverManager()->GetDriverByName("MEM");
  std::unique_ptr<GDALDataset> memory(
      driver != nullptr ? driver->CreateMultiDimensional("", nullptr, nullptr) : nullptr);
  if (!memory) throw Error("GDAL's driver MEM is needed");
  const auto root = memory->GetRootGroup();
  CubeDimensions made(root);
  std::map<std::string, std::shared_ptr<GDALMDArray>> arrays;
  for (const auto& cube : cubes) {
    arrays.emplace(cube->name, CubeArray::create(cube, dimensions_of(*cube, made)));
  }
  for (const auto& cube : cubes) {
    if (made.has(cube->name)) {
      throw Error("the name " + cube->name + " is that of another dimension or variable");
    }
  }
  return std::make_unique<CubeDataset>(std::move(memory),
                                       std::make_shared<CubeGroup>(root, std::move(arrays)));
}

const Cube* cube_of(const GDALMDArray& array) {
  const auto* ours = dynamic_cast<const CubeArray*>(&array);
  return ours != nullptr ? &ours->cube() : nullptr;
}

}  // namespace gdal_zarr
