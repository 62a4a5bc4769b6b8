// Finds the steps of a cube and the place of each file.
#include <cpl_conv.h>
#include <ogr_spatialref.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "driver/gdal/messages.h"
#include "driver/virtual/cube_array.h"
#include "driver/virtual/time_pattern.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

std::optional<GeoTransform> transform_of(GDALDataset& dataset) {
  GeoTransform transform{};
  if (GDALGetGeoTransform(GDALDataset::ToHandle(&dataset), transform.data()) != CE_None) {
    return std::nullopt;
  }
  const bool is_valid = std::ranges::all_of(transform, [](double x) { return std::isfinite(x); }) &&
                        transform[1] > 0 && transform[5] != 0;
  if (!is_valid || transform[2] != 0 || transform[4] != 0) {
    throw Error("its rows and columns do not run along the axes of the CRS");
  }
  return transform;
}

std::optional<double> value_if_set(double value, int is_set) {
  return is_set != FALSE ? std::optional(value) : std::nullopt;
}

CubeRaster describe_band(GDALRasterBand& band) {
  CubeRaster raster;
  raster.type = band.GetRasterDataType();
  raster.missing = missing_pixel(band);
  int is_set = FALSE;
  const double nodata = band.GetNoDataValue(&is_set);
  double nearest = 0;
  GDALCopyWords(raster.missing.data(), raster.type, 0, &nearest, GDT_Float64, 0, 1);
  raster.has_nodata =
      is_set != FALSE && (nearest == nodata || (std::isnan(nearest) && std::isnan(nodata)));
  double value = band.GetScale(&is_set);
  raster.scale = value_if_set(value, is_set);
  value = band.GetOffset(&is_set);
  raster.offset = value_if_set(value, is_set);
  const char* unit = band.GetUnitType();
  raster.unit = unit != nullptr ? unit : "";
  return raster;
}

// What differs between bands; null if nothing does.
const char* difference(const CubeRaster& a, const CubeRaster& b) {
  if (a.type != b.type) return "data type";
  if (a.missing != b.missing || a.has_nodata != b.has_nodata) return "nodata value";
  if (a.scale != b.scale || a.offset != b.offset || a.unit != b.unit) {
    return "scale, offset or unit";
  }
  return nullptr;
}

// What differs between files, apart from the position; null if nothing does.
const char* difference_of_files(const CubeRaster& a, const CubeRaster& b) {
  if (const char* what = difference(a, b)) return what;
  if (a.bands != b.bands) return "number of bands";
  if ((a.crs == nullptr) != (b.crs == nullptr) || (a.crs && a.crs->IsSame(b.crs.get()) == FALSE)) {
    return "CRS";
  }
  if (a.transform.has_value() != b.transform.has_value()) return "position";
  constexpr double kPrecision = 1e-9;
  const auto is_near = [&](std::size_t i) {
    return std::abs((*a.transform)[i] - (*b.transform)[i]) <=
           kPrecision * std::abs((*a.transform)[i]);
  };
  return a.transform && !(is_near(1) && is_near(5)) ? "pixel size" : nullptr;
}

// Of bands, counted from 1. Throws zarrcore::Error if they differ, or if rows and columns do not
// run along the axes. Missing values of GRIB are NaN.
CubeRaster describe_raster(GDALDataset& dataset, std::span<const int> bands) {
  const bool is_grib = format_of(dataset) == "GRIB";
  const auto describe = [&](int number) {
    CubeRaster band = describe_band(*dataset.GetRasterBand(number));
    if (is_grib) {
      const double nan = std::nan("");
      band.missing = {};
      GDALCopyWords(&nan, GDT_Float64, 0, band.missing.data(), band.type, 0, 1);
      band.has_nodata = true;
      const char* const unit = dataset.GetRasterBand(number)->GetMetadataItem("GRIB_UNIT");
      const std::string text = unit != nullptr ? unit : "";  // as "[K]", "[-]"
      if (text.size() > 2 && text != "[-]") band.unit = text.substr(1, text.size() - 2);
    }
    return band;
  };
  CubeRaster raster = describe(bands.front());
  for (const int band : bands) {
    if (const char* what = difference(describe(band), raster)) {
      throw Error(std::string("its bands differ in ") + what);
    }
  }
  raster.bands = static_cast<int>(bands.size());
  raster.transform = transform_of(dataset);
  if (const OGRSpatialReference* crs = dataset.GetSpatialRef()) raster.crs.reset(crs->Clone());
  return raster;
}

