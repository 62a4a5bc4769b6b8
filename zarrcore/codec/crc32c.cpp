// A library for this would be loaded at each start of GDAL, which takes longer than most programs
// would gain.
#include <array>
#include <cstddef>
#include <cstring>

#include "zarrcore/base/endian.h"
#include "zarrcore/codec/checksum.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define ZARRCORE_CRC32C_TARGET __attribute__((target("sse4.2")))
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define ZARRCORE_CRC32C_TARGET
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define ZARRCORE_CRC32C_TARGET __attribute__((target("+crc")))
#endif

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

#if defined(ZARRCORE_CRC32C_TARGET)

bool has_instruction() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__ARM_FEATURE_CRC32)
  return kHostEndian == Endian::little;
#else
  return kHostEndian == Endian::little && (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

ZARRCORE_CRC32C_TARGET std::uint32_t crc32c_by_instruction(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t next = 0;
    std::memcpy(&next, bytes.data(), 8);
#if defined(__x86_64__)
    crc = static_cast<std::uint32_t>(_mm_crc32_u64(crc, next));
#else
    crc = __crc32cd(crc, next);
#endif
  }
  for (const std::byte byte : bytes) {
#if defined(__x86_64__)
    crc = _mm_crc32_u8(crc, std::to_integer<unsigned char>(byte));
#else
    crc = __crc32cb(crc, std::to_integer<std::uint8_t>(byte));
#endif
  }
  return ~crc;
}

#endif

}  // namespace

std::uint32_t crc32c_by_tables(ByteSpan bytes) {
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

std::uint32_t crc32c(ByteSpan bytes) {
#if defined(ZARRCORE_CRC32C_TARGET)
  if (has_instruction()) return crc32c_by_instruction(bytes);
#endif
  return crc32c_by_tables(bytes);
}

}  // namespace zarrcore
