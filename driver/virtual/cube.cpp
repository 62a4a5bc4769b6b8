#include "driver/virtual/cube.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "driver/gdal/messages.h"
#include "driver/virtual/cube_array.h"
#include "driver/virtual/time_pattern.h"
#include "driver/virtual/vrt_blocks.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

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

void visit_cube(const Cube& cube, const ArrayBlocks::Visit& visit) {
  const RasterBlocks& grid = cube.grid;
  for (std::size_t i = 0; i < cube.blocks.size(); ++i) {
    const CubeBlock& block = cube.blocks[i];
    const CubeSource& source = cube.sources[block.source];
    if (!source.problem.empty()) continue;
    Reference reference;
    reference.target = cube.targets[block.target];
    reference.offset = block.offset;
    reference.length = block.length;
    reference.is_path = !reference.target.empty();
    if (!reference.is_path) reference.value = zarrcore::Buffer::copy_of(cube.values.at(i).span());
    const auto position =
        cube.index(source.step, block.band, source.y / grid.block_rows + block.row,
                   source.x / grid.block_columns + block.column);
    if (!visit(position, std::move(reference))) return;
  }
  for (const CubeSource& source : cube.sources) {
    if (source.problem.empty()) continue;
    const std::uint64_t bands = grid.is_by_pixel ? 1 : grid.bands;
    for (std::uint64_t band = 0; band < bands; ++band) {
      for (auto y = source.y / grid.block_rows; y * grid.block_rows < source.y + source.rows; ++y) {
        for (auto x = source.x / grid.block_columns;
             x * grid.block_columns < source.x + source.columns; ++x) {
          if (!visit(cube.index(source.step, band, y, x), std::nullopt)) return;
        }
      }
    }
  }
}

class CubeBuilder {
 public:
  explicit CubeBuilder(const CubeOptions& options)
      : options_(options), cube_(std::make_shared<Cube>()) {
    cube_->name = options.array_name;
    cube_->has_times = !options.time_pattern.empty() || !options.time_item.empty();
    cube_->dimension = options.dimension.empty() && cube_->has_times ? "time" : options.dimension;
    const std::string& dimension = cube_->dimension;
    // Along x or y, in any case, GDAL would take it for that axis.
    for (const char* other : {"X", "Y", "Band", "lon", "lat", "longitude", "latitude"}) {
      const bool is_other = EQUAL(dimension.c_str(), other);
      if (is_other || EQUAL(cube_->name.c_str(), other) || cube_->name == dimension) {
        throw Error("the name " + (is_other ? dimension : cube_->name) +
                    " is that of another dimension or variable");
      }
    }
  }

  void add(const std::string& file) {
    const std::unique_ptr<GDALDataset> dataset(
        GDALDataset::Open(file.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
    if (!dataset) throw Error("it cannot be opened");
    CubeRaster raster = describe_raster(*dataset);
    const bool is_first = number_ == 0;
    if (is_first) {
      cube_->raster = raster;
    } else if (const char* what = find_difference(raster, cube_->raster)) {
      throw Error(std::string("it differs from the first file in its ") + what);
    }
    CubeSource source;
    source.file = file;
    source.columns = static_cast<std::uint64_t>(dataset->GetRasterXSize());
    source.rows = static_cast<std::uint64_t>(dataset->GetRasterYSize());
    const std::size_t first_source = cube_->sources.size();
    const std::size_t first_block = cube_->blocks.size();
    try {
      take_blocks(*dataset);
    } catch (const Error& problem) {
      if (!options_.leaves_others) throw;
      source.problem = problem.what();
      cube_->blocks.resize(first_block);
      cube_->values.erase(cube_->values.lower_bound(first_block), cube_->values.end());
    }
    add_sources(*dataset, source, first_block);
    std::int64_t x = 0;
    std::int64_t y = 0;
    if (raster.transform) {
      const GeoTransform& first = *cube_->raster.transform;
      x = pixels_between((*raster.transform)[0], first[0], first[1]);
      y = pixels_between((*raster.transform)[3], first[3], first[5]);
    }
    places_.resize(cube_->sources.size(), {x, y});
    for (std::size_t i = first_source; i < cube_->sources.size(); ++i) {
      left_ = std::min(left_, x);
      top_ = std::min(top_, y);
    }
    ++number_;
  }

  std::shared_ptr<const Cube> finish() {
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
    check_gaps();
    const auto copied = std::ranges::find_if(
        cube_->sources, [](const CubeSource& source) { return !source.problem.empty(); });
    if (copied != cube_->sources.end()) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s is copied, as other files may be: %s",
             copied->file.c_str(), copied->problem.c_str());
    }
    return cube_;
  }