// How many pixels a file starts after the first one.
std::int64_t pixels_between(double start, double first, double length) {
  constexpr double kTolerance = 0.01;
  constexpr double kMaxDistance = 1e9;
  const double distance = (start - first) / length;
  if (!(std::abs(distance) < kMaxDistance)) throw Error("it is too far from the first file");
  if (std::abs(distance - std::round(distance)) > kTolerance) {
    throw Error("its pixels are between those of the first file");
  }
  return std::llround(distance);
}

template <typename T>
std::vector<T> distinct(const std::vector<CubeSource>& sources, T CubeSource::* member) {
  std::vector<T> values;
  values.reserve(sources.size());
  for (const CubeSource& source : sources) values.push_back(source.*member);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <typename T>
std::size_t place_in(const std::vector<T>& sorted, T value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, value) - sorted.begin());
}

}  // namespace

CubeBuilder::CubeBuilder(const CubeOptions& options)
    : options_(options), cube_(std::make_shared<Cube>()) {
  cube_->has_times = !options.time_pattern.empty() || !options.time_item.empty();
  cube_->dimension = options.dimension.empty() && cube_->has_times ? "time" : options.dimension;
}

void CubeBuilder::add(const CubeInput& input) {
  CubeRaster raster = describe_raster(input.dataset, input.bands);
  if (!input.fields.empty()) raster.bands = 1;
  if (cube_->sources.empty()) {
    cube_->raster = raster;
  } else if (const char* what = difference_of_files(raster, cube_->raster)) {
    throw Error(std::string("it differs from the first file in its ") + what);
  }
  CubeSource source;
  source.file = input.file;
  source.columns = static_cast<std::uint64_t>(input.dataset.GetRasterXSize());
  source.rows = static_cast<std::uint64_t>(input.dataset.GetRasterYSize());
  const std::size_t first_block = cube_->blocks.size();
  try {
    if (input.blocks == nullptr) throw Error(input.problem);
    take_blocks(input);
  } catch (const Error& problem) {
    if (!options_.leaves_others) throw;
    source.problem = problem.what();
    cube_->blocks.resize(first_block);
    cube_->values.erase(cube_->values.lower_bound(first_block), cube_->values.end());
  }
  if (raster.transform) {
    const GeoTransform& first = *cube_->raster.transform;
    source.column = pixels_between((*raster.transform)[0], first[0], first[1]);
    source.row = pixels_between((*raster.transform)[3], first[3], first[5]);
  }
  left_ = std::min(left_, source.column);
  top_ = std::min(top_, source.row);
  add_sources(input, std::move(source), first_block);
}

std::shared_ptr<Cube> CubeBuilder::finish() {
  if (cube_->sources.empty()) throw Error("there are no files");
  place_sources();
  number_steps();
  if (!has_layout_) return cube_;  // all is copied
  for (CubeSource& source : cube_->sources) {
    try {
      zarrcore::with_context({source.file}, [&] { check_alignment(source, cube_->grid); });
    } catch (const Error& problem) {
      if (!options_.leaves_others) throw;
      source.problem = problem.what();
    }
  }
  const auto copied = std::ranges::find_if(
      cube_->sources, [](const CubeSource& source) { return !source.problem.empty(); });
  if (copied != cube_->sources.end()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s is copied, as other files may be: %s",
           copied->file.c_str(), copied->problem.c_str());
  }
  check_gaps();
  return cube_;
}

