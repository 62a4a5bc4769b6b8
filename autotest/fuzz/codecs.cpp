// A chunk in another format, of which the driver reads headers before GDAL decodes it, or a file in
// which it finds values of a store: they are read, or an error. The first byte chooses the format.
#include <gdal_priv.h>

#include "autotest/fuzz/gdal_checks.h"
#include "autotest/fuzz/input.h"
#include "driver/codecs/grib_message.h"
#include "driver/codecs/image_files.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zip_archive.h"
#include "driver/virtual/raster_blocks.h"

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
  const auto image = gdal_zarr::make_jpeg_file(chunk, Json::object(), {});
  const auto again = gdal_zarr::make_jpeg_file(image.bytes.span(), Json::object(), {});
  check(again.has_four_colors == image.has_four_colors && again.bytes.text() == image.bytes.text(),
        "a complete image does not change");
}

void check_gif(ByteSpan chunk) {
  const ChunkSpec spec{{kManyPoints}, DataType(), {std::byte{0}}};
  check(gdal_zarr::make_gif_file(chunk, Json::object(), spec).bytes.size() == chunk.size(),
        "the file of a GIF is its chunk");
}

void check_lerc(ByteSpan chunk) {
  const auto image = gdal_zarr::read_lerc_header(chunk);
  check(gdal_zarr::make_tiff(chunk, image).size() > chunk.size(), "a TIFF contains its strip");
}

// The file in memory that an input is.
class InputFile {
 public:
  InputFile(const char* name, ByteSpan content) : folder_("files"), path_(folder_.path() + name) {
    prepare_gdal();
    folder_.add(name + 1, {reinterpret_cast<const char*>(content.data()), content.size()});
  }
  const std::string& path() const { return path_; }

 private:
  MemoryFolder folder_;
  std::string path_;
};

void check_archive(ByteSpan content) {
  constexpr std::uint64_t kMaxValue = 1 << 20;
  const InputFile archive("/a.zip", content);
  succeeds([&] {
    const gdal_zarr::File file = gdal_zarr::open_file(archive.path());
    for (const auto& record : gdal_zarr::read_zip_directory(file.get()).records) {
      succeeds([&] {
        check(gdal_zarr::read_zip_entry(file.get(), record, kMaxValue).size() <= kMaxValue,
              "a value is not larger than its limit");
      });
    }
  });
  check_multidimensional(archive.path());
}

void check_database(ByteSpan content) {
  const InputFile database("/a.sqlite", content);
  check_raster(database.path());
  check_multidimensional(database.path());
}

void check_tiff(ByteSpan content) {
  const InputFile image("/a.tif", content);
  const std::unique_ptr<GDALDataset> dataset(GDALDataset::Open(image.path().c_str()));
  if (dataset == nullptr) return;
  const auto blocks = gdal_zarr::find_tiff_blocks(*dataset);
  std::uint64_t visited = 0;
  blocks.visit([&](const gdal_zarr::RasterBlock& block) {
    check(block.row * blocks.block_rows < blocks.rows &&
              block.column * blocks.block_columns < blocks.columns && block.band < blocks.bands,
          "a block is in the raster");
    const std::uint64_t length = block.reference.length.value_or(0);
    check(block.reference.offset <= content.size() &&
              length <= content.size() - block.reference.offset,
          "a block is in the file");
    return ++visited < kManyPoints;
  });
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
      case 's':
        return check_database(chunk);
      case 't':
        return check_tiff(chunk);
      case 'z':
        return check_archive(chunk);
      default:
        return check_gif(chunk);
    }
  });
  return 0;
}
