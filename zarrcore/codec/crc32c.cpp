// The `crc32c` codec (v3 codecs, "crc32c", RFC 3720): the checksum follows the payload. In
// numcodecs it can also precede it.
#include <array>
#include <cstring>

#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <nmmintrin.h>
#define ZARRCORE_CRC32C_TARGET __attribute__((target("sse4.2")))
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define ZARRCORE_CRC32C_TARGET
#endif

namespace zarrcore {
namespace {

using Crc32cTable = std::array<std::uint32_t, 256>;

// Of the remainders that each byte leaves, with the bits of the polynomial reversed.
constexpr Crc32cTable make_crc32c_table() {
  Crc32cTable table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr Crc32cTable kCrc32cTable = make_crc32c_table();

constexpr std::uint32_t update_crc32c(std::uint32_t crc, std::uint8_t byte) {
  return (crc >> 8) ^ kCrc32cTable[(crc ^ byte) & 0xff];
}

std::uint32_t crc32c_by_table(std::uint32_t crc, ByteSpan bytes) {
  for (const std::byte byte : bytes) crc = update_crc32c(crc, static_cast<std::uint8_t>(byte));
  return crc;
}

#ifdef ZARRCORE_CRC32C_TARGET

// The processor has the result of an instruction after three more have begun. So three streams of
// this many bytes are summed up side by side.
constexpr std::size_t kStream = 512;

// What a checksum becomes when kStream zeros follow, by its four bytes.
constexpr std::array<Crc32cTable, 4> make_stream_tables() {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t crc = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < kStream; ++i) crc = update_crc32c(crc, 0);
    of_bit[bit] = crc;
  }
  std::array<Crc32cTable, 4> tables{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) tables[i][byte] ^= of_bit[8 * i + bit];
      }
    }
  }
  return tables;
}

constexpr std::array<Crc32cTable, 4> kStreamTables = make_stream_tables();

std::uint32_t after_stream(std::uint32_t crc) {
  return kStreamTables[0][crc & 0xff] ^ kStreamTables[1][crc >> 8 & 0xff] ^
         kStreamTables[2][crc >> 16 & 0xff] ^ kStreamTables[3][crc >> 24];
}

ZARRCORE_CRC32C_TARGET std::uint32_t update_by_word(std::uint32_t crc, const std::byte* word) {
  std::uint64_t value = 0;
  std::memcpy(&value, word, sizeof value);
#ifdef __x86_64__
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, value));
#else
  return __crc32cd(crc, value);
#endif
}

ZARRCORE_CRC32C_TARGET std::uint32_t crc32c_by_instruction(std::uint32_t crc, ByteSpan bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  while (bytes.size() >= 3 * kStream) {
    std::uint32_t second = 0;
    std::uint32_t third = 0;
    const std::byte* at = bytes.data();
    for (const std::byte* end = at + kStream; at != end; at += kWord) {
      crc = update_by_word(crc, at);
      second = update_by_word(second, at + kStream);
      third = update_by_word(third, at + 2 * kStream);
    }
    crc = after_stream(after_stream(crc) ^ second) ^ third;
    bytes = bytes.subspan(3 * kStream);
  }
  for (; bytes.size() >= kWord; bytes = bytes.subspan(kWord)) {
    crc = update_by_word(crc, bytes.data());
  }
  return crc32c_by_table(crc, bytes);
}

bool has_crc32c_instruction() {
#ifdef __x86_64__
  static const bool result = __builtin_cpu_supports("sse4.2") != 0;
  return result;
#else
  return true;
#endif
}

#endif

std::uint32_t crc32c(ByteSpan bytes) {
  constexpr std::uint32_t kStart = 0xffffffffu;
#ifdef ZARRCORE_CRC32C_TARGET
  if (has_crc32c_instruction()) return ~crc32c_by_instruction(kStart, bytes);
#endif
  return ~crc32c_by_table(kStart, bytes);
}

}  // namespace

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec(
      "crc32c", checksum_location_option(configuration, ChecksumLocation::end), crc32c);
}

}  // namespace zarrcore
