#include "driver/virtual/grib_blocks.h"

#include <cpl_string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/codecs/grib_message.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Endian;
using zarrcore::Error;

// Where the next message begins; nullopt at the end.
std::optional<std::uint64_t> find_message(VSILFILE* file, std::uint64_t from, std::uint64_t size) {
  constexpr std::uint64_t kStep = 64 << 10;
  constexpr std::uint64_t kMark = 4;
  while (from + kMark <= size) {
    const Buffer bytes = read_bytes(file, from, std::min(kStep, size - from));
    const auto found = bytes.text().find("GRIB");
    if (found != std::string_view::npos) return from + found;
    from += bytes.size() - kMark + 1;
  }
  return std::nullopt;
}

constexpr std::uint64_t kHeader = 16;

// The messages, by their lengths. Throws Error if they are not the bands.
std::vector<ByteRange> find_messages(VSILFILE* file, std::uint64_t bands) {
  const std::uint64_t size = file_size(file);
  std::vector<ByteRange> messages;
  for (std::uint64_t at = 0; const auto start = find_message(file, at, size);) {
    const std::string name = "message " + std::to_string(messages.size() + 1);
    zarrcore::with_context(name, [&] {
      zarrcore::resolve_range(ByteRange::at(*start, kHeader), size);
      const Buffer header = read_bytes(file, *start, kHeader);
      const auto edition = std::to_integer<unsigned>(header.data()[7]);
      if (edition != 1 && edition != 2) {
        throw Error("it is of the unknown edition " + std::to_string(edition));
      }
      const std::uint64_t length =
          edition == 2 ? zarrcore::load_integer<std::uint64_t>(header.data() + 8, Endian::big)
                       : zarrcore::load_integer<std::uint32_t>(header.data() + 4, Endian::big) >> 8;
      const ByteRange message = ByteRange::at(*start, length);
      zarrcore::resolve_range(message, size);
      if (length < kHeader) throw Error("its length is not valid");
      messages.push_back(message);
      at = *start + length;
    });
  }
  if (messages.size() != bands) {
    throw Error("it has " + std::to_string(messages.size()) + " messages and " +
                std::to_string(bands) + " bands: messages with several fields cannot be chunks");
  }
  return messages;
}

// Calls the function with the file, and the messages in it.
template <typename Function>
auto with_messages(GDALDataset& dataset, const Function& function) {
  const CPLStringList files(dataset.GetFileList());
  const std::string path = files.empty() ? dataset.GetDescription() : files[0];
  return zarrcore::with_context({path}, [&] {
    const File file = open_file(path);
    if (!file) throw Error("the file does not exist");
    const auto bands = static_cast<std::uint64_t>(dataset.GetRasterCount());
    return function(path, file.get(), find_messages(file.get(), bands));
  });
}

// GDAL shows rows from the north. kerchunk's codec gives values in the order of the message;
// gribberish can turn them.
void set_codec(std::uint8_t scanning, RasterBlocks& blocks) {
  constexpr std::uint8_t kFromSouth = 0x40;
  if (scanning != 0 && scanning != kFromSouth) {
    throw Error("its points do not run from west to east, row after row");
  }
  blocks.codecs = {{"bytes", {{"endian", "little"}}},
                   {"numcodecs.grib", {{"var", "values"}, {"dtype", "float64"}}}};
  if (scanning == kFromSouth) {
    blocks.codecs.back() = {"numcodecs.gribberish", {{"var", "values"}, {"north_up", true}}};
  }
}

GribGrid grid_of(const Buffer& bytes, const RasterBlocks& blocks) {
  const GribMessage message = parse_grib(bytes.span());
  if (message.grid.columns != blocks.columns || message.grid.rows != blocks.rows) {
    throw Error("its grid has another size than that of the first message");
  }
  return message.grid;
}

}  // namespace

bool is_grib(GDALDataset& dataset) {
  const GDALDriver* driver = dataset.GetDriver();
  return driver != nullptr && EQUAL(driver->GetDescription(), "GRIB");
}

std::vector<Buffer> read_grib1_products(GDALDataset& dataset) {
  std::vector<Buffer> products(static_cast<std::size_t>(dataset.GetRasterCount()));
  bool has_first_edition = false;
  for (int band = 1; band <= dataset.GetRasterCount(); ++band) {
    has_first_edition |= dataset.GetRasterBand(band)->GetMetadataItem("GRIB_PDS_PDTN") == nullptr;
  }
  if (!has_first_edition) return products;
  with_messages(dataset, [&](const auto& /*path*/, VSILFILE* file, const auto& messages) {
    constexpr std::uint64_t kStart = 8;
    constexpr std::uint64_t kSize = 51;  // all that is looked at
    for (std::size_t i = 0; i < products.size(); ++i) {
      const ByteRange& message = messages[i];
      const Buffer bytes =
          read_bytes(file, message.offset, std::min(kStart + kSize, message.length));
      if (bytes.data()[7] == std::byte{1}) {
        products[i] = Buffer::copy_of(bytes.span().subspan(kStart));
      }
    }
  });
  return products;
}

RasterBlocks find_grib_blocks(GDALDataset& dataset, BlockCheck check) {
  RasterBlocks blocks;
  blocks.bands = static_cast<std::uint64_t>(dataset.GetRasterCount());
  blocks.rows = blocks.block_rows = static_cast<std::uint64_t>(dataset.GetRasterYSize());
  blocks.columns = blocks.block_columns = static_cast<std::uint64_t>(dataset.GetRasterXSize());
  blocks.data_type = {zarrcore::TypeKind::floating, 8};
  blocks.has_nan_for_nodata = true;
  std::string path;
  const auto messages = with_messages(
      dataset, [&](const auto& name_of_file, VSILFILE* file, std::vector<ByteRange> found) {
        path = name_of_file;
        std::uint8_t scanning = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::string name = "message " + std::to_string(i + 1);
          zarrcore::with_context(name, [&] {
            const auto grid = grid_of(read_bytes(file, found[i].offset, found[i].length), blocks);
            if (i > 0 && grid.scanning != scanning) throw Error("its points have another order");
            scanning = grid.scanning;
          });
        }
        set_codec(scanning, blocks);
        return std::make_shared<const std::vector<ByteRange>>(std::move(found));
      });
  blocks.visit = [path, messages](const VisitBlock& visit) {
    for (std::size_t i = 0; i < messages->size(); ++i) {
      RasterBlock block{i, 0, 0, {}};
      block.reference.target = path;
      block.reference.is_path = true;
      block.reference.offset = (*messages)[i].offset;
      block.reference.length = (*messages)[i].length;
      if (!visit(std::move(block))) return;
    }
  };
  const auto is_off = [](const char* option) {
    return !CPLTestBool(CPLGetConfigOption(option, "YES"));
  };
  const bool checks_all = check == BlockCheck::first || !is_off("GRIB_NORMALIZE_UNITS") ||
                          !is_off("GRIB_ADJUST_LONGITUDE_RANGE");
  try {
    blocks.visit([&](const RasterBlock& block) {
      check_block(blocks, block, dataset, 1);
      return checks_all;
    });
  } catch (const Error& problem) {
    throw Error(path + ": " + problem.what() +
                ", unless the configuration option GRIB_NORMALIZE_UNITS is NO");
  }
  return blocks;
}

}  // namespace gdal_zarr
