#include "driver/virtual/array_blocks.h"

#include "driver/gdal/compat.h"
#include "zarrcore/base/error.h"

#if !GDAL_ZARR_AT_LEAST(3, 12)

namespace gdal_zarr {

ArrayBlocks find_array_blocks(const GDALMDArray& /*array*/) {
  throw zarrcore::Error("where the blocks of arrays are is known from GDAL 3.12 on");
}

}  // namespace gdal_zarr

#else

#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/messages.h"
#include "driver/stores/references/target_files.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec_chain.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::CodecMetadata;
using zarrcore::Error;
using zarrcore::Shape;

constexpr std::uint64_t kMaxContiguousBytes = std::uint64_t{4} << 20;

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
        throw Error("its encoding is not certain from what GDAL tells: " + text);
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

Shape lengths_of(const GDALMDArray& array) {
  Shape shape;
  for (const auto& dimension : array.GetDimensions()) shape.push_back(dimension->GetSize());
  return shape;
}

// The blocks of an array that is stored without chunks: parts along the first dimension.
Shape contiguous_parts(const Shape& shape, std::uint64_t item_size) {
  Shape part = shape;
  const auto bytes = zarrcore::checked_product(shape);
  if (!bytes || shape.empty() || shape[0] == 0) return part;
  const std::uint64_t row = *bytes / shape[0] * item_size;
  for (std::uint64_t count = 1; count <= shape[0] && row * part[0] > kMaxContiguousBytes; ++count) {
    if (shape[0] % count == 0) part[0] = shape[0] / count;
  }
  return part;
}

class BlockFinder {
 public:
  explicit BlockFinder(const GDALMDArray& array) : array_(array), shape_(lengths_of(array)) {
    if (array.GetDataType().GetClass() != GEDTC_NUMERIC) {
      throw Error("its elements are not numbers");
    }
    const auto type = stored_number_type(array.GetDataType().GetNumericDataType());
    if (!type) throw Error("Zarr has no such data type");
    layout_.data_type = *type;
    const std::vector<GUInt64> block = array.GetBlockSize();
    layout_.chunk_shape.assign(block.begin(), block.end());
    is_contiguous_ =
        std::ranges::find(layout_.chunk_shape, 0) != layout_.chunk_shape.end() || shape_.empty();
    find_encoding();
    layout_.codecs = codecs_of(encoding_, layout_.data_type);
    if (is_contiguous_) layout_.chunk_shape = contiguous_parts(shape_, layout_.data_type.item_size);
    check_some();
  }

  const BlockLayout& layout() const { return layout_; }

  std::optional<Reference> find(std::span<const std::uint64_t> position) const {
    if (is_contiguous_) {
      Reference part;
      const std::uint64_t size = part_size();
      part.target = whole_.target;
      part.is_path = true;
      part.offset = whole_.offset;
      part.offset += (position.empty() ? 0 : position[0]) * size;
      part.length = size;
      check(position, part);
      return part;
    }
    GDALMDArrayRawBlockInfo info;
    auto block = read_info(position, info);
    if (!block) return std::nullopt;
    // A block for which a filter was skipped looks like one without filters.
    if (!(encoding_of(info.papszInfo) == encoding_)) return std::nullopt;
    check(position, *block);
    return block;
  }

