// A chunk in another format, of which the driver reads headers before GDAL decodes it: they are
// read, or an error. The first byte chooses the format.
#include "autotest/fuzz/input.h"
#include "driver/codecs/grib_message.h"
#include "driver/codecs/image_headers.h"

namespace zarrcore::fuzz {
namespace {

constexpr std::uint64_t kManyPoints = 4096;

void check_grib(ByteSpan chunk) {
  const gdal_zarr::GribMessage message = gdal_zarr::parse_grib(chunk);
  const gdal_zarr::GribGrid& grid = message.grid;
  check(message.bytes.data() == chunk.data() && message.bytes.size() <= chunk.size(),
        "a message is a part of its chunk");
  if (grid.point_count() > kManyPoints) return;
  for (std::uint64_t i = 0; i < grid.point_count(); ++i) {
    const auto [column, row] = grid.steps(i);
    check(column < grid.columns && row < grid.rows, "a point is in the grid");
    message.is_missing(i);
  }
  if (message.ieee_size != 0) {
    succeeds([&] {
      check(gdal_zarr::ieee_values(message).size() == grid.point_count(), "each point has a value");
    });
  }
  if (message.scale) message.scale->exact(1);
  constexpr std::uint32_t kManyParallels = 64;  // whose latitudes take long
  if (grid.kind == gdal_zarr::GribGrid::Kind::projected || grid.parallels > kManyParallels) return;
  succeeds([&] {
    check(gdal_zarr::row_latitudes(grid).size() == grid.rows, "each row has a latitude");
  });
  const auto longitudes = gdal_zarr::column_longitudes(grid);
  check(longitudes.size() == grid.columns, "each column has a longitude");
  gdal_zarr::unrotated(grid, {0, longitudes.front()});
}

void check_jpeg(ByteSpan chunk) {
  const auto image = gdal_zarr::make_jpeg(chunk, {});
  const auto again = gdal_zarr::make_jpeg(image.bytes.span(), {});
  check(again.components == image.components && again.bytes.text() == image.bytes.text(),
        "a complete image does not change");
}

void check_lerc(ByteSpan chunk) {
  const auto image = gdal_zarr::read_lerc_header(chunk);
  check(gdal_zarr::make_tiff(chunk, image).size() > chunk.size(), "a TIFF contains its strip");
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  if (size == 0) return 0;
  const auto chunk = std::as_bytes(std::span(data, size)).subspan(1);
  succeeds([&] {
    switch (data[0]) {
      case 'g':
        return check_grib(chunk);
      case 'j':
        return check_jpeg(chunk);
      case 'l':
        return check_lerc(chunk);
      default:
        return gdal_zarr::check_gif(chunk, kManyPoints);
    }
  });
  return 0;
}