// The blocks of a file, with the number of its first source.
void CubeBuilder::take_blocks(const CubeInput& input) {
  const RasterBlocks& blocks = *input.blocks;
  if (has_layout_) check_alike(blocks, cube_->grid);
  blocks.visit([&](RasterBlock block) {
    if (!blocks.is_by_pixel) {
      const auto band = std::ranges::lower_bound(input.bands, static_cast<int>(block.band) + 1);
      if (band == input.bands.end() || *band != static_cast<int>(block.band) + 1) return true;
      block.band = static_cast<std::uint64_t>(band - input.bands.begin());
    }
    const auto narrow = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    if (cube_->targets.empty() || cube_->targets.back() != block.reference.target) {
      cube_->targets.push_back(block.reference.target);
    }
    if (block.reference.target.empty()) {
      cube_->values.emplace(cube_->blocks.size(), std::move(block.reference.value));
    }
    cube_->blocks.push_back({narrow(cube_->sources.size()), narrow(block.band), narrow(block.row),
                             narrow(block.column), narrow(cube_->targets.size() - 1),
                             block.reference.offset, block.reference.length.value_or(0)});
    return true;
  });
  if (has_layout_) return;
  cube_->grid = blocks;
  cube_->grid.visit = nullptr;
  has_layout_ = true;
}

// One for the file, or for each band if bands have their own times.
void CubeBuilder::add_sources(const CubeInput& input, CubeSource source, std::size_t first_block) {
  const auto time =
      cube_->has_times ? time_of(input) : std::optional(static_cast<std::int64_t>(input.number));
  const bool bands_are_steps = !time || !input.fields.empty();
  if (!cube_->sources.empty() && bands_are_steps_ != bands_are_steps) {
    throw Error("it differs from the first file in what has times: files or bands");
  }
  if (!bands_are_steps) {
    source.time = *time;
    cube_->sources.push_back(std::move(source));
    return;
  }
  if (cube_->grid.is_by_pixel) throw Error("its bands share blocks, so that none has its own time");
  for (std::size_t i = 0; i < input.bands.size(); ++i) {
    const int band = input.bands[i];
    const std::string name = "band " + std::to_string(band);
    const auto of_band = zarrcore::with_context(
        {name}, [&] { return time ? time : time_of_band(input, band, first_block); });
    if (!of_band) throw Error(name + " has no time");
    source.time = *of_band;
    source.first_band = band;
    if (!input.fields.empty()) {
      source.level = input.fields[i].level.value_or(0);
      source.member = input.fields[i].member.value_or(0);
    }
    cube_->sources.push_back(source);
  }
  for (std::size_t i = first_block; i < cube_->blocks.size(); ++i) {
    CubeBlock& block = cube_->blocks[i];
    block.source += std::exchange(block.band, 0);
  }
  bands_are_steps_ = true;
}

std::optional<std::int64_t> CubeBuilder::time_of_item(const char* value) const {
  if (value == nullptr) return std::nullopt;
  const auto time = options_.time_pattern.empty() ? find_usual_time(value)
                                                  : find_time(value, options_.time_pattern);
  if (!time) throw Error(options_.time_item + '=' + value + " is not a time");
  return time;
}

std::optional<std::int64_t> CubeBuilder::time_of(const CubeInput& input) const {
  if (!options_.time_item.empty()) {
    return time_of_item(input.dataset.GetMetadataItem(options_.time_item.c_str()));
  }
  const auto time = find_time(CPLGetFilename(input.file.c_str()), options_.time_pattern);
  if (!time && format_of(input.dataset) != "VRT") {
    throw Error("its name does not match the time pattern " + options_.time_pattern);
  }
  return time;
}

