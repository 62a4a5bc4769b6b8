#include "driver/virtual/mosaic.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;

void check_alignment(const Placement& source, const RasterBlocks& mosaic) {
  const auto fits = [](std::uint64_t start, std::uint64_t length, std::uint64_t block,
                       std::uint64_t all) {
    return start % block == 0 && length <= all && start <= all - length &&
           ((start + length) % block == 0 || start + length == all);
  };
  if (!fits(source.x, source.columns, mosaic.block_columns, mosaic.columns) ||
      !fits(source.y, source.rows, mosaic.block_rows, mosaic.rows)) {
    throw Error("its blocks are not aligned with those of the mosaic");
  }
}

void check_alike(const RasterBlocks& blocks, const RasterBlocks& mosaic) {
  const std::size_t rank = mosaic.is_by_pixel ? 3 : 2;
  if (blocks.is_by_pixel != mosaic.is_by_pixel || !(blocks.layout(rank) == mosaic.layout(rank))) {
    throw Error("its blocks have another shape or encoding than those of the first");
  }
}

// Goes down the rows with the sources that cross the present one.
void check_overlaps(std::span<const Placement* const> placed) {
  std::vector<const Placement*> sources(placed.begin(), placed.end());
  std::ranges::sort(sources, {}, &Placement::y);
  std::map<std::uint64_t, const Placement*> crossing;  // by their first column
  std::multimap<std::uint64_t, std::uint64_t> ends;    // first columns by the row after the last
  for (const Placement* source : sources) {
    while (!ends.empty() && ends.begin()->first <= source->y) {
      crossing.erase(ends.begin()->second);
      ends.erase(ends.begin());
    }
    const auto next = crossing.lower_bound(source->x);
    const bool overlaps = (next != crossing.end() && next->first < source->x + source->columns) ||
                          (next != crossing.begin() &&
                           std::prev(next)->first + std::prev(next)->second->columns > source->x);
    if (overlaps) throw Error(source->file + ": it overlaps another source");
    crossing.emplace_hint(next, source->x, source);
    ends.emplace(source->y + source->rows, source->x);
  }
}

}  // namespace gdal_zarr
