#include "driver/virtual/vrt_blocks.h"

#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/virtual/mosaic.h"
#include "driver/virtual/tiff_blocks.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

struct CloseXml {
  void operator()(CPLXMLNode* node) const { CPLDestroyXMLNode(node); }
};

// All of the source is shown, at its own resolution.
struct VrtSource : Placement {
  std::uint64_t band = 0;  // of the file, counted from 0

  bool has_same_place(const VrtSource& other) const {
    return file == other.file && x == other.x && y == other.y;
  }
};

using VrtBand = std::vector<VrtSource>;

std::uint64_t whole_number(const CPLXMLNode& rectangle, const char* name) {
  const double value = CPLAtof(CPLGetXMLValue(&rectangle, name, "-1"));
  if (value < 0 || value > INT32_MAX || value != std::floor(value)) {
    throw Error("the source is not placed on whole pixels");
  }
  return static_cast<std::uint64_t>(value);
}

// Throws for elements that change values.
void check_elements(const CPLXMLNode& source, const std::optional<std::string>& nodata) {
  for (const CPLXMLNode* child = source.psChild; child != nullptr; child = child->psNext) {
    if (child->eType != CXT_Element) continue;
    const std::string_view name = child->pszValue;
    if (name == "SourceFilename" || name == "SourceBand" || name == "SourceProperties" ||
        name == "SrcRect" || name == "DstRect") {
      continue;
    }
    const double value = CPLAtof(CPLGetXMLValue(child, nullptr, ""));
    const double shown = nodata ? CPLAtof(nodata->c_str()) : 0;
    const bool keeps_values =
        name == "NODATA" && nodata && (value == shown || (std::isnan(value) && std::isnan(shown)));
    if (!keeps_values) throw Error("the VRT changes values (" + std::string(name) + ")");
  }
}

VrtSource read_source(const CPLXMLNode& element, const std::string& folder,
                      const std::optional<std::string>& nodata) {
  check_elements(element, nodata);
  VrtSource source;
  const CPLXMLNode* name = CPLGetXMLNode(&element, "SourceFilename");
  source.file = CPLGetXMLValue(name, nullptr, "");
  if (CPLTestBool(CPLGetXMLValue(name, "relativeToVRT", "0"))) {
    source.file = CPLProjectRelativeFilename(folder.c_str(), source.file.c_str());
  }
  const std::string band = CPLGetXMLValue(&element, "SourceBand", "1");
  const int number = std::atoi(band.c_str());
  if (number < 1) throw Error("the source is the band \"" + band + '"');
  source.band = static_cast<std::uint64_t>(number) - 1;
  const CPLXMLNode* from = CPLGetXMLNode(&element, "SrcRect");
  const CPLXMLNode* to = CPLGetXMLNode(&element, "DstRect");
  if (from == nullptr || to == nullptr) throw Error("the source has no place");
  source.x = whole_number(*to, "xOff");
  source.y = whole_number(*to, "yOff");
  source.columns = whole_number(*to, "xSize");
  source.rows = whole_number(*to, "ySize");
  const bool is_whole = whole_number(*from, "xOff") == 0 && whole_number(*from, "yOff") == 0 &&
                        whole_number(*from, "xSize") == source.columns &&
                        whole_number(*from, "ySize") == source.rows;
  if (!is_whole) throw Error("the source is cut or resampled");
  return source;
}

VrtBand read_band(const CPLXMLNode& element, const std::string& folder) {
  const char* subclass = CPLGetXMLValue(&element, "subClass", "VRTRasterBand");
  if (!EQUAL(subclass, "VRTRasterBand")) {
    throw Error("a band of the VRT is computed (" + std::string(subclass) + ")");
  }
  const char* value = CPLGetXMLValue(&element, "NoDataValue", nullptr);
  const std::optional<std::string> nodata =
      value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  VrtBand band;
  for (const CPLXMLNode* child = element.psChild; child != nullptr; child = child->psNext) {
    if (child->eType != CXT_Element || !std::string_view(child->pszValue).ends_with("Source")) {
      continue;
    }
    const std::string_view kind = child->pszValue;
    if (kind != "SimpleSource" && kind != "ComplexSource") {
      throw Error("the VRT changes values (" + std::string(kind) + ")");
    }
    band.push_back(zarrcore::with_context(
        [&] { return std::string(CPLGetXMLValue(child, "SourceFilename", "a source")); },
        [&] { return read_source(*child, folder, nodata); }));
  }
  return band;
}

std::vector<VrtBand> read_vrt(GDALDataset& dataset) {
  MetadataList xml = dataset.GetMetadata("xml:VRT");
  if (xml == nullptr || xml[0] == nullptr) throw Error("the VRT cannot be read");
  const std::unique_ptr<CPLXMLNode, CloseXml> tree(CPLParseXMLString(xml[0]));
  const CPLXMLNode* root = tree ? CPLGetXMLNode(tree.get(), "=VRTDataset") : nullptr;
  if (root == nullptr) throw Error("the VRT cannot be read");
  if (const char* subclass = CPLGetXMLValue(root, "subClass", nullptr)) {
    throw Error("the VRT is computed (" + std::string(subclass) + ")");
  }
  const std::string folder = CPLGetPath(dataset.GetDescription());
  std::vector<VrtBand> bands;
  for (const CPLXMLNode* child = root->psChild; child != nullptr; child = child->psNext) {
    if (child->eType == CXT_Element && EQUAL(child->pszValue, "VRTRasterBand")) {
      bands.push_back(read_band(*child, folder));
    }
  }
  return bands;
}

