#include "driver/virtual/cube.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "driver/virtual/cube_array.h"
#include "driver/virtual/grib.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Errors name the element of a GRIB file.
template <typename Body>
auto with_element(const GribField& field, const Body& body) {
  return field.element.empty() ? body() : zarrcore::with_context({field.element}, body);
}

// Opens files, and puts each of their bands into an array: those of a GRIB file by what they are.
class Cubes {
 public:
  explicit Cubes(const CubeOptions& options) : options_(options) {
    const std::string& dimension = options.dimension;
    const std::string& name = options.array_name;
    // Along x or y, in any case, GDAL would take it for that axis.
    for (const char* other : {"X", "Y", "Band", "lon", "lat", "longitude", "latitude"}) {
      const bool is_other = EQUAL(dimension.c_str(), other);
      if (is_other || EQUAL(name.c_str(), other) || (!name.empty() && name == dimension)) {
        throw Error("the name " + (is_other ? dimension : name) +
                    " is that of another dimension or variable");
      }
    }
  }

  void add(const std::string& file) {
    const PlainGrib plain;
    const std::unique_ptr<GDALDataset> dataset(
        GDALDataset::Open(file.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
    if (!dataset) throw Error("it cannot be opened");
    if (dataset->GetRasterCount() == 0) throw Error("it has no bands");
    const bool has_fields = format_of(*dataset) == "GRIB";
    if (number_ == 0 && has_fields && options_.dimension.empty() && options_.time_pattern.empty() &&
        options_.time_item.empty()) {
      options_.time_item = "GRIB_VALID_TIME";
    }
    CubeInput all{*dataset, file, number_++, {}, {}};
    RasterBlocks blocks;
    try {
      blocks = find_raster_blocks(*dataset, has_checked_ ? BlockCheck::none : BlockCheck::first);
      all.blocks = &blocks;
      has_checked_ = true;
    } catch (const Error& problem) {
      if (!options_.leaves_others) throw;
      all.problem = problem.what();
    }
    for (auto& part : parts_) part.input.reset();
    std::vector<zarrcore::Buffer> products;
    if (has_fields) products = read_grib1_products(*dataset);
    for (int band = 1; band <= dataset->GetRasterCount(); ++band) {
      GribField field;
      if (has_fields) {
        const std::string name = "message " + std::to_string(band);
        field = zarrcore::with_context(name, [&] {
          const auto& product = products[static_cast<std::size_t>(band) - 1];
          return describe_grib_band(*dataset->GetRasterBand(band), product.span());
        });
      }
      Part& part = part_of(field);
      if (!part.input) part.input.emplace(all);
      part.input->bands.push_back(band);
      if (has_fields) part.input->fields.push_back(std::move(field));
    }
    for (auto& part : parts_) {
      if (!part.input) continue;
      with_element(part.field, [&] { part.builder->add(*part.input); });
    }
  }

  std::vector<std::shared_ptr<const Cube>> finish() {
    if (parts_.empty()) throw Error("there are no files");
    if (parts_.size() > 1 && !options_.array_name.empty()) {
      throw Error("the files have " + std::to_string(parts_.size()) +
                  " variables, which cannot have one name");
    }
    std::vector<std::shared_ptr<const Cube>> cubes;
    for (Part& part : parts_) {
      const auto cube = with_element(part.field, [&] { return part.builder->finish(); });
      cube->name = name_of(part.field);
      names_.insert(cube->name);
      cube->comment = part.field.comment;
      if (!part.field.words.empty()) cube->comment += ", " + part.field.words;
      if (!cube->axes.empty() && cube->axes[0].name == "level") {
        cube->axes[0].name = part.field.level_type;
      }
      cubes.push_back(cube);
    }
    return cubes;
  }

 private:
  struct Part {
    GribField field;
    std::unique_ptr<CubeBuilder> builder;
    std::optional<CubeInput> input = {};  // of the present file
  };

  Part& part_of(const GribField& field) {
    const auto found =
        std::ranges::find_if(parts_, [&](const Part& part) { return part.field.is_alike(field); });
    if (found != parts_.end()) return *found;
    parts_.push_back({field, std::make_unique<CubeBuilder>(options_)});
    return parts_.back();
  }

  // The element, with the type of its level and the kind of statistics if there are others; and a
  // number if that is not enough.
  std::string name_of(const GribField& field) const {
    if (!options_.array_name.empty()) return options_.array_name;
    if (field.element.empty()) return "data";
    const auto differs = [&](std::string GribField::* member) {
      return std::ranges::any_of(parts_, [&](const Part& part) {
        return part.field.element == field.element && part.field.*member != field.*member;
      });
    };
    std::string name = field.element;
    if (differs(&GribField::level_type)) name += '_' + field.level_type;
    if (!field.words.empty() && differs(&GribField::words)) name += '_' + field.words;
    std::erase_if(name, [](char c) { return c == ',' || c == ':'; });
    std::ranges::replace(name, ' ', '_');
    std::string free = name;
    for (int i = 2; names_.contains(free); ++i) free = name + '_' + std::to_string(i);
    return free;
  }

  CubeOptions options_;
  std::vector<Part> parts_;
  std::set<std::string> names_;
  std::size_t number_ = 0;  // of the next file
  bool has_checked_ = false;
};

}  // namespace

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
      if (!for_touched(source, grid, [&](std::uint64_t row, std::uint64_t column) {
            return visit(cube.index(source.step, band, row, column), std::nullopt);
          })) {
        return;
      }
    }
  }
}

std::unique_ptr<GDALDataset> make_cube(std::span<const std::string> files,
                                       const CubeOptions& options,
                                       const std::function<bool(double)>& progress) {
  Cubes cubes(options);
  for (std::size_t i = 0; i < files.size(); ++i) {
    zarrcore::with_context({files[i]}, [&] { cubes.add(files[i]); });
    if (!progress(static_cast<double>(i + 1) / static_cast<double>(files.size()))) {
      throw Error("stopped by the user");
    }
  }
  return make_cube_dataset(cubes.finish());
}

std::optional<ArrayBlocks> find_cube_blocks(const GDALMDArray& array) {
  const Cube* const cube = cube_of(array);
  if (cube == nullptr) return std::nullopt;
  if (cube->grid.block_rows == 0) throw Error("none of its files has blocks that can be chunks");
  return ArrayBlocks{cube->grid.layout(cube->rank()),
                     [cube](const ArrayBlocks::Visit& visit) { visit_cube(*cube, visit); }};
}

}  // namespace gdal_zarr
