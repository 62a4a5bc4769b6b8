#include "driver/virtual/cube_array.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/virtual/grib_blocks.h"
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

  // The part of a region along the dimensions step, bands, rows and columns: those that the array
  // lacks have one element.
  struct Region {
    std::uint64_t start[4] = {0, 0, 0, 0};
    std::uint64_t count[4] = {1, 1, 1, 1};
    GSpacing spacing[4] = {0, 0, 0, 0};  // in bytes
  };

  void read(const GUInt64* start, const size_t* count, const GPtrDiff_t* stride, GDALDataType type,
            GByte* buffer) const {
    const auto axes = cube_->index(0, 1, 2, 3);
    Region region;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      region.start[axes[i]] = start[i];
      region.count[axes[i]] = count[i];
      region.spacing[axes[i]] = stride[i] * GDALGetDataTypeSizeBytes(type);
    }
    const auto& [first, lengths, spacing] = region;
    for (std::uint64_t step = 0; step < lengths[0]; ++step) {
      GByte* const of_step = buffer + static_cast<GSpacing>(step) * spacing[0];
      for (std::uint64_t band = 0; band < lengths[1]; ++band) {
        for (std::uint64_t row = 0; row < lengths[2]; ++row) {
          GDALCopyWords64(cube_->raster.missing.data(), cube_->raster.type, 0,
                          of_step + static_cast<GSpacing>(band) * spacing[1] +
                              static_cast<GSpacing>(row) * spacing[2],
                          type, static_cast<int>(spacing[3]), static_cast<GPtrDiff_t>(lengths[3]));
        }
      }
      for (const CubeSource* source : cube_->sources_of_step[first[0] + step]) {
        read_source(*source, region, type, of_step);
      }
    }
  }

  void read_source(const CubeSource& source, const Region& region, GDALDataType type,
                   GByte* buffer) const {
    const auto x = std::max(source.x, region.start[3]);
    const auto y = std::max(source.y, region.start[2]);
    const auto x_end = std::min(source.x + source.columns, region.start[3] + region.count[3]);
    const auto y_end = std::min(source.y + source.rows, region.start[2] + region.count[2]);
    if (x >= x_end || y >= y_end) return;
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
    if (!is_grib(*dataset_)) return;
    // GDAL shows missing values of messages as a nodata value; the array has NaN there.
    const double nodata = dataset_->GetRasterBand(bands[0])->GetNoDataValue();
    for (std::size_t i = 0; i < bands.size(); ++i) {
      for (std::uint64_t row = 0; row < y_end - y; ++row) {
        for (std::uint64_t column = 0; column < x_end - x; ++column) {
          GByte* const at = target + static_cast<GSpacing>(i) * region.spacing[1] +
                            static_cast<GSpacing>(row) * region.spacing[2] +
                            static_cast<GSpacing>(column) * region.spacing[3];
          double value = 0;
          GDALCopyWords(at, type, 0, &value, GDT_Float64, 0, 1);
          if (value != nodata) continue;
          GDALCopyWords(cube_->raster.missing.data(), cube_->raster.type, 0, at, type, 0, 1);
        }
      }
    }
  }

  std::shared_ptr<const Cube> cube_;
  Dimensions dimensions_;
  GDALExtendedDataType type_;
  std::shared_ptr<OGRSpatialReference> crs_;
  mutable std::unique_ptr<GDALDataset> dataset_;  // the one that was read last
  mutable std::string opened_;
};

// The group of coordinate variables in memory, with the array of the cube.
class CubeGroup final : public GDALGroup {
 public:
  CubeGroup(std::shared_ptr<GDALGroup> coordinates, std::shared_ptr<GDALMDArray> array)
      : GDALGroup("", "/"), coordinates_(std::move(coordinates)), array_(std::move(array)) {}

  std::vector<std::string> GetMDArrayNames(CSLConstList options) const override {
    auto names = coordinates_->GetMDArrayNames(options);
    names.push_back(array_->GetName());
    return names;
  }
  std::shared_ptr<GDALMDArray> OpenMDArray(const std::string& name,
                                           CSLConstList options) const override {
    return name == array_->GetName() ? array_ : coordinates_->OpenMDArray(name, options);
  }
  Dimensions GetDimensions(CSLConstList options) const override {
    return coordinates_->GetDimensions(options);
  }

