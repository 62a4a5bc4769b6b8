#include "driver/virtual/array_blocks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/stores/references/target_files.h"
#include "driver/types/type_mapping.h"
#include "driver/virtual/netcdf3_blocks.h"
#include "driver/virtual/raw_blocks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec_chain.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Shape;

// Compares each block that it finds with what GDAL reads.
class CheckedBlocks {
 public:
  CheckedBlocks(const GDALMDArray& array, ArrayBlocks blocks, Shape shape)
      : array_(array),
        blocks_(std::move(blocks)),
        shape_(std::move(shape)),
        zero_(blocks_.layout.data_type.item_size),
        chain_(blocks_.layout.codecs,
               {blocks_.layout.chunk_shape, blocks_.layout.data_type, zero_}) {
    check_first();
  }

  const BlockLayout& layout() const { return blocks_.layout; }

  std::optional<Reference> find(std::span<const std::uint64_t> position) const {
    auto block = blocks_.find(position);
    if (block) check(position, *block);
    return block;
  }

 private:
  // One of the first blocks must be as GDAL tells; the others are checked when they are found.
  void check_first() const {
    constexpr int kMostProblems = 8;
    std::string problem;
    int count = 0;
    for_first_chunks(shape_, layout().chunk_shape, [&](std::span<const std::uint64_t> position) {
      try {
        if (find(position)) problem.clear();
        return problem.empty();
      } catch (const Error& error) {
        if (problem.empty()) problem = error.what();
        return ++count == kMostProblems;
      }
    });
    if (!problem.empty()) throw Error(problem);
  }

  // Decoding a block must give what GDAL reads: only the file says where its blocks are, which
  // filters they have skipped, and how many bits its numbers have.
  void check(std::span<const std::uint64_t> position, const Reference& block) const {
    zarrcore::with_context({"block " + zarrcore::shape_text(position, ",")}, [&] {
      const Buffer encoded = block.target.empty() ? Buffer::copy_of(block.value.span())
                                                  : files_.get(block, chain_.max_encoded_size());
      const zarrcore::DecodedChunk decoded = chain_.decode(encoded.span());
      compare(position, decoded.elements.span());
    });
  }

  void compare(std::span<const std::uint64_t> position, zarrcore::ByteSpan decoded) const {
    std::vector<GUInt64> start;
    std::vector<std::size_t> count;
    std::vector<GPtrDiff_t> strides(shape_.size(), 1);
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      start.push_back(position[i] * layout().chunk_shape[i]);
      count.push_back(static_cast<std::size_t>(
          std::min<std::uint64_t>(layout().chunk_shape[i], shape_[i] - start.back())));
    }
    for (std::size_t i = shape_.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * static_cast<GPtrDiff_t>(layout().chunk_shape[i]);
    }
    // What is past the edge of the array stays as it is decoded.
    Buffer expected = Buffer::copy_of(decoded);
    const GDALExtendedDataType& type = array_.GetDataType();
    if (type.GetSize() != layout().data_type.item_size ||
        !array_.Read(start.data(), count.data(), nullptr, strides.data(), type, expected.data(),
                     expected.data(), expected.size())) {
      throw Error("it cannot be read");
    }
    if (std::memcmp(expected.data(), decoded.data(), decoded.size()) != 0) {
      throw Error("decoding it does not give the values that GDAL reads");
    }
  }

  const GDALMDArray& array_;
  ArrayBlocks blocks_;
  Shape shape_;
  std::vector<std::byte> zero_;
  zarrcore::CodecChain chain_;
  mutable TargetFiles files_{""};
};

}  // namespace

ArrayBlocks find_array_blocks(const GDALMDArray& array) {
  if (array.GetDataType().GetClass() != GEDTC_NUMERIC) throw Error("its elements are not numbers");
  const auto type = stored_number_type(array.GetDataType().GetNumericDataType());
  if (!type) throw Error("Zarr has no such data type");
  Shape shape;
  for (const auto& dimension : array.GetDimensions()) shape.push_back(dimension->GetSize());
  if (std::ranges::find(shape, 0) != shape.end()) throw Error("it has no elements");
  auto found = find_netcdf3_blocks(array, shape, *type);
  if (!found) found = find_raw_blocks(array, shape, *type);
  const auto blocks = std::make_shared<const CheckedBlocks>(array, *std::move(found), shape);
  return {blocks->layout(),
          [blocks](std::span<const std::uint64_t> position) { return blocks->find(position); }};
}

}  // namespace gdal_zarr
