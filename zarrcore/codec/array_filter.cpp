#include "zarrcore/codec/array_filter.h"

#include <cstring>

#include "zarrcore/base/error.h"
#include "zarrcore/dtype/convert.h"

namespace zarrcore {
namespace {

class ArrayFilter final : public ArrayToArrayCodec {
 public:
  ArrayFilter(std::unique_ptr<const Filter> filter, const ChunkSpec& spec)
      : filter_(std::move(filter)),
        encoded_spec_{filter_->encoded_shape(spec.shape), filter_->encoded_type(), {}} {
    // Like zarr-python, which casts the fill value and does not filter it.
    encoded_spec_.fill_value.resize(encoded_spec_.data_type.item_size);
    if (const auto converter = make_numeric_converter(spec.data_type, encoded_spec_.data_type)) {
      converter->convert(spec.fill_value.data(), 0, encoded_spec_.fill_value.data(), 0, 1);
    } else if (spec.data_type == encoded_spec_.data_type) {
      encoded_spec_.fill_value = spec.fill_value;
    }
  }

  const ChunkSpec& encoded_spec() const override { return encoded_spec_; }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    const Buffer bytes = filter_->encode(decoded);
    if (bytes.size() != encoded.size()) {
      throw Error("a filter makes " + std::to_string(bytes.size()) + " bytes where " +
                  std::to_string(encoded.size()) + " are expected");
    }
    if (!bytes.empty()) std::memcpy(encoded.data(), bytes.data(), bytes.size());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    filter_->decode(encoded, decoded);
  }

 private:
  std::unique_ptr<const Filter> filter_;
  ChunkSpec encoded_spec_;
};

}  // namespace

std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec) {
  return std::make_unique<ArrayFilter>(std::move(filter), spec);
}

}  // namespace zarrcore
