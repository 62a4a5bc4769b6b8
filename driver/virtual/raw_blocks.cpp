#include <cpl_string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "driver/virtual/array_blocks.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Shape;

namespace {

// The shape of equal parts, each of which is contiguous.
Shape part_of_contiguous(const Shape& shape, std::uint64_t item_size) {
  constexpr std::uint64_t kMinBytes = std::uint64_t{64} << 10;
  constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMaxTries = 1'000'000;
  Shape part = shape;
  if (shape.empty()) return part;
  std::uint64_t row = *zarrcore::checked_product(shape) / shape[0] * item_size;
  std::size_t axis = 0;
  for (; row > kMaxBytes; row /= shape[axis]) part[axis++] = 1;
  const std::uint64_t length = shape[axis];
  std::uint64_t below = 1;       // the greatest divisor of the length with parts of up to kMaxBytes
  std::uint64_t above = length;  // the next one
  for (std::uint64_t n = 1; n <= length / n && n < kMaxTries; ++n) {
    if (length % n != 0) continue;
    for (const std::uint64_t divisor : {n, length / n}) {
      (divisor <= kMaxBytes / row ? below : above) =
          divisor <= kMaxBytes / row ? std::max(below, divisor) : std::min(above, divisor);
    }
  }
  part[axis] = below * row < kMinBytes ? above : below;
  if (part[axis] > kMostBytes / row) throw Error("it cannot be cut into chunks of less than 1 GiB");
  return part;
}

}  // namespace

RawBlocks contiguous_blocks(const Shape& shape, const zarrcore::DataType& type, const char* endian,
                            const Reference& whole, std::optional<std::uint64_t> record_step) {
  const Shape inner(shape.begin() + (record_step ? 1 : 0), shape.end());
  const auto count = zarrcore::checked_product(inner);
  if (!count || *count > whole.length.value_or(0) / type.item_size) {
    throw Error("its values are not inside the file");
  }
  const Shape part = part_of_contiguous(inner, type.item_size);
  Shape counts;
  for (std::size_t i = 0; i < part.size(); ++i) counts.push_back(inner[i] / part[i]);
  BlockLayout layout{part, type, {{"bytes", {{"endian", endian}}}}};
  if (record_step) layout.chunk_shape.insert(layout.chunk_shape.begin(), 1);
  return {std::move(layout), [target = whole.target, start = whole.offset, record_step, counts,
                              size = *zarrcore::checked_product(part) *
                                     type.item_size](std::span<const std::uint64_t> position) {
            std::uint64_t number = 0;
            for (std::size_t i = 0; i < counts.size(); ++i) {
              number = number * counts[i] + position[i + (record_step ? 1 : 0)];
            }
            const std::uint64_t record = record_step ? position[0] * *record_step : 0;
            return file_part(target, zarrcore::ByteRange::at(start + record + number * size, size));
          }};
}

void for_chunks(const Shape& shape, const Shape& chunk_shape,
                const std::function<bool(std::span<const std::uint64_t>)>& use) {
  Shape position(shape.size(), 0);
  while (!use(position)) {
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

RawBlocks find_raw_blocks(const GDALMDArray& /*array*/, const Shape& /*shape*/,
                          const zarrcore::DataType& /*type*/) {
  throw Error("where the blocks of arrays are is known from GDAL 3.12 on");
}

}  // namespace gdal_zarr

#else

#include <memory>

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

// The encoding of a block as GDAL reports it; all blocks of an array have the same.
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
    return encoding_of(info.papszInfo) == encoding_ ? std::move(block) : Reference();
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
    if (info.pabyInlineData != nullptr) {
      Reference block;
      block.value = Buffer::copy_of({reinterpret_cast<const std::byte*>(info.pabyInlineData),
                                     static_cast<std::size_t>(info.nSize)});
      block.length = info.nSize;
      return block;
    }
    if (info.pszFilename == nullptr || info.nSize == 0) return std::nullopt;
    const std::uint64_t checksum = encoding_.has_checksum ? 4 : 0;
    if (info.nSize <= checksum) throw Error("a block is too short");
    return file_part(info.pszFilename,
                     zarrcore::ByteRange::at(info.nOffset, info.nSize - checksum));
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
    constexpr int kMaxTries = 1000;
    int tries = 0;
    for_chunks(shape_, is_contiguous_ ? shape_ : layout_.chunk_shape,
               [&](auto position) { return use(position) || ++tries == kMaxTries; });
    if (is_found) return;
    // It may be that none is stored.
    if (is_contiguous_) throw Error("GDAL does not tell where its values are");
    encoding_ = encoding_of(array_.GetStructuralInfo());
  }

  const GDALMDArray& array_;
  Shape shape_;
  BlockLayout layout_;
  BlockEncoding encoding_;
  bool is_contiguous_ = false;
  std::optional<Reference> whole_;
};

}  // namespace

RawBlocks find_raw_blocks(const GDALMDArray& array, const Shape& shape,
                          const zarrcore::DataType& type) {
  const auto blocks = std::make_shared<BlockFinder>(array, shape, type);
  if (blocks->whole()) {
    const Reference& whole = *blocks->whole();
    if (whole.target.empty() || blocks->layout().codecs.size() > 1) {
      throw Error("GDAL does not tell where its values are");
    }
    return contiguous_blocks(shape, type, blocks->is_big() ? "big" : "little", whole);
  }
  return {blocks->layout(),
          [blocks](std::span<const std::uint64_t> position) { return blocks->find(position); }};
}

}  // namespace gdal_zarr

#endif
