#include "driver/virtual/raw_blocks.h"

#include <cpl_string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Shape;

ArrayBlocks contiguous_blocks(const Shape& shape, const zarrcore::DataType& type,
                              const char* endian, Reference whole) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;
  Shape part = shape;
  const auto count = zarrcore::checked_product(shape);
  if (!count || *count > whole.length.value_or(0) / type.item_size) {
    throw Error("its values are not inside the file");
  }
  if (!shape.empty()) {
    const std::uint64_t row = *count / shape[0] * type.item_size;
    for (std::uint64_t n = 1; n <= shape[0] && row * part[0] > kMaxBytes; ++n) {
      if (shape[0] % n == 0) part[0] = shape[0] / n;
    }
  }
  const std::uint64_t size = *zarrcore::checked_product(part) * type.item_size;
  BlockLayout layout{part, type, {{"bytes", {{"endian", endian}}}}};
  return {std::move(layout), [target = whole.target, start = whole.offset,
                              size](std::span<const std::uint64_t> position) {
            Reference block;
            block.target = target;
            block.is_path = true;
            block.offset = start + (position.empty() ? 0 : position[0]) * size;
            block.length = size;
            return block;
          }};
}

void for_first_chunks(const Shape& shape, const Shape& chunk_shape,
                      const std::function<bool(std::span<const std::uint64_t>)>& use) {
  constexpr int kMaxTries = 1000;
  Shape position(shape.size(), 0);
  for (int tries = 0; tries < kMaxTries; ++tries) {
    if (use(position)) return;
    std::size_t axis = position.size();
    while (axis-- > 0) {
      if (++position[axis] * chunk_shape[axis] < shape[axis]) break;
      position[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace gdal_zarr

#if !GDAL_ZARR_AT_LEAST(3, 12)

namespace gdal_zarr {

ArrayBlocks find_raw_blocks(const GDALMDArray& /*array*/, const Shape& /*shape*/,
                            const zarrcore::DataType& /*type*/) {
  throw Error("where the blocks of arrays are is known from GDAL 3.12 on");
}

}  // namespace gdal_zarr

#else

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::CodecMetadata;

// A compression or filter of HDF5 and its codec. All of them describe their own parameters.
struct HdfCompression {
  std::string_view name;  // in any case
  const char* codec;
};
constexpr HdfCompression kHdfCompressions[] = {
    {"DEFLATE", "numcodecs.zlib"},   {"LZF", "numcodecs.imagecodecs_lzf"},
    {"BLOSC", "numcodecs.blosc"},    {"ZSTD", "numcodecs.zstd"},
    {"Zstandard", "numcodecs.zstd"}, {"BZIP2", "numcodecs.bz2"}};

const HdfCompression* find_compression(const std::string& name) {
  const auto* found = std::ranges::find_if(kHdfCompressions, [&](const HdfCompression& filter) {
    return STARTS_WITH_CI(name.c_str(), std::string(filter.name).c_str());
  });
  return found != std::end(kHdfCompressions) ? found : nullptr;
}

CodecMetadata codec_of(const HdfCompression& compression) {
  CodecMetadata codec{compression.codec};
  if (compression.name == "DEFLATE") codec.configuration["level"] = 6;
  if (compression.name == "LZF") codec.configuration["header"] = false;
  return codec;
}

// What GDAL says about the encoding of a block, which is that of all blocks of an array.
struct BlockEncoding {
  bool is_big = false;
  bool is_shuffled = false;
  bool has_checksum = false;  // 4 bytes at the end
  std::string compression;    // empty for none

  bool operator==(const BlockEncoding&) const = default;

  bool has_filters_of(const BlockEncoding& other) const {
    return is_shuffled >= other.is_shuffled && has_checksum >= other.has_checksum &&
           (other.compression.empty() || EQUAL(compression.c_str(), other.compression.c_str()));
  }
};

BlockEncoding encoding_of(CSLConstList info) {
  BlockEncoding encoding;
  for (CSLConstList entry = info; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const CPLStringList values(
        CSLTokenizeString2(text.substr(std::min(equals, text.size() - 1) + 1).c_str(), ",", 0));
    for (int i = 0; i < values.size(); ++i) {
      const std::string value = values[i];
      if (name == "ENDIANNESS") {
        encoding.is_big = EQUAL(value.c_str(), "BIG");
      } else if (name == "FILTER" && encoding.has_checksum) {
        throw Error("filter " + value + " comes after a checksum");
      } else if (name == "FILTER" && EQUAL(value.c_str(), "SHUFFLE")) {
        encoding.is_shuffled = true;
      } else if (name == "FILTER" && EQUAL(value.c_str(), "FLETCHER32")) {
        encoding.has_checksum = true;
      } else if ((name == "FILTER" || STARTS_WITH(name.c_str(), "COMPRESS")) &&
                 encoding.compression.empty() && find_compression(value) != nullptr) {
        encoding.compression = value;
      } else {
        throw Error("no codec decodes its blocks, of which GDAL tells " + text);
      }
    }
  }
  return encoding;
}

std::vector<CodecMetadata> codecs_of(const BlockEncoding& encoding,
                                     const zarrcore::DataType& type) {
  std::vector<CodecMetadata> codecs{{"bytes", {{"endian", encoding.is_big ? "big" : "little"}}}};
  if (encoding.is_shuffled) {
    codecs.push_back({"numcodecs.shuffle", {{"elementsize", type.item_size}}});
  }
  if (!encoding.compression.empty()) {
    codecs.push_back(codec_of(*find_compression(encoding.compression)));
  }
  return codecs;
}

class BlockFinder {
 public:
  BlockFinder(const GDALMDArray& array, const Shape& shape, const zarrcore::DataType& type)
      : array_(array), shape_(shape) {
    layout_.data_type = type;
    const std::vector<GUInt64> block = array.GetBlockSize();
    layout_.chunk_shape.assign(block.begin(), block.end());
    is_contiguous_ =
        std::ranges::find(layout_.chunk_shape, 0) != layout_.chunk_shape.end() || shape_.empty();
    find_encoding();
    layout_.codecs = codecs_of(encoding_, layout_.data_type);
  }

  const BlockLayout& layout() const { return layout_; }
  bool is_big() const { return encoding_.is_big; }
  // Set if it is not stored in chunks.
  const std::optional<Reference>& whole() const { return whole_; }

  std::optional<Reference> find(std::span<const std::uint64_t> position) const {
    GDALMDArrayRawBlockInfo info;
    auto block = read_info(position, info);
    if (!block) return std::nullopt;
    // A block for which a filter was skipped looks like one without filters.
    if (!(encoding_of(info.papszInfo) == encoding_)) return std::nullopt;
    return block;
  }

 private:
  // Empty if GDAL does not find the block. Its bytes are inside the file.
  std::optional<Reference> read_info(std::span<const std::uint64_t> position,
                                     GDALMDArrayRawBlockInfo& info) const {
    {
      const QuietErrors quiet;
      // GDAL wants a pointer also for rank 0.
      const std::vector<std::uint64_t> place(std::max<std::size_t>(1, position.size()), 0);
      if (!array_.GetRawBlockInfo(position.empty() ? place.data() : position.data(), info)) {
        return std::nullopt;
      }
    }
    Reference block;
    if (info.pabyInlineData != nullptr) {
      block.value = Buffer::copy_of({reinterpret_cast<const std::byte*>(info.pabyInlineData),
                                     static_cast<std::size_t>(info.nSize)});
      block.length = info.nSize;
      return block;
    }
    if (info.pszFilename == nullptr || info.nSize == 0) return std::nullopt;
    block.target = info.pszFilename;
    block.is_path = true;
    block.offset = info.nOffset;
    const std::uint64_t checksum = encoding_.has_checksum ? 4 : 0;
    if (info.nSize <= checksum) throw Error("a block is too short");
    block.length = info.nSize - checksum;
    return block;
  }

  // GDAL 3.13 counts the blocks that an HDF5 file has, and not their positions: after one that is
  // missing, it tells the place of another block. There are as many as positions if it knows the
  // last one.
  void check_has_all_blocks() const {
    Shape last;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      last.push_back((shape_[i] - 1) / layout_.chunk_shape[i]);
    }
    GDALMDArrayRawBlockInfo info;
    if (!read_info(last, info)) {
      throw Error("it has missing blocks, so that GDAL does not tell where the others are");
    }
  }

  void find_encoding() {
    bool is_found = false;
    const auto use = [&](std::span<const std::uint64_t> position) {
      GDALMDArrayRawBlockInfo info;
      auto block = read_info(position, info);
      if (!block) return false;
      // Of the array, for netCDF without shuffle. A block may have skipped filters.
      const BlockEncoding of_array = encoding_of(array_.GetStructuralInfo());
      encoding_ = encoding_of(info.papszInfo);
      const bool has_all = encoding_.has_filters_of(of_array);
      if (!has_all) encoding_ = of_array;
      is_found = true;
      if (is_contiguous_) whole_ = std::move(block);
      return has_all;
    };
    if (is_contiguous_) {
      use(Shape(shape_.size(), 0));
    } else {
      for_first_chunks(shape_, layout_.chunk_shape, use);
      check_has_all_blocks();
    }
    if (!is_found) throw Error("GDAL does not tell where its blocks are");
  }

  const GDALMDArray& array_;
  Shape shape_;
  BlockLayout layout_;
  BlockEncoding encoding_;
  bool is_contiguous_ = false;
  std::optional<Reference> whole_;
};

}  // namespace

ArrayBlocks find_raw_blocks(const GDALMDArray& array, const Shape& shape,
                            const zarrcore::DataType& type) {
  const auto blocks = std::make_shared<BlockFinder>(array, shape, type);
  if (blocks->whole()) {
    const Reference& whole = *blocks->whole();
    if (whole.target.empty() || blocks->layout().codecs.size() > 1) {
      throw Error("GDAL does not tell where its values are");
    }
    Reference place;
    place.target = whole.target;
    place.offset = whole.offset;
    place.length = whole.length;
    return contiguous_blocks(shape, type, blocks->is_big() ? "big" : "little", std::move(place));
  }
  return {blocks->layout(),
          [blocks](std::span<const std::uint64_t> position) { return blocks->find(position); }};
}

}  // namespace gdal_zarr

#endif