// Puts the sources' blocks into the grid of the mosaic.
class Mosaic {
 public:
  Mosaic(GDALDataset& dataset, RasterBlocks mosaic, std::vector<VrtBand> bands)
      : type_(dataset.GetRasterBand(1)->GetRasterDataType()),
        mosaic_(std::move(mosaic)),
        layout_(mosaic_.layout(mosaic_.is_by_pixel ? 3 : 2)),
        bands_(std::move(bands)) {
    for (GDALRasterBand* band : dataset.GetBands()) {
      if (band->GetRasterDataType() != type_) {
        throw Error("the bands of the VRT have different data types");
      }
      missing_.push_back(missing_pixel(*band));
    }
    for (const VrtBand& band : bands_) {
      std::vector<const Placement*> placed;
      for (const VrtSource& source : band) {
        zarrcore::with_context({source.file}, [&] { check_alignment(source, mosaic_); });
        placed.push_back(&source);
      }
      // The VRT would show the last one.
      check_overlaps(placed);
    }
  }

  void visit(const VisitBlock& visit) const {
    const std::size_t band_count = mosaic_.is_by_pixel ? 1 : bands_.size();
    for (std::size_t band = 0; band < band_count; ++band) {
      for (const VrtSource& source : bands_[band]) {
        const auto take = [&](RasterBlock block) {
          if (!mosaic_.is_by_pixel && block.band != source.band) return true;
          block.band = band;
          block.row += source.y / mosaic_.block_rows;
          block.column += source.x / mosaic_.block_columns;
          return visit(std::move(block));
        };
        const bool goes_on =
            zarrcore::with_context({source.file}, [&] { return visit_source(source, band, take); });
        if (!goes_on) return;
      }
    }
  }

 private:
  // The source of a band. Returns false if `visit` stops.
  bool visit_source(const VrtSource& source, std::size_t band, const VisitBlock& visit) const {
    const std::unique_ptr<GDALDataset> file(
        GDALDataset::Open(source.file.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
    if (!file) throw Error("it cannot be opened");
    const RasterBlocks blocks = find_tiff_blocks(*file, BlockCheck::none);
    if (source.band >= blocks.bands || blocks.rows != source.rows ||
        blocks.columns != source.columns || file->GetRasterBand(1)->GetRasterDataType() != type_) {
      throw Error("it is not the raster that the VRT expects");
    }
    const bool is_alike = blocks.is_by_pixel == mosaic_.is_by_pixel &&
                          (!blocks.is_by_pixel || blocks.bands == mosaic_.bands) &&
                          blocks.layout(blocks.is_by_pixel ? 3 : 2) == layout_;
    if (!is_alike) throw Error("its blocks have another shape or encoding than those of the first");
    std::uint64_t count = 0;
    bool goes_on = true;
    blocks.visit([&](RasterBlock block) {
      count += mosaic_.is_by_pixel || block.band == source.band ? 1 : 0;
      goes_on = visit(std::move(block));
      return goes_on;
    });
    if (!goes_on || count == blocks.count_per_band()) return goes_on;
    const std::size_t bands = mosaic_.is_by_pixel ? missing_.size() : 1;
    for (std::size_t i = 0; i < bands; ++i) {
      GDALRasterBand& of_file = *file->GetRasterBand(static_cast<int>(source.band + i) + 1);
      if (missing_pixel(of_file) != missing_[band + i]) {
        throw Error("its missing blocks have another value than those of the mosaic");
      }
    }
    return goes_on;
  }

  GDALDataType type_;
  std::vector<Pixel> missing_;  // of each band
  RasterBlocks mosaic_;
  BlockLayout layout_;
  std::vector<VrtBand> bands_;
};

}  // namespace

bool is_vrt(GDALDataset& dataset) {
  const GDALDriver* driver = dataset.GetDriver();
  return driver != nullptr && EQUAL(driver->GetDescription(), "VRT");
}

RasterBlocks find_vrt_blocks(GDALDataset& dataset) {
  std::vector<VrtBand> bands = read_vrt(dataset);
  if (bands.size() != static_cast<std::size_t>(dataset.GetRasterCount())) {
    throw Error("the VRT cannot be read");
  }
  const auto with_sources =
      std::ranges::find_if(bands, [](const auto& band) { return !band.empty(); });
  if (with_sources == bands.end()) throw Error("the VRT has no sources");
  const std::string& first = with_sources->front().file;
  const std::unique_ptr<GDALDataset> file(
      GDALDataset::Open(first.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
  if (!file) throw Error(first + " cannot be opened");
  RasterBlocks blocks = find_tiff_blocks(*file, BlockCheck::first);
  const bool shares_blocks = blocks.is_by_pixel;
  if (shares_blocks) {
    bool is_alike = blocks.bands == bands.size();
    for (std::size_t i = 0; is_alike && i < bands.size(); ++i) {
      is_alike = std::ranges::equal(bands[i], bands[0], [&](const auto& a, const auto& b) {
        return a.has_same_place(b) && a.band == i;
      });
    }
    if (!is_alike) {
      throw Error(first + ": its bands are interleaved by pixel, and the VRT has others");
    }
  }
  blocks.bands = bands.size();
  blocks.rows = static_cast<std::uint64_t>(dataset.GetRasterYSize());
  blocks.columns = static_cast<std::uint64_t>(dataset.GetRasterXSize());
  const auto mosaic = std::make_shared<const Mosaic>(dataset, blocks, std::move(bands));
  blocks.visit = [mosaic](const VisitBlock& visit) { mosaic->visit(visit); };
  blocks.visit([&](const RasterBlock& block) {
    check_block(blocks, block, dataset, 1);
    return false;
  });
  return blocks;
}

}  // namespace gdal_zarr