 private:
  // The blocks of a file, with the number of its first source.
  void take_blocks(GDALDataset& dataset) {
    RasterBlocks blocks =
        find_raster_blocks(dataset, has_layout_ ? BlockCheck::none : BlockCheck::first);
    if (has_layout_) {
      const bool is_alike = blocks.is_by_pixel == cube_->grid.is_by_pixel &&
                            blocks.layout(cube_->rank()) == cube_->grid.layout(cube_->rank());
      if (!is_alike)
        throw Error("its blocks have another shape or encoding than those of the first");
    }
    blocks.visit([&](RasterBlock block) {
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
    blocks.visit = nullptr;
    cube_->grid = std::move(blocks);
    has_layout_ = true;
  }

  // One for the file, or for each band if bands have their own times.
  void add_sources(GDALDataset& dataset, const CubeSource& source, std::size_t first_block) {
    CubeSource added = source;
    const auto time = cube_->has_times ? time_of(dataset, source.file)
                                       : std::optional(static_cast<std::int64_t>(number_));
    if (number_ > 0 && bands_are_steps_ == time.has_value()) {
      throw Error("it differs from the first file in what has times: files or bands");
    }
    if (time) {
      added.time = *time;
      cube_->sources.push_back(std::move(added));
      return;
    }
    if (cube_->grid.is_by_pixel)
      throw Error("its bands share blocks, so that none has its own time");
    for (int band = 1; band <= dataset.GetRasterCount(); ++band) {
      const std::string name = "band " + std::to_string(band);
      const auto of_band =
          zarrcore::with_context({name}, [&] { return time_of_band(dataset, band, first_block); });
      if (!of_band) throw Error(name + " has no time");
      added.time = *of_band;
      added.first_band = band;
      cube_->sources.push_back(added);
    }
    for (std::size_t i = first_block; i < cube_->blocks.size(); ++i) {
      CubeBlock& block = cube_->blocks[i];
      block.source += std::exchange(block.band, 0);
    }
    bands_are_steps_ = true;
  }

  std::optional<std::int64_t> time_of_item(const char* value) const {
    if (value == nullptr) return std::nullopt;
    const auto time = options_.time_pattern.empty() ? find_usual_time(value)
                                                    : find_time(value, options_.time_pattern);
    if (!time) throw Error(options_.time_item + '=' + value + " is not a time");
    return time;
  }

  std::optional<std::int64_t> time_of(GDALDataset& dataset, const std::string& file) const {
    if (!options_.time_item.empty()) {
      return time_of_item(dataset.GetMetadataItem(options_.time_item.c_str()));
    }
    const auto time = find_time(CPLGetFilename(file.c_str()), options_.time_pattern);
    if (!time && !is_vrt(dataset)) {
      throw Error("its name does not match the time pattern " + options_.time_pattern);
    }
    return time;
  }

  // By the names of the files that a band of a VRT is in.
  std::optional<std::int64_t> time_of_band(GDALDataset& dataset, int band,
                                           std::size_t first_block) const {
    if (!options_.time_item.empty()) {
      const char* item = options_.time_item.c_str();
      return time_of_item(dataset.GetRasterBand(band)->GetMetadataItem(item));
    }
    std::set<std::uint32_t> targets;
    for (std::size_t i = first_block; i < cube_->blocks.size(); ++i) {
      const CubeBlock& block = cube_->blocks[i];
      const bool is_in_file = !cube_->targets[block.target].empty();
      if (is_in_file && block.band + 1 == static_cast<std::uint32_t>(band))
        targets.insert(block.target);
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

  void place_sources() {
    std::uint64_t columns = 0;
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < cube_->sources.size(); ++i) {
      CubeSource& source = cube_->sources[i];
      source.x = static_cast<std::uint64_t>(places_[i].first - left_);
      source.y = static_cast<std::uint64_t>(places_[i].second - top_);
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

  void number_steps() {
    auto& times = cube_->times;
    if (cube_->dimension.empty()) {
      for (CubeSource& source : cube_->sources) source.time = 0;
    }
    for (const CubeSource& source : cube_->sources) times.push_back(source.time);
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    cube_->sources_of_step.resize(times.size());
    for (CubeSource& source : cube_->sources) {
      source.step =
          static_cast<std::size_t>(std::ranges::lower_bound(times, source.time) - times.begin());
      cube_->sources_of_step[source.step].push_back(&source);
    }
    for (const auto& sources : cube_->sources_of_step) {
      check_overlaps(std::vector<const Placement*>(sources.begin(), sources.end()));
    }
  }

  // Missing blocks must read as GDAL reads them.
  void check_gaps() const {
    if (cube_->raster.has_nodata || cube_->raster.missing == Pixel{}) return;
    const RasterBlocks& grid = cube_->grid;
    const std::uint64_t bands = grid.is_by_pixel ? 1 : grid.bands;
    std::set<zarrcore::Shape> found;
    visit_cube(*cube_, [&](std::span<const std::uint64_t> index, auto&& /*reference*/) {
      found.emplace(index.begin(), index.end());
      return true;
    });
    if (found.size() == cube_->times.size() * bands * grid.count_per_band()) return;
    throw Error(
        "there are missing blocks, which read as a nodata value that the array cannot have");
  }

  const CubeOptions& options_;
  std::shared_ptr<Cube> cube_;
  std::size_t number_ = 0;  // of the next file
  bool has_layout_ = false;
  bool bands_are_steps_ = false;
  // Of each source from the first, in columns and rows; and the least of them.
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;
  std::int64_t left_ = 0;
  std::int64_t top_ = 0;
};

}  // namespace

std::unique_ptr<GDALDataset> make_cube(std::span<const std::string> files,
                                       const CubeOptions& options,
                                       const std::function<bool(double)>& progress) {
  CubeBuilder builder(options);
  for (std::size_t i = 0; i < files.size(); ++i) {
    zarrcore::with_context({files[i]}, [&] { builder.add(files[i]); });
    if (!progress(static_cast<double>(i + 1) / static_cast<double>(files.size()))) {
      throw Error("stopped by the user");
    }
  }
  return make_cube_dataset(builder.finish());
}

std::optional<ArrayBlocks> find_cube_blocks(const GDALMDArray& array) {
  const Cube* const cube = cube_of(array);
  if (cube == nullptr) return std::nullopt;
  if (cube->grid.block_rows == 0) throw Error("none of its files has blocks that can be chunks");
  return ArrayBlocks{cube->grid.layout(cube->rank()), {}, [cube](const ArrayBlocks::Visit& visit) {
                       visit_cube(*cube, visit);
                     }};
}

}  // namespace gdal_zarr