 private:
  std::uint64_t part_size() const {
    std::uint64_t size = layout_.data_type.item_size;
    for (const std::uint64_t length : layout_.chunk_shape) size *= length;
    return size;
  }

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
    check_size(block);
    return block;
  }

  void check_size(const Reference& block) const {
    if (block.target != checked_file_) {
      VSIStatBufL status;
      if (VSIStatL(block.target.c_str(), &status) != 0) {
        throw Error(block.target + " does not exist");
      }
      checked_file_ = block.target;
      checked_size_ = static_cast<std::uint64_t>(status.st_size);
    }
    zarrcore::with_context({block.target}, [&] {
      zarrcore::resolve_range(zarrcore::ByteRange::at(block.offset, *block.length), checked_size_);
    });
  }

  // Calls `use` for the first blocks until it returns true.
  void for_first_blocks(const std::function<bool(std::span<const std::uint64_t>)>& use) const {
    constexpr int kMaxTries = 1000;
    Shape position(shape_.size(), 0);
    for (int tries = 0; tries < kMaxTries; ++tries) {
      if (use(position)) return;
      std::size_t axis = position.size();
      while (axis-- > 0) {
        if (++position[axis] * layout_.chunk_shape[axis] < shape_[axis]) break;
        position[axis] = 0;
      }
      if (axis == static_cast<std::size_t>(-1)) return;
    }
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
      if (is_contiguous_) whole_ = *std::move(block);
      return has_all;
    };
    if (std::ranges::find(shape_, 0) != shape_.end()) throw Error("it has no elements");
    if (is_contiguous_) {
      use(Shape(shape_.size(), 0));
    } else {
      for_first_blocks(use);
      check_has_all_blocks();
    }
    if (!is_found) throw Error("GDAL does not tell where its blocks are");
    const auto all = zarrcore::checked_product(shape_);
    if (is_contiguous_ &&
        (whole_.target.empty() || !all || *whole_.length / layout_.data_type.item_size != *all)) {
      throw Error("GDAL does not tell where its values are");
    }
  }

  // GDAL may tell the places of other blocks, and wrong codecs decode a block of equal bytes alike:
  // the first blocks are compared until one has different bytes, and then those at the corners.
  void check_some() {
    constexpr int kMostChecks = 64;
    for_first_blocks([&](std::span<const std::uint64_t> position) {
      find(position);
      return has_varied_ || checks_ >= kMostChecks;
    });
    for (unsigned corner = 1; corner < 1U << std::min<std::size_t>(6, shape_.size()); ++corner) {
      Shape position(shape_.size(), 0);
      for (std::size_t i = 0; i < shape_.size(); ++i) {
        if ((corner >> i & 1) != 0) position[i] = (shape_[i] - 1) / layout_.chunk_shape[i];
      }
      find(position);
    }
    is_checking_ = false;
  }

  // Decoding a block must give what GDAL reads.
  void check(std::span<const std::uint64_t> position, const Reference& block) const {
    if (!is_checking_) return;
    ++checks_;
    const std::vector<std::byte> zero(layout_.data_type.item_size);
    const zarrcore::CodecChain chain(layout_.codecs,
                                     {layout_.chunk_shape, layout_.data_type, zero});
    TargetFiles files("");
    const Buffer encoded = block.target.empty() ? Buffer::copy_of(block.value.span())
                                                : files.get(block, chain.max_encoded_size());
    const zarrcore::DecodedChunk decoded = chain.decode(encoded.span());
    const zarrcore::ByteSpan bytes = decoded.elements.span();
    has_varied_ |=
        std::ranges::any_of(bytes, [&](std::byte each) { return each != bytes.front(); });
    compare(position, bytes);
  }

  void compare(std::span<const std::uint64_t> position, zarrcore::ByteSpan decoded) const {
    std::vector<GUInt64> start;
    std::vector<std::size_t> count;
    std::vector<GPtrDiff_t> strides(shape_.size(), 1);
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      start.push_back(position[i] * layout_.chunk_shape[i]);
      count.push_back(static_cast<std::size_t>(
          std::min<std::uint64_t>(layout_.chunk_shape[i], shape_[i] - start.back())));
    }
    for (std::size_t i = shape_.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * static_cast<GPtrDiff_t>(layout_.chunk_shape[i]);
    }
    // What is past the edge of the array stays as it is decoded.
    Buffer expected = Buffer::copy_of(decoded);
    const GDALExtendedDataType& type = array_.GetDataType();
    if (type.GetSize() != layout_.data_type.item_size ||
        !array_.Read(start.data(), count.data(), nullptr, strides.data(), type, expected.data(),
                     expected.data(), expected.size())) {
      throw Error("its blocks cannot be read");
    }
    if (std::memcmp(expected.data(), decoded.data(), decoded.size()) != 0) {
      throw Error("decoding its blocks does not give the values that GDAL reads");
    }
  }

  const GDALMDArray& array_;
  Shape shape_;
  BlockLayout layout_;
  BlockEncoding encoding_;
  bool is_contiguous_ = false;
  Reference whole_;                  // if it is contiguous
  bool is_checking_ = true;          // until the object is made
  mutable int checks_ = 0;           // how many blocks have been compared
  mutable bool has_varied_ = false;  // whether one of them had different bytes
  mutable std::string checked_file_;
  mutable std::uint64_t checked_size_ = 0;
};

}  // namespace

ArrayBlocks find_array_blocks(const GDALMDArray& array) {
  const auto blocks = std::make_shared<const BlockFinder>(array);
  return {blocks->layout(),
          [blocks](std::span<const std::uint64_t> position) { return blocks->find(position); }};
}

}  // namespace gdal_zarr

#endif