 private:
  std::shared_ptr<GDALGroup> coordinates_;
  std::shared_ptr<GDALMDArray> array_;
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

template <typename T>
std::shared_ptr<GDALMDArray> add_coordinates(GDALGroup& group,
                                             const std::shared_ptr<GDALDimension>& dimension,
                                             GDALDataType type, const std::vector<T>& values) {
  const auto array = group.CreateMDArray(dimension->GetName(), {dimension},
                                         GDALExtendedDataType::Create(type), nullptr);
  const GUInt64 start = 0;
  const std::size_t count = values.size();
  if (!array ||
      !array->Write(&start, &count, nullptr, nullptr, array->GetDataType(), values.data()) ||
      !dimension->SetIndexingVariable(array)) {
    throw Error("coordinates cannot be made");
  }
  return array;
}

std::vector<double> centres(double start, double length, std::uint64_t count) {
  std::vector<double> values(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    values[i] = start + (static_cast<double>(i) + 0.5) * length;
  }
  return values;
}

}  // namespace

zarrcore::Shape Cube::index(std::uint64_t step, std::uint64_t band, std::uint64_t row,
                            std::uint64_t column) const {
  zarrcore::Shape index;
  if (!dimension.empty()) index.push_back(step);
  if (has_bands() && !bands_are_last()) index.push_back(band);
  index.insert(index.end(), {row, column});
  if (has_bands() && bands_are_last()) index.push_back(band);
  return index;
}

std::unique_ptr<GDALDataset> make_cube_dataset(std::shared_ptr<const Cube> cube) {
  GDALDriver* const driver = GetGDALDriverManager()->GetDriverByName("MEM");
  std::unique_ptr<GDALDataset> memory(
      driver != nullptr ? driver->CreateMultiDimensional("", nullptr, nullptr) : nullptr);
  if (!memory) throw Error("GDAL's driver MEM is needed");
  const auto root = memory->GetRootGroup();
  const auto& transform = cube->raster.transform;
  const auto add = [&](const std::string& name, const char* type, const char* direction,
                       std::uint64_t length) {
    return root->CreateDimension(name, type, direction, length, nullptr);
  };
  Dimensions dimensions;
  for (const std::uint64_t axis : cube->index(0, 1, 2, 3)) {
    if (axis == 0) {
      const auto made = add(cube->dimension, cube->has_times ? GDAL_DIM_TYPE_TEMPORAL : "", "",
                            cube->times.size());
      dimensions.push_back(made);
      if (!cube->has_times) continue;
      const auto times = add_coordinates(*root, made, GDT_Int64, cube->times);
      times->SetUnit("seconds since 1970-01-01 00:00:00");
      add_text(*times, "standard_name", "time");
      add_text(*times, "calendar", "standard");
      add_text(*times, "axis", "T");
    } else if (axis == 1) {
      dimensions.push_back(add("Band", "", "", cube->grid.bands));
    } else if (axis == 2) {
      const auto made = add("Y", GDAL_DIM_TYPE_HORIZONTAL_Y, "NORTH", cube->grid.rows);
      dimensions.push_back(made);
      if (transform)
        add_coordinates(*root, made, GDT_Float64,
                        centres((*transform)[3], (*transform)[5], cube->grid.rows));
    } else {
      const auto made = add("X", GDAL_DIM_TYPE_HORIZONTAL_X, "EAST", cube->grid.columns);
      dimensions.push_back(made);
      if (transform)
        add_coordinates(*root, made, GDT_Float64,
                        centres((*transform)[0], (*transform)[1], cube->grid.columns));
    }
  }
  auto array = CubeArray::create(std::move(cube), std::move(dimensions));
  return std::make_unique<CubeDataset>(std::move(memory),
                                       std::make_shared<CubeGroup>(root, std::move(array)));
}

const Cube* cube_of(const GDALMDArray& array) {
  const auto* ours = dynamic_cast<const CubeArray*>(&array);
  return ours != nullptr ? &ours->cube() : nullptr;
}

}  // namespace gdal_zarr
