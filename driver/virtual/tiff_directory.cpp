#include "driver/virtual/tiff_directory.h"

#include <algorithm>
#include <map>

#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ceil_divide;
using zarrcore::Endian;
using zarrcore::Error;

enum TiffTag : std::uint16_t {
  kImageWidth = 256,
  kImageLength = 257,
  kBitsPerSample = 258,
  kCompression = 259,
  kPhotometric = 262,
  kFillOrder = 266,
  kStripOffsets = 273,
  kSamplesPerPixel = 277,
  kRowsPerStrip = 278,
  kStripByteCounts = 279,
  kPlanarConfiguration = 284,
  kPredictor = 317,
  kTileWidth = 322,
  kTileLength = 323,
  kTileOffsets = 324,
  kTileByteCounts = 325,
  kSampleFormat = 339,
  kJpegTables = 347,
};

// Of the values of a field, by the number of its type; 0 for unknown types.
std::uint64_t type_size(std::uint16_t type) {
  constexpr std::uint8_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

bool is_unsigned(std::uint16_t type) {
  return type == 1 || type == 3 || type == 4 || type == 13 || type == 16 || type == 18;
}

class DirectoryReader {
 public:
  explicit DirectoryReader(const std::string& path) : file_(open_file(path)) {
    if (!file_) throw Error("the file does not exist");
    size_ = file_size(file_.get());
    const Buffer header = bytes(0, 8);
    const std::string_view order = header.text().substr(0, 2);
    if (order != "II" && order != "MM") throw Error("it is not a TIFF");
    endian_ = order == "MM" ? Endian::big : Endian::little;
    const auto version = zarrcore::load_integer<std::uint16_t>(header.data() + 2, endian_);
    if (version != 42 && version != 43) throw Error("it is not a TIFF");
    is_big_ = version == 43;
  }

  void read_fields(std::uint64_t offset) {
    const std::uint64_t count = number(bytes(offset, is_big_ ? 8 : 2), 0, is_big_ ? 8 : 2);
    const std::uint64_t entry_size = is_big_ ? 20 : 12;
    constexpr std::uint64_t kMaxFields = 65535;
    if (count > kMaxFields) throw Error("a directory has " + std::to_string(count) + " fields");
    const Buffer entries = bytes(offset + (is_big_ ? 8 : 2), count * entry_size);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = i * entry_size;
      Field field;
      field.type = static_cast<std::uint16_t>(number(entries, at + 2, 2));
      field.count = number(entries, at + 4, is_big_ ? 8 : 4);
      field.place =
          Buffer::copy_of(entries.span().subspan(at + (is_big_ ? 12 : 8)).first(is_big_ ? 8 : 4));
      fields_.emplace(static_cast<std::uint16_t>(number(entries, at, 2)), std::move(field));
    }
  }

  bool has(TiffTag tag) const { return fields_.contains(tag); }

  // The bytes of a field, which has at most `most` values; empty if there is none.
  Buffer content(TiffTag tag, std::uint64_t most = UINT16_MAX) const {
    const auto found = fields_.find(tag);
    if (found == fields_.end()) return {};
    const Field& field = found->second;
    const auto size = zarrcore::checked_multiply(field.count, type_size(field.type));
    if (!size || *size > size_ || field.count > most) throw invalid(tag);
    if (*size <= field.place.size()) return Buffer::copy_of(field.place.span().first(*size));
    return bytes(number(field.place, 0, is_big_ ? 8 : 4), *size);
  }

  std::vector<std::uint64_t> numbers(TiffTag tag, std::uint64_t most = UINT16_MAX) const {
    const auto found = fields_.find(tag);
    if (found == fields_.end()) return {};
    if (!is_unsigned(found->second.type)) throw invalid(tag);
    const std::uint64_t size = type_size(found->second.type);
    const Buffer all = content(tag, most);
    std::vector<std::uint64_t> result(all.size() / size);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = number(all, i * size, size);
    return result;
  }

  // The number that all values of a field are.
  std::uint64_t number_of(TiffTag tag, std::uint64_t fallback) const {
    const std::vector<std::uint64_t> all = numbers(tag);
    if (all.empty()) return fallback;
    if (std::ranges::any_of(all, [&](std::uint64_t one) { return one != all.front(); })) {
      throw Error("the samples have different formats (field " + std::to_string(tag) + ")");
    }
    return all.front();
  }

  std::uint64_t size() const { return size_; }
  Endian endian() const { return endian_; }

 private:
  struct Field {
    std::uint16_t type = 0;
    std::uint64_t count = 0;
    Buffer place;  // the values, or where they are
  };

  static Error invalid(TiffTag tag) {
    return Error("the field " + std::to_string(tag) + " of a directory is not valid");
  }

  Buffer bytes(std::uint64_t offset, std::uint64_t length) const {
    zarrcore::resolve_range(zarrcore::ByteRange::at(offset, length), size_);
    return read_bytes(file_.get(), offset, length);
  }

  std::uint64_t number(const Buffer& buffer, std::uint64_t at, std::uint64_t size) const {
    const std::byte* from = buffer.data() + at;
    switch (size) {
      case 1:
        return std::to_integer<std::uint64_t>(*from);
      case 2:
        return zarrcore::load_integer<std::uint16_t>(from, endian_);
      case 4:
        return zarrcore::load_integer<std::uint32_t>(from, endian_);
      default:
        return zarrcore::load_integer<std::uint64_t>(from, endian_);
    }
  }

  File file_;
  std::uint64_t size_ = 0;
  Endian endian_ = Endian::little;
  bool is_big_ = false;
  std::map<std::uint16_t, Field> fields_;
};

