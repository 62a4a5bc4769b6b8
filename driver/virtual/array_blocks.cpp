#include "driver/virtual/array_blocks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/types/type_mapping.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;
using zarrcore::Shape;

constexpr const char* kAdvice = "; VIRTUAL=AUTO copies such blocks";
constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 32;

// Compares each block that it finds with what GDAL reads.
class CheckedBlocks {
 public:
  CheckedBlocks(const GDALMDArray& array, RawBlocks blocks, Shape shape, bool copies_others)
      : array_(array),
        blocks_(std::move(blocks)),
        shape_(std::move(shape)),
        copies_others_(copies_others),
        decoder_(layout()) {
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      counts_.push_back(zarrcore::ceil_divide(shape_[i], layout().chunk_shape[i]));
    }
    if (zarrcore::checked_product(counts_).value_or(UINT64_MAX) > kMaxChunks) {
      throw Error("it has too many chunks");
    }
    if (array.GetDataType().GetSize() != layout().data_type.item_size) {
      throw Error("GDAL shows its values in another type");
    }
    check_first();
  }

  const BlockLayout& layout() const { return blocks_.layout; }

  void visit(const ArrayBlocks::Visit& visit) const {
    std::uint64_t next = 0;
    for_chunks(shape_, layout().chunk_shape, [&](std::span<const std::uint64_t> position) {
      std::optional<Reference> block;
      try {
        block = find(position, next);
      } catch (const Error& problem) {
        if (!copies_others_) throw Error(problem.what() + std::string(kAdvice));
      }
      return !visit(position, std::move(block));
    });
  }

 private:
  // One of the first blocks must be as GDAL reports it; the others are checked when they are
  // visited.
  void check_first() const {
    constexpr int kMostProblems = 8;
    constexpr int kMaxTries = 1000;
    std::string problem;
    int problems = 0;
    int tries = 0;
    std::uint64_t next = 0;
    for_chunks(shape_, layout().chunk_shape, [&](std::span<const std::uint64_t> position) {
      try {
        const auto block = find(position, next);
        const bool is_found = block && block->length;
        if (is_found) problem.clear();
        return is_found || ++tries == kMaxTries;
      } catch (const Error& error) {
        if (problem.empty()) problem = error.what();
        return ++problems == kMostProblems;
      }
    });
    if (!problem.empty()) throw Error(problem);
  }

  // The block at a position, if GDAL counts those that are stored `next`, or else its position.
  // Whichever decodes to what GDAL reads is right. Nullopt if no block is right: if all elements
  // are equal, as it may be missing, or if it is encoded in another way.
  std::optional<Reference> find(std::span<const std::uint64_t> position,
                                std::uint64_t& next) const {
    const Shape count = count_at(position);
    const Buffer expected = read(position, count);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < position.size(); ++i) number = number * counts_[i] + position[i];
    std::string problem = "GDAL does not tell where it is";
    bool has_other_encoding = false;
    const auto find_at = [&](std::uint64_t at) -> std::optional<Reference> {
      try {
        auto block = blocks_.find(position_of(at, counts_));
        if (!block) return std::nullopt;
        if (!block->length) {
          has_other_encoding = true;
        } else if (decoder_.decode(*block, count).text() == expected.text()) {
          next = at + 1;
          return block;
        } else {
          problem = "decoding it does not give the values that GDAL reads";
        }
      } catch (const Error& error) {
        problem = error.what();
      }
      return std::nullopt;
    };
    if (auto block = find_at(next)) return block;
    const std::string_view elements = expected.text();
    const std::uint64_t others = elements.size() - layout().data_type.item_size;
    const bool are_equal = elements.substr(0, others) == elements.substr(elements.size() - others);
    if (are_equal) return Reference();
    if (number != next) {
      if (auto block = find_at(number)) return block;
    }
    ++next;
    if (has_other_encoding) return std::nullopt;
    throw Error("block " + zarrcore::shape_text(position, ",") + ": " + problem);
  }

  // What GDAL reads.
  Buffer read(std::span<const std::uint64_t> position, const Shape& count) const {
    std::vector<GUInt64> start;
    start.reserve(position.size());
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      start.push_back(position[i] * layout().chunk_shape[i]);
    }
    const std::vector<std::size_t> lengths(count.begin(), count.end());
    Buffer values(*zarrcore::checked_product(count) * layout().data_type.item_size);
    if (!array_.Read(start.data(), lengths.data(), nullptr, nullptr, array_.GetDataType(),
                     values.data(), values.data(), values.size())) {
      throw Error("it cannot be read");
    }
    return values;
  }

  // The number of elements of a chunk that are inside the array.
  Shape count_at(std::span<const std::uint64_t> position) const {
    Shape count;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      const std::uint64_t length = layout().chunk_shape[i];
      count.push_back(std::min(length, shape_[i] - position[i] * length));
    }
    return count;
  }

  const GDALMDArray& array_;
  RawBlocks blocks_;
  Shape shape_;
  Shape counts_;  // of chunks
  bool copies_others_;
  mutable BlockDecoder decoder_;
};

}  // namespace

ArrayBlocks find_array_blocks(const GDALMDArray& array, bool copies_others) {
  if (array.GetDataType().GetClass() != GEDTC_NUMERIC) throw Error("its elements are not numbers");
  const auto type = stored_number_type(array.GetDataType().GetNumericDataType());
  if (!type) throw Error("Zarr has no such data type");
  Shape shape;
  for (const auto& dimension : array.GetDimensions()) shape.push_back(dimension->GetSize());
  if (std::ranges::find(shape, 0) != shape.end()) throw Error("it has no elements");
  auto found = find_netcdf3_blocks(array, shape, *type);
  if (!found) found = find_raw_blocks(array, shape, *type);
  const auto blocks =
      std::make_shared<const CheckedBlocks>(array, *std::move(found), shape, copies_others);
  return {blocks->layout(), [blocks](const ArrayBlocks::Visit& visit) { blocks->visit(visit); }};
}

}  // namespace gdal_zarr
