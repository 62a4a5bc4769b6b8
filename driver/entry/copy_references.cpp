// Copies whose chunks are references to parts of other files: virtual stores, and Parquet files of
// the references in a JSON document.
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/entry/create.h"
#include "driver/gdal/messages.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/overview_levels.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/virtual_chunks.h"
#include "driver/stores/open_store.h"
#include "driver/stores/references/reference_store.h"
#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

using Arrays = std::vector<std::shared_ptr<Array>>;

constexpr const char* kPixelAdvice = "; VIRTUAL=AUTO copies such pixels";

// Throws unless the missing chunks of a band (counted from 0) read as its missing blocks.
void check_gaps(GDALDataset& source, const Array& array, std::uint64_t band) {
  GDALRasterBand& of_source = *source.GetRasterBand(static_cast<int>(band) + 1);
  const void* nodata = array.GetRawNoDataValue();
  const Pixel missing =
      nodata != nullptr ? make_pixel(nodata, array.GetDataType().GetNumericDataType()) : Pixel{};
  if (missing == missing_pixel(of_source)) return;
  throw Error("array " + array.GetFullName() + ": band " + std::to_string(band + 1) +
              " of the source lacks blocks, which read as a nodata value that the array has not" +
              kPixelAdvice);
}

// `copy` copies the pixels of a block that has no reference; it returns false after a CE_Failure.
bool put_raster_blocks(const RasterBlocks& blocks, GDALDataset& source, const Arrays& arrays,
                       const std::function<bool(const RasterBlock&)>& copy,
                       const std::function<bool(double)>& progress) {
  const auto array_of = [&](std::uint64_t band) -> Array& {
    return *arrays[arrays.size() > 1 ? band : 0];
  };
  std::vector<std::uint64_t> counts(blocks.is_by_pixel ? 1 : blocks.bands);
  const double total = static_cast<double>(blocks.rows) / static_cast<double>(blocks.block_rows) *
                       static_cast<double>(blocks.is_by_pixel ? 1 : blocks.bands);
  const bool is_shared = arrays.size() == 1 && arrays[0]->core().shape().size() == 3;
  bool continues = true;
  blocks.visit([&](RasterBlock block) {
    zarrcore::Shape index{block.row, block.column};
    if (blocks.is_by_pixel) {
      index.push_back(0);
    } else if (is_shared) {
      index.insert(index.begin(), block.band);
    }
    ++counts[block.band];
    if (block.is_copied) {
      if (!copy(block)) return continues = false;
    } else {
      array_of(block.band).put_block(index, std::move(block.reference));
    }
    const double before = static_cast<double>(block.band) * total /
                          static_cast<double>(std::max<std::uint64_t>(1, blocks.bands));
    if (block.column == 0) {
      const double done = (before + static_cast<double>(block.row)) / std::max(1.0, total);
      continues = progress(std::min(done, 1.0));
    }
    return continues;
  });
  for (std::uint64_t band = 0; continues && band < blocks.bands; ++band) {
    if (counts[blocks.is_by_pixel ? 0 : band] != blocks.count_per_band()) {
      check_gaps(source, array_of(band), band);
    }
  }
  return continues;
}

struct SourceLevel {
  int factor;
  RasterBlocks blocks;
};

// The overviews of the source that the copy can have.
std::vector<SourceLevel> find_levels(GDALDataset& source, const RasterBlocks& finest,
                                     bool leaves_others) {
  std::vector<SourceLevel> levels;
  const int count = source.GetRasterBand(1)->GetOverviewCount();
  for (int i = 0; i < count; ++i) {
    try {
      RasterBlocks blocks = find_tiff_overview(source, i);
      const auto length =
          finest.columns < finest.rows ? &RasterBlocks::rows : &RasterBlocks::columns;
      const int factor = static_cast<int>(
          std::lround(static_cast<double>(finest.*length) / static_cast<double>(blocks.*length)));
      const bool is_new = std::ranges::find(levels, factor, &SourceLevel::factor) == levels.end();
      if (factor < 2 || !is_new) {
        throw Error("overview " + std::to_string(i) + " is hardly smaller than the level before");
      }
      if (blocks.is_by_pixel != finest.is_by_pixel || blocks.bands != finest.bands) {
        throw Error("overview " + std::to_string(i) + " is interleaved in another way");
      }
      levels.push_back({factor, std::move(blocks)});
    } catch (const Error& problem) {
      if (!leaves_others) throw;
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: this overview is left out", problem.what());
    }
  }
  return levels;
}

void refer_to_overviews(const std::vector<SourceLevel>& levels, GDALDataset& source,
                        RasterDataset& destination) {
  if (levels.empty()) return;
  std::vector<OverviewSize> sizes;
  sizes.reserve(levels.size());
  for (const SourceLevel& level : levels) {
    sizes.push_back({level.factor, level.blocks.rows, level.blocks.columns});
  }
  destination.make_empty_overviews(sizes);
  for (const SourceLevel& level : levels) {
    Arrays arrays;
    for (const auto& array : destination.view().arrays()) {
      for (const auto& overview : array->overviews()) {
        const zarrcore::Shape& shape = overview->core().shape();
        const RasterView& view = destination.view();
        if (shape[view.y_axis().value_or(0)] == level.blocks.rows &&
            shape[view.x_axis().value_or(0)] == level.blocks.columns) {
          arrays.push_back(overview);
        }
      }
    }
    if (arrays.size() != destination.view().arrays().size()) {
      throw Error("the overviews of the copy differ from the source's");
    }
    for (const auto& array : arrays) {
      array->set_blocks(level.blocks.layout(array->core().shape().size()));
    }
    put_raster_blocks(level.blocks, source, arrays, {}, [](double /*done*/) { return true; });
  }
}

