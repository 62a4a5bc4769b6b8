#include <array>
#include <cstddef>

#include "zarrcore/base/crc32c.h"
#include "zarrcore/base/endian.h"

namespace zarrcore {
namespace {

using Table = std::array<std::uint32_t, 256>;

// Eight bytes at a time: table k has the remainder of a byte that k more bytes follow.
constexpr std::array<Table, 8> make_tables() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bits in reverse
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = make_tables();

}  // namespace

std::uint32_t crc32c(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t next = load_integer<std::uint64_t>(bytes.data(), Endian::little) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][next >> 8 * k & 0xff];
  }
  for (const std::byte byte : bytes) {
    crc = crc >> 8 ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return ~crc;
}

}  // namespace zarrcore
