// The levels of a pyramid in the store. Each level is a group next to the arrays of the raster,
// "ovr_2x" for a half, "ovr_4x" for a quarter…, with arrays of the same names and their
// coordinates. The attribute `multiscales` of the parent group lists the levels
// (conventions/multiscales.h). Only X and Y shrink.
#pragma once

#include <gdal_proxy.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/conventions/position.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// The length of a dimension at a level.
std::uint64_t overview_length(std::uint64_t length, int factor);

// A level: its name has the factor, its size may differ from the raster's divided by it.
struct OverviewSize {
  int factor;
  std::uint64_t rows;
  std::uint64_t columns;
};

// The levels of the arrays of a view, which must outlive it. Members throw zarrcore::Error.
class OverviewLevels {
 public:
  // Throws where the arrays can have no levels.
  explicit OverviewLevels(const RasterView& view);

  // Creates a level: of a given size, or of the raster's size divided by the factor, rounded up.
  // Its arrays are empty, or those that exist with the same layout.
  RasterView make(const OverviewSize& size);
  RasterView make(int factor);
  // Returns true if make() would find the arrays of all these levels.
  bool exist(const std::set<int>& factors) const;
  // Removes the levels of the arrays of the view, and the groups of levels that are then empty: of
  // all sizes, or of those that the raster has at these factors.
  void remove_all();
  void remove(const std::set<int>& factors);
  // Lists the existing levels in the attribute `multiscales`, or removes it if no level exists.
  // `resampling` is the method by which the levels created by make() were filled.
  void describe(const std::string& resampling);

 private:
  OverviewSize size_at(int factor) const;
  // The position of the raster, determined once.
  const Position& position();
  std::shared_ptr<Array> make_array(const Array& fine, const std::string& group,
                                    const OverviewSize& size);
  std::string path_at(const std::string& asset, const Array& array) const;
  std::vector<std::string> names_at(const std::string& asset) const;
  std::string finest_asset(const std::vector<std::string>& assets) const;
  void remove_asset(const std::string& asset);
  bool has_other_nodes(const std::string& path) const;
  std::vector<CoarserLevel> coarser_levels(const std::vector<std::string>& assets,
                                           const std::string& resampling);

  const RasterView& view_;
  Session& session_;
  std::string group_;
  std::vector<std::string> assets_;  // of the coarser levels
  std::set<std::string> made_;       // of those, by make()
  std::optional<Position> position_;
};

// In pixels.
struct PixelWindow {
  int x;
  int y;
  int columns;
  int rows;
};

// A band of which a window exists: pixels outside of it are zeros when they are read, and are not
// written. GDAL computes whole levels of overviews; with such bands, only a part of a level is read
// and written, and all other pixels cost as little as copying zeros.
class WindowBand final : public GDALProxyRasterBand {
 public:
  // The band must outlive this one.
  WindowBand(GDALRasterBand& band, const PixelWindow& window);

  GDALRasterBand* GetMaskBand() override;

 protected:
  // One of them overrides GDAL's, which has a parameter in some versions.
  GDALRasterBand* RefUnderlyingRasterBand() const { return &band_; }                // NOLINT
  GDALRasterBand* RefUnderlyingRasterBand(bool /*opens*/) const { return &band_; }  // NOLINT
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* data,
                   int buffer_columns, int buffer_rows, GDALDataType type, GSpacing pixel_space,
                   GSpacing line_space, GDALRasterIOExtraArg* extra) override;

 private:
  GDALRasterBand& band_;
  PixelWindow window_;
  std::unique_ptr<WindowBand> mask_;
};

}  // namespace gdal_zarr
