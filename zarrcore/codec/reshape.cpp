// The `reshape` codec (zarr-extensions): the same elements in the same order, in other dimensions.
// `shape` has an item for each encoded dimension: its length, -1 for the remaining length (once),
// or a list of decoded dimensions, whose lengths are multiplied. And `zarrs.squeeze`, which leaves
// out the dimensions in which a chunk has the length 1, but one if there are only such.
#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

class ReshapeCodec final : public ArrayToArrayCodec {
 public:
  ReshapeCodec(const ChunkSpec& spec, Shape shape) : encoded_spec_(spec) {
    encoded_spec_.shape = std::move(shape);
  }

  const ChunkSpec& encoded_spec() const override { return encoded_spec_; }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    std::copy(decoded.begin(), decoded.end(), encoded.begin());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    std::copy(encoded.begin(), encoded.end(), decoded.begin());
  }

 private:
  ChunkSpec encoded_spec_;
};

std::uint64_t parse_dimensions(const Json& item, const Shape& decoded) {
  Shape lengths;
  for (const std::uint64_t dimension : as_unsigned_list(item, "a list in \"shape\"")) {
    if (dimension >= decoded.size()) {
      throw Error("\"shape\" names dimension " + std::to_string(dimension) + ", the array has " +
                  std::to_string(decoded.size()));
    }
    lengths.push_back(decoded[static_cast<std::size_t>(dimension)]);
  }
  return checked_product(lengths).value_or(UINT64_MAX);
}

Shape parse_shape(const Json& configuration, const Shape& decoded) {
  const Json& member = required_member(configuration, "shape");
  if (!member.is_array()) {
    throw Error("\"shape\" is " + std::string(describe_kind(member)) + " where a list is expected");
  }
  const auto fail = [&]() -> Error {
    return Error("\"shape\" is " + excerpt(member) + ", which does not hold chunks of the shape " +
                 excerpt(Json(decoded)));
  };
  const std::uint64_t count = checked_product(decoded).value_or(UINT64_MAX);
  Shape shape;
  std::size_t open = SIZE_MAX;  // the dimension that takes the remaining length
  for (const Json& item : member) {
    // The library takes 2^64 - 1 for -1.
    if (item.is_number_integer() && !item.is_number_unsigned() && item == -1) {
      if (open != SIZE_MAX) throw Error("\"shape\" holds -1 more than once");
      open = shape.size();
      shape.push_back(1);
    } else {
      shape.push_back(item.is_array() ? parse_dimensions(item, decoded)
                                      : as_unsigned(item, "an item of \"shape\""));
    }
  }
  auto product = checked_product(shape);
  if (open != SIZE_MAX && product) {
    if (*product != 0 ? count % *product != 0 : count != 0) throw fail();
    shape[open] = *product == 0 ? 0 : count / *product;
    product = checked_product(shape);
  }
  if (product != count) throw fail();
  return shape;
}

}  // namespace

Codec make_reshape(const Json& configuration, const ChunkSpec& spec) {
  return std::make_unique<ReshapeCodec>(spec, parse_shape(configuration, spec.shape));
}

Codec make_squeeze(const Json& /*configuration*/, const ChunkSpec& spec) {
  Shape shape = spec.shape;
  std::erase(shape, std::uint64_t{1});
  if (shape.empty()) shape.push_back(1);
  return std::make_unique<ReshapeCodec>(spec, std::move(shape));
}

}  // namespace zarrcore