constexpr std::string_view kSourcePrefix = "ZARR_DUMMY:";

class ReferenceSource final : public GDALDataset {
 public:
  ReferenceSource() {
    nRasterXSize = 0;
    nRasterYSize = 0;
  }
};

// The path of the document of references that `dataset` was opened from.
std::string reference_document(GDALDataset& dataset) {
  const std::string name = dataset.GetDescription();
  if (const GDALDriver* driver = dataset.GetDriver();
      driver == nullptr || !EQUAL(driver->GetDescription(), "Zarr")) {
    throw Error(name + " is not a JSON document of Kerchunk references");
  }
  const bool is_source = is_reference_source(name.c_str());
  const std::string path =
      parse_connection_string(is_source ? name.substr(kSourcePrefix.size()) : name).store_path;
  if (has_reference_prefix(path)) {
    const ReferencePath parts = parse_reference_path(path);
    if (parts.kind != ReferenceKind::parquet) return parts.document;
  } else if (is_json_references(path)) {
    return path;
  }
  throw Error(path + " is not a JSON document of Kerchunk references");
}

}  // namespace

void check_is_not_virtual(CSLConstList options) {
  if (EQUAL(CSLFetchNameValueDef(options, "VIRTUAL", "NO"), "NO")) return;
  throw Error(
      "VIRTUAL is an option of copies, as by gdal_translate, to new stores of references "
      "and to Icechunk repositories");
}

RasterBlocks find_blocks(GDALDataset& source, bool is_in_repository, bool copies_others) {
  try {
    RasterBlocks blocks = find_raster_blocks(source, BlockCheck::first, copies_others);
    if (is_in_repository) {
      blocks.visit([](const RasterBlock& block) {
        const std::string& file = block.reference.target;
        if (!file.empty()) virtual_chunk_url(file);
        return file.empty();
      });
    }
    return blocks;
  } catch (const Error& problem) {
    throw Error(std::string(problem.what()) + kPixelAdvice);
  }
}

bool refer_to_blocks(const RasterBlocks& blocks, GDALDataset& source, RasterDataset& destination,
                     PartialProgress& progress) {
  const bool leaves_others = destination.view().array().session()->copies_blocks();
  // Overviews of a VRT are resampled by GDAL from its sources' overviews: they have no blocks.
  const auto levels = format_of(source) == "GTiff" ? find_levels(source, blocks, leaves_others)
                                                   : std::vector<SourceLevel>();
  zarrcore::Buffer buffer;
  const auto copy = [&](const RasterBlock& block) {
    const zarrcore::Shape start{block.band, block.row * blocks.block_rows,
                                block.column * blocks.block_columns};
    const zarrcore::Box window{
        start,
        {blocks.is_by_pixel ? blocks.bands : 1, std::min(blocks.block_rows, blocks.rows - start[1]),
         std::min(blocks.block_columns, blocks.columns - start[2])}};
    if (!destination.view().array().core().can_encode()) {
      throw Error("the codecs of its blocks cannot encode others");
    }
    return copy_window(source, destination, window,
                       source.GetRasterBand(static_cast<int>(block.band) + 1)->GetRasterDataType(),
                       buffer);
  };
  if (!put_raster_blocks(blocks, source, destination.view().arrays(), copy, std::ref(progress))) {
    if (progress.is_stopped()) report_stop(destination.GetDescription());
    return false;
  }
  refer_to_overviews(levels, source, destination);
  return true;
}

bool is_reference_source(const char* name) {
  return STARTS_WITH(name, kSourcePrefix.data());
}

GDALDataset* open_reference_source() {
  return new ReferenceSource;
}

bool copies_references(CSLConstList options) {
  return CPLFetchBool(options, "CONVERT_TO_KERCHUNK_PARQUET_REFERENCE", false);
}

void check_copies_no_references(CSLConstList options) {
  if (!copies_references(options)) return;
  throw Error("CONVERT_TO_KERCHUNK_PARQUET_REFERENCE is an option of copies, as by gdal_translate");
}

GDALDataset* copy_references(const char* name, GDALDataset& source, CSLConstList options,
                             GDALProgressFunc progress, void* progress_data) {
  warn_of_unused_options(options, kAllOptions);
  const std::string folder = new_store_path(name, CreationOptions(options, kAllOptions));
  const std::string document = reference_document(source);
  check_can_be_created(folder, "references are not added to it");
  PartialProgress report_progress(0.0, 1.0, progress, progress_data);
  if (!convert_references(document, folder, std::ref(report_progress))) return nullptr;
  const unsigned kind = source.GetRootGroup() != nullptr ? GDAL_OF_MULTIDIM_RASTER : GDAL_OF_RASTER;
  return GDALDataset::Open(folder.c_str(), kind | GDAL_OF_VERBOSE_ERROR);
}

}  // namespace gdal_zarr
