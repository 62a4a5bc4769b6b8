#include "zarrcore/codec/codec.h"

#include <limits>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {

std::uint64_t ChunkSpec::byte_count() const {
  const auto elements = checked_product(shape);
  const auto bytes = elements ? checked_multiply(*elements, data_type.item_size) : std::nullopt;
  if (!bytes || *bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
    throw Error("the chunk shape makes chunks larger than any memory");
  }
  return *bytes;
}

ChunkSpec spec_with_zero(Shape shape, const DataType& type) {
  ChunkSpec spec;
  spec.shape = std::move(shape);
  spec.data_type = type;
  spec.fill_value.resize(memory_size(type.item_size));
  return spec;
}

Buffer BytesToBytesCodec::decode(ByteSpan encoded, std::uint64_t max_size) const {
  const std::uint64_t size = max_decoded_size(encoded);
  check_max_size(name() + ": ", size, max_size);
  Buffer decoded(size);
  decode(encoded, decoded.span());
  return decoded;
}

}  // namespace zarrcore