// By the names of the files that a band of a VRT is in.
std::optional<std::int64_t> CubeBuilder::time_of_band(const CubeInput& input, int band,
                                                      std::size_t first_block) const {
  if (!options_.time_item.empty()) {
    const char* item = options_.time_item.c_str();
    return time_of_item(input.dataset.GetRasterBand(band)->GetMetadataItem(item));
  }
  std::set<std::uint32_t> targets;
  for (std::size_t i = first_block; i < cube_->blocks.size(); ++i) {
    const CubeBlock& block = cube_->blocks[i];
    const bool is_in_file = !cube_->targets[block.target].empty();
    if (is_in_file && block.band + 1 == static_cast<std::uint32_t>(band)) {
      targets.insert(block.target);
    }
  }
  std::optional<std::int64_t> time;
  for (const std::uint32_t target : targets) {
    const std::string& name = cube_->targets[target];
    const auto of_target = find_time(CPLGetFilename(name.c_str()), options_.time_pattern);
    if (!of_target) throw Error("the name of " + name + " does not match the time pattern");
    if (time && time != of_target) throw Error("it has files of several times, such as " + name);
    time = of_target;
  }
  return time;
}

void CubeBuilder::place_sources() {
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  for (CubeSource& source : cube_->sources) {
    source.x = static_cast<std::uint64_t>(source.column - left_);
    source.y = static_cast<std::uint64_t>(source.row - top_);
    columns = std::max(columns, source.x + source.columns);
    rows = std::max(rows, source.y + source.rows);
    if (std::max(columns, rows) > kMaxCoordinates) {
      throw Error(source.file + ": it is too far from the first file");
    }
  }
  cube_->grid.columns = columns;
  cube_->grid.rows = rows;
  cube_->grid.bands = bands_are_steps_ ? 1 : static_cast<std::uint64_t>(cube_->raster.bands);
  if (cube_->raster.transform) {
    GeoTransform& transform = *cube_->raster.transform;
    transform[0] += static_cast<double>(left_) * transform[1];
    transform[3] += static_cast<double>(top_) * transform[5];
  }
}

void CubeBuilder::number_steps() {
  constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 40;
  if (cube_->dimension.empty()) {
    for (CubeSource& source : cube_->sources) source.time = 0;
  }
  cube_->times = distinct(cube_->sources, &CubeSource::time);
  const auto levels = distinct(cube_->sources, &CubeSource::level);
  const auto members = distinct(cube_->sources, &CubeSource::member);
  const auto count = zarrcore::checked_product(
      zarrcore::Shape{cube_->times.size(), levels.size(), members.size()});
  if (!count || *count > kMaxSteps) throw Error("it has too many steps");
  if (levels.size() > 1) cube_->axes.push_back({"level", levels});
  if (members.size() > 1) cube_->axes.push_back({"member", members});
  for (CubeSource& source : cube_->sources) {
    source.step =
        (place_in(cube_->times, source.time) * levels.size() + place_in(levels, source.level)) *
            members.size() +
        place_in(members, source.member);
    cube_->sources_of_step[source.step].push_back(&source);
  }
  for (const auto& [step, sources] : cube_->sources_of_step) {
    check_overlaps(std::vector<const Placement*>(sources.begin(), sources.end()));
  }
}

// Missing blocks must read as GDAL reads them.
void CubeBuilder::check_gaps() const {
  if (cube_->raster.has_nodata || cube_->raster.missing == Pixel{}) return;
  const RasterBlocks& grid = cube_->grid;
  const std::uint64_t bands = grid.is_by_pixel ? 1 : grid.bands;
  std::set<zarrcore::Shape> found;
  visit_cube(*cube_, [&](std::span<const std::uint64_t> index, auto&& /*reference*/) {
    found.emplace(index.begin(), index.end());
    return true;
  });
  if (found.size() == cube_->times.size() * bands * grid.count_per_band()) return;
  throw Error("there are missing blocks, which read as a nodata value that the array cannot have");
}

}  // namespace gdal_zarr
