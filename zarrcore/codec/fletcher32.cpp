// The `fletcher32` codec of numcodecs: HDF5's variant of Fletcher's checksum after the payload. It
// sums big-endian 16-bit words, the last one padded with a zero byte, by ones' complement.
#include <algorithm>

#include "zarrcore/base/endian.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

// The ones' complement sum of the 16-bit digits of `sum`: zero only for zero.
std::uint64_t fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

std::uint32_t fletcher32(ByteSpan bytes) {
  std::uint64_t sum = 0;
  std::uint64_t sum_of_sums = 0;
  const auto add = [&](std::uint64_t word) {
    sum += word;
    sum_of_sums += sum;
  };
  // The number of bytes that can be added before the sums must be folded.
  constexpr std::size_t kBlock = 2 << 20;
  for (; bytes.size() > 1;
       bytes = bytes.subspan(std::min(bytes.size() & ~std::size_t{1}, kBlock))) {
    const std::size_t size = std::min(bytes.size() & ~std::size_t{1}, kBlock);
    for (std::size_t i = 0; i < size; i += 2) {
      add(load_integer<std::uint16_t>(bytes.data() + i, Endian::big));
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (!bytes.empty()) add(std::to_integer<std::uint64_t>(bytes.front()) << 8);
  return static_cast<std::uint32_t>(fold(sum_of_sums) << 16 | fold(sum));
}

}  // namespace

Codec make_fletcher32(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("fletcher32", {}, ChecksumLocation::end, fletcher32);
}

}  // namespace zarrcore
