// The `shuffle` filter of numcodecs: the first bytes of all elements, then their second bytes, and
// so on. Configuration: `elementsize` in bytes.
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

class ShuffleFilter final : public Filter {
 public:
  ShuffleFilter(std::uint64_t item_size, std::uint64_t element_size)
      : item_size_(item_size), element_size_(element_size) {}

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return decoded_size;
  }
  std::uint64_t max_decoded_size(ByteSpan encoded) const override { return encoded.size(); }

  DataType encoded_type() const override { return {TypeKind::unsigned_integer, 1}; }
  Shape encoded_shape(const Shape& shape) const override {
    const auto count = checked_product(shape);
    const auto size = count ? checked_multiply(*count, item_size_) : std::nullopt;
    if (!size) throw Error("the chunk shape makes chunks larger than any memory");
    return {*size};
  }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded(decoded.size());
    const std::size_t count = count_elements(decoded);
    const std::size_t element_size = count == 0 ? 0 : decoded.size() / count;
    for (std::size_t k = 0; k < element_size; ++k) {
      std::byte* plane = encoded.data() + k * count;
      for (std::size_t i = 0; i < count; ++i) plane[i] = decoded[i * element_size + k];
    }
    return encoded;
  }

  std::string name() const override { return "shuffle"; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size("shuffle: ", encoded.size(), decoded.size());
    if (count_elements(encoded) != 0) unshuffle_bytes(encoded, memory_size(element_size_), decoded);
  }

 private:
  std::size_t count_elements(ByteSpan bytes) const {
    if (bytes.size() % element_size_ != 0) {
      throw Error("shuffle: " + std::to_string(bytes.size()) +
                  " bytes are not a whole number of elements of " + std::to_string(element_size_));
    }
    return static_cast<std::size_t>(bytes.size() / element_size_);
  }

  std::uint64_t item_size_;
  std::uint64_t element_size_;
};

}  // namespace

Codec make_shuffle(const Json& configuration, const ChunkSpec& spec) {
  const std::uint64_t item_size = spec.data_type.item_size;
  // Writers of v3 may omit it and mean the size of the array's elements.
  const std::int64_t element_size =
      integer_option(configuration, "elementsize", static_cast<std::int64_t>(item_size));
  // Like numcodecs, which takes less than one as one.
  return std::unique_ptr<const Filter>(std::make_unique<ShuffleFilter>(
      item_size, element_size < 1 ? 1 : static_cast<std::uint64_t>(element_size)));
}

}  // namespace zarrcore