void set_blocks(const DirectoryReader& reader, TiffDirectory& directory) {
  directory.is_tiled = reader.has(kTileWidth);
  if (directory.is_tiled) {
    directory.block_columns = reader.number_of(kTileWidth, 0);
    directory.block_rows = reader.number_of(kTileLength, 0);
  } else {
    directory.block_columns = directory.columns;
    directory.block_rows = std::min(directory.rows, reader.number_of(kRowsPerStrip, UINT32_MAX));
  }
  constexpr std::uint64_t kMaxLength = INT32_MAX;
  for (const std::uint64_t length :
       {directory.columns, directory.rows, directory.block_columns, directory.block_rows}) {
    if (length == 0 || length > kMaxLength) throw Error("the size of the image is not valid");
  }
  const auto count = zarrcore::checked_multiply(directory.blocks_across() * directory.blocks_down(),
                                                directory.is_by_pixel ? 1 : directory.samples);
  const std::uint64_t most = count.value_or(0);
  directory.offsets = reader.numbers(directory.is_tiled ? kTileOffsets : kStripOffsets, most);
  directory.lengths = reader.numbers(directory.is_tiled ? kTileByteCounts : kStripByteCounts, most);
  // A file of missing blocks only may state none.
  if (directory.offsets.empty() && directory.lengths.empty()) return;
  if (directory.offsets.size() != count || directory.lengths.size() != count) {
    throw Error("the number of blocks is not that of the image");
  }
  for (std::size_t i = 0; i < directory.offsets.size(); ++i) {
    if (directory.offsets[i] == 0) directory.lengths[i] = 0;
    const auto range = zarrcore::ByteRange::at(directory.offsets[i], directory.lengths[i]);
    if (range.length == 0) continue;
    zarrcore::with_context({"block ", i}, [&] { zarrcore::resolve_range(range, reader.size()); });
  }
}

}  // namespace

std::uint64_t TiffDirectory::blocks_across() const {
  return ceil_divide(columns, block_columns);
}

std::uint64_t TiffDirectory::blocks_down() const {
  return ceil_divide(rows, block_rows);
}

TiffDirectory read_tiff_directory(const std::string& path, std::uint64_t offset) {
  return zarrcore::with_context({path}, [&] {
    DirectoryReader reader(path);
    reader.read_fields(offset);
    TiffDirectory directory;
    directory.endian = reader.endian();
    directory.columns = reader.number_of(kImageWidth, 0);
    directory.rows = reader.number_of(kImageLength, 0);
    directory.samples = reader.number_of(kSamplesPerPixel, 1);
    directory.bits = reader.number_of(kBitsPerSample, 1);
    directory.sample_format = reader.number_of(kSampleFormat, 1);
    directory.compression = static_cast<TiffCompression>(reader.number_of(kCompression, 1));
    directory.predictor = reader.number_of(kPredictor, 1);
    directory.photometric = reader.number_of(kPhotometric, 1);
    directory.has_reversed_bits = reader.number_of(kFillOrder, 1) == 2;
    directory.is_by_pixel = reader.number_of(kPlanarConfiguration, 1) == 1;
    directory.jpeg_tables = reader.content(kJpegTables);
    if (directory.samples == 0 || directory.samples > UINT16_MAX) {
      throw Error("the number of samples is not valid");
    }
    set_blocks(reader, directory);
    return directory;
  });
}

}  // namespace gdal_zarr
