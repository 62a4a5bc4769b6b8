// Mosaics and stacks: the blocks of the TIFF files of which a VRT consists.
#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// All of the source is shown, at its own resolution.
struct VrtSource : Placement {
  std::uint64_t band = 0;  // of the file, counted from 0
  bool is_copied = false;

  bool has_same_place(const VrtSource& other) const {
    return file == other.file && x == other.x && y == other.y && columns == other.columns &&
           rows == other.rows;
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

// A source of which only the place matters: all pixels that it touches.
VrtSource place_copied(const CPLXMLNode& element, GDALDataset& dataset) {
  VrtSource source;
  source.file = CPLGetXMLValue(&element, "SourceFilename", "a source");
  source.is_copied = true;
  const CPLXMLNode* to = CPLGetXMLNode(&element, "DstRect");
  const auto set = [&](const char* offset, const char* size, int all, std::uint64_t& start,
                       std::uint64_t& length) {
    const double from = to != nullptr ? CPLAtof(CPLGetXMLValue(to, offset, "0")) : 0;
    const double end = to != nullptr ? from + CPLAtof(CPLGetXMLValue(to, size, "0")) : all;
    const auto inside = [&](double value) {
      return static_cast<std::uint64_t>(value > 0 ? std::min<double>(value, all) : 0);
    };
    start = inside(std::floor(from));
    length = std::max(inside(std::ceil(end)), start) - start;
  };
  set("xOff", "xSize", dataset.GetRasterXSize(), source.x, source.columns);
  set("yOff", "ySize", dataset.GetRasterYSize(), source.y, source.rows);
  return source;
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

VrtBand read_band(const CPLXMLNode& element, const std::string& folder, GDALDataset& dataset,
                  bool copies_others) {
  const char* subclass = CPLGetXMLValue(&element, "subClass", "VRTRasterBand");
  if (!EQUAL(subclass, "VRTRasterBand")) {
    throw Error("a band of the VRT is computed (" + std::string(subclass) + ")");
  }
  const char* value = CPLGetXMLValue(&element, "NoDataValue", nullptr);
  const std::optional<std::string> nodata =
      value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  if (nodata && CPLAtof(value) != 0 &&
      CPLTestBool(CPLGetXMLValue(&element, "HideNoDataValue", "0"))) {
    throw Error("the VRT has a hidden nodata value, " + *nodata + ", where it has no source");
  }
  VrtBand band;
  for (const CPLXMLNode* child = element.psChild; child != nullptr; child = child->psNext) {
    if (child->eType != CXT_Element || !std::string_view(child->pszValue).ends_with("Source")) {
      continue;
    }
    const std::string_view kind = child->pszValue;
    try {
      if (kind != "SimpleSource" && kind != "ComplexSource") {
        throw Error("the VRT changes values (" + std::string(kind) + ")");
      }
      band.push_back(zarrcore::with_context(
          [&] { return std::string(CPLGetXMLValue(child, "SourceFilename", "a source")); },
          [&] { return read_source(*child, folder, nodata); }));
    } catch (const Error&) {
      if (!copies_others) throw;
      band.push_back(place_copied(*child, dataset));
    }
  }
  return band;
}

std::vector<VrtBand> read_vrt(GDALDataset& dataset, bool copies_others) {
  MetadataList xml = dataset.GetMetadata("xml:VRT");
  if (xml == nullptr || xml[0] == nullptr) throw Error("the VRT cannot be read");
  const CPLXMLTreeCloser tree(CPLParseXMLString(xml[0]));
  const CPLXMLNode* root = tree ? CPLGetXMLNode(tree.get(), "=VRTDataset") : nullptr;
  if (root == nullptr) throw Error("the VRT cannot be read");
  if (const char* subclass = CPLGetXMLValue(root, "subClass", nullptr)) {
    throw Error("the VRT is computed (" + std::string(subclass) + ")");
  }
  // GDAL finds the sources of a link from the folder of its target.
  std::string path = dataset.GetDescription();
  std::error_code error;
  if (const auto local = zarrcore::path_of_utf8(path); std::filesystem::is_symlink(local, error))
    path = zarrcore::utf8_of(std::filesystem::canonical(local, error));
  const std::string folder = CPLGetPath(path.c_str());
  std::vector<VrtBand> bands;
  for (const CPLXMLNode* child = root->psChild; child != nullptr; child = child->psNext) {
    if (child->eType == CXT_Element && EQUAL(child->pszValue, "VRTRasterBand")) {
      bands.push_back(read_band(*child, folder, dataset, copies_others));
    }
  }
  return bands;
}

// Puts the sources' blocks into the grid of the mosaic.
class Mosaic {
 public:
  Mosaic(GDALDataset& dataset, RasterBlocks mosaic, std::vector<VrtBand> bands, bool copies_others)
      : type_(dataset.GetRasterBand(1)->GetRasterDataType()),
        mosaic_(std::move(mosaic)),
        bands_(std::move(bands)),
        copies_others_(copies_others) {
    for (GDALRasterBand* band : dataset.GetBands()) {
      if (band->GetRasterDataType() != type_) {
        throw Error("the bands of the VRT have different data types");
      }
      missing_.push_back(missing_pixel(*band));
    }
    for (VrtBand& band : bands_) {
      std::vector<const Placement*> placed;
      for (VrtSource& source : band) {
        placed.push_back(&source);
        if (source.is_copied) continue;
        try {
          zarrcore::with_context({source.file}, [&] { check_alignment(source, mosaic_); });
        } catch (const Error&) {
          if (!copies_others_) throw;
          source.is_copied = true;
        }
      }
      // The VRT would show the last one.
      check_overlaps(placed);
    }
  }

  void visit(const VisitBlock& visit) const {
    const std::size_t band_count = mosaic_.is_by_pixel ? 1 : bands_.size();
    for (std::size_t band = 0; band < band_count; ++band) {
      std::set<std::pair<std::uint64_t, std::uint64_t>> copied;  // rows and columns of blocks
      for (const VrtSource& source : bands_[band]) {
        std::vector<RasterBlock> blocks;
        bool is_copied = source.is_copied;
        try {
          if (!is_copied) {
            blocks = zarrcore::with_context({source.file}, [&] { return find(source, band); });
          }
        } catch (const Error&) {
          if (!copies_others_) throw;
          is_copied = true;
        }
        if (is_copied) add_places(source, copied);
        for (RasterBlock& block : blocks) {
          block.band = band;
          block.row += source.y / mosaic_.block_rows;
          block.column += source.x / mosaic_.block_columns;
          if (!visit(std::move(block))) return;
        }
      }
      for (const auto& [row, column] : copied) {
        if (!visit(
                {.band = band, .row = row, .column = column, .reference = {}, .is_copied = true})) {
          return;
        }
      }
    }
  }

 private:
  // The blocks that a source touches.
  void add_places(const VrtSource& source,
                  std::set<std::pair<std::uint64_t, std::uint64_t>>& places) const {
    for_touched(source, mosaic_, [&](std::uint64_t row, std::uint64_t column) {
      if (places.size() == kMaxCopied) throw Error("too many of its blocks would be copied");
      places.emplace(row, column);
      return true;
    });
  }

  // The blocks of a source of a band, in the grid of its file.
  std::vector<RasterBlock> find(const VrtSource& source, std::size_t band) const {
    const std::unique_ptr<GDALDataset> file(
        GDALDataset::Open(source.file.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
    if (!file) throw Error("it cannot be opened");
    const RasterBlocks blocks = find_tiff_blocks(*file, BlockCheck::none);
    if (source.band >= blocks.bands || blocks.rows != source.rows ||
        blocks.columns != source.columns || file->GetRasterBand(1)->GetRasterDataType() != type_) {
      throw Error("it is not the raster that the VRT expects");
    }
    check_alike(blocks, mosaic_);
    std::vector<RasterBlock> found;
    blocks.visit([&](RasterBlock block) {
      if (mosaic_.is_by_pixel || block.band == source.band) found.push_back(std::move(block));
      return true;
    });
    if (found.size() == blocks.count_per_band()) return found;
    const std::size_t bands = mosaic_.is_by_pixel ? missing_.size() : 1;
    for (std::size_t i = 0; i < bands; ++i) {
      GDALRasterBand& of_file = *file->GetRasterBand(static_cast<int>(source.band + i) + 1);
      if (missing_pixel(of_file) != missing_[band + i]) {
        throw Error("its missing blocks have another value than those of the mosaic");
      }
    }
    return found;
  }

  static constexpr std::size_t kMaxCopied = 10'000'000;

  GDALDataType type_;
  std::vector<Pixel> missing_;  // of each band
  RasterBlocks mosaic_;
  std::vector<VrtBand> bands_;
  bool copies_others_;
};

}  // namespace

RasterBlocks find_vrt_blocks(GDALDataset& dataset, bool copies_others) {
  std::vector<VrtBand> bands = read_vrt(dataset, copies_others);
  if (bands.size() != static_cast<std::size_t>(dataset.GetRasterCount())) {
    throw Error("the VRT cannot be read");
  }
  const VrtSource* first_source = nullptr;
  for (const VrtBand& band : bands) {
    const auto found = std::ranges::find(band, false, &VrtSource::is_copied);
    if (first_source == nullptr && found != band.end()) first_source = &*found;
  }
  if (first_source == nullptr) throw Error("the VRT has no sources whose blocks can be chunks");
  const std::string first = first_source->file;
  const std::unique_ptr<GDALDataset> file(
      GDALDataset::Open(first.c_str(), GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR));
  if (!file) throw Error(first + " cannot be opened");
  RasterBlocks blocks = find_tiff_blocks(*file, BlockCheck::first);
  const bool shares_blocks = blocks.is_by_pixel;
  if (shares_blocks) {
    bool is_alike = blocks.bands == bands.size();
    for (std::size_t i = 0; is_alike && i < bands.size(); ++i) {
      is_alike = std::ranges::equal(bands[i], bands[0], [&](const auto& a, const auto& b) {
        return a.has_same_place(b) && a.is_copied == b.is_copied && (a.is_copied || a.band == i);
      });
    }
    if (!is_alike) {
      throw Error(first + ": its bands are interleaved by pixel, and the VRT has others");
    }
  }
  blocks.bands = bands.size();
  blocks.rows = static_cast<std::uint64_t>(dataset.GetRasterYSize());
  blocks.columns = static_cast<std::uint64_t>(dataset.GetRasterXSize());
  const auto mosaic =
      std::make_shared<const Mosaic>(dataset, blocks, std::move(bands), copies_others);
  blocks.visit = [mosaic](const VisitBlock& visit) { mosaic->visit(visit); };
  blocks.visit([&](const RasterBlock& block) {
    if (block.is_copied) return true;
    check_block(blocks, block, dataset, 1);
    return false;
  });
  return blocks;
}

}  // namespace gdal_zarr
