// The `transpose` codec (v3 codecs, "transpose"): encoded dimension i is decoded dimension
// order[i].
#include <algorithm>
#include <numeric>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

class TransposeCodec final : public ArrayToArrayCodec {
 public:
  TransposeCodec(const ChunkSpec& spec, std::vector<std::size_t> order)
      : encoded_spec_(spec), order_(std::move(order)) {
    const Strides decoded_strides = c_strides(spec.shape, spec.data_type.item_size);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      encoded_spec_.shape[i] = spec.shape[order_[i]];
      decoded_strides_.push_back(decoded_strides[order_[i]]);
    }
    encoded_strides_ = c_strides(encoded_spec_.shape, spec.data_type.item_size);
  }

  const ChunkSpec& encoded_spec() const override { return encoded_spec_; }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    copy_strided(encoded_spec_.shape, encoded_spec_.data_type.item_size, decoded.data(),
                 decoded_strides_, encoded.data(), encoded_strides_);
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    copy_strided(encoded_spec_.shape, encoded_spec_.data_type.item_size, encoded.data(),
                 encoded_strides_, decoded.data(), decoded_strides_);
  }

  const std::vector<std::size_t>* axis_order() const override { return &order_; }

 private:
  ChunkSpec encoded_spec_;
  std::vector<std::size_t> order_;
  // Both are indexed by encoded dimension.
  Strides decoded_strides_;
  Strides encoded_strides_;
};

std::vector<std::size_t> parse_order(const Json& configuration, std::size_t rank) {
  const Json& member = required_member(configuration, "order");
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (member == "C") return order;
  if (member == "F") return {order.rbegin(), order.rend()};
  const auto list = as_unsigned_list(member, "\"order\"");
  std::vector<bool> seen(rank, false);
  if (list.size() != rank) {
    throw Error("\"order\" has " + std::to_string(list.size()) + " dimensions, the array " +
                std::to_string(rank));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(std::min<std::uint64_t>(list[i], rank));
    if (axis == rank || seen[axis]) {
      throw Error("\"order\" is " + excerpt(member) + ", not a permutation");
    }
    seen[axis] = true;
    order[i] = axis;
  }
  return order;
}

}  // namespace

Codec make_transpose(const Json& configuration, const ChunkSpec& spec) {
  return std::make_unique<TransposeCodec>(spec, parse_order(configuration, spec.shape.size()));
}

}  // namespace zarrcore
