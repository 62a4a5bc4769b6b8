#include "zarrcore/store/byte_range.h"

#include "zarrcore/base/error.h"

namespace zarrcore {

void check_value_size(std::uint64_t size, std::uint64_t max_size) {
  if (size <= max_size) return;
  throw Error("the value has " + std::to_string(size) + " bytes where at most " +
              std::to_string(max_size) + " can be right");
}

std::uint64_t resolve_range(const ByteRange& range, std::uint64_t size) {
  if (range.value_size && *range.value_size != size) {
    throw Error("the value has " + std::to_string(size) + " bytes where " +
                std::to_string(*range.value_size) + " are expected");
  }
  if (range.from_end) {
    if (range.length <= size) return size - range.length;
    throw Error("the last " + std::to_string(range.length) + " bytes are wanted of a value of " +
                std::to_string(size));
  }
  if (range.offset <= size && range.length <= size - range.offset) return range.offset;
  throw Error(std::to_string(range.length) + " bytes at offset " + std::to_string(range.offset) +
              " are outside a value of " + std::to_string(size) + " bytes");
}

}  // namespace zarrcore
