// Compressed streams that need no library: TIFF's LZW and PackBits, LZF and Snappy, under the names
// that imagecodecs gives them. Chunks of all of them can be read, not written.
#include <array>
#include <bit>

#include "zarrcore/base/endian.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

// --- LZW (TIFF 6.0, section 13) ------------------------------------------------------------------

constexpr std::uint32_t kClearCode = 256;
constexpr std::uint32_t kEndCode = 257;
constexpr std::uint32_t kFirstFreeCode = 258;
constexpr unsigned kMinCodeBits = 9;
constexpr unsigned kMaxCodeBits = 12;
constexpr std::uint32_t kMaxCodes = 1 << kMaxCodeBits;

// The strings of the codes: each is an older string and a byte more.
class LzwTable {
 public:
  LzwTable() {
    for (std::uint32_t i = 0; i < kClearCode; ++i) {
      entries_[i] = {0, 1, static_cast<std::byte>(i), static_cast<std::byte>(i)};
    }
  }

  std::uint32_t next() const { return next_; }
  void clear() { next_ = kFirstFreeCode; }
  std::byte first(std::uint32_t code) const { return entries_[code].first; }

  // The encoder begins with longer codes one code earlier than it has to.
  unsigned code_bits() const {
    return std::clamp<unsigned>(std::bit_width(next_ + 1), kMinCodeBits, kMaxCodeBits);
  }

  void add(std::uint32_t prefix, std::byte last) {
    if (next_ == kMaxCodes) return;
    entries_[next_++] = {static_cast<std::uint16_t>(prefix),
                         static_cast<std::uint16_t>(entries_[prefix].length + 1),
                         entries_[prefix].first, last};
  }

  void append(std::uint32_t code, DecodedOutput& output) const {
    const MutableByteSpan string = output.extend(entries_[code].length);
    for (std::size_t i = string.size(); i-- > 0; code = entries_[code].prefix) {
      string[i] = entries_[code].last;
    }
  }

 private:
  struct Entry {
    std::uint16_t prefix = 0;
    std::uint16_t length = 0;
    std::byte first{};
    std::byte last{};
  };
  std::array<Entry, kMaxCodes> entries_{};
  std::uint32_t next_ = kFirstFreeCode;
};

std::size_t decode_lzw(ByteSpan encoded, MutableByteSpan decoded) {
  // Libraries of the eighties wrote codes from the lowest bit, so that the first one, which clears
  // the table, makes these bytes.
  if (encoded.size() > 1 && encoded[0] == std::byte{0} &&
      (encoded[1] & std::byte{1}) != std::byte{0}) {
    throw Error("the data is in the order of bits from before TIFF 5.0, which is not supported");
  }
  LzwTable table;
  DecodedOutput output(decoded);
  std::uint64_t bits = 0;
  unsigned bit_count = 0;
  std::uint32_t previous = kClearCode;  // no code yet
  for (std::size_t at = 0;;) {
    const unsigned width = table.code_bits();
    for (; bit_count < width && at < encoded.size(); bit_count += 8) {
      bits = bits << 8 | std::to_integer<std::uint64_t>(encoded[at++]);
    }
    // Some writers leave out the code of the end.
    if (bit_count < width) return output.size();
    bit_count -= width;
    const auto code = static_cast<std::uint32_t>(bits >> bit_count & ((1u << width) - 1));
    if (code == kEndCode) return output.size();
    if (code == kClearCode) {
      table.clear();
      previous = kClearCode;
      continue;
    }
    // The next free code means the previous string followed by its own first byte.
    const bool is_new = code == table.next();
    if (code > table.next() || (previous == kClearCode && code > kClearCode))
      throw Error("the data is corrupt");
    if (previous != kClearCode) table.add(previous, table.first(is_new ? previous : code));
    if (code >= table.next()) throw Error("the data is corrupt");
    table.append(code, output);
    previous = code;
  }
}

// --- PackBits (TIFF 6.0, section 9) --------------------------------------------------------------

std::size_t decode_packbits(ByteSpan encoded, MutableByteSpan decoded) {
  constexpr std::uint32_t kNothing = 128;
  EncodedInput input(encoded);
  DecodedOutput output(decoded);
  while (!input.is_empty()) {
    const std::uint32_t count = input.take_byte();
    if (count < kNothing) {
      output.append(input.take(count + 1));
    } else if (count > kNothing) {
      const auto byte = static_cast<std::byte>(input.take_byte());
      const MutableByteSpan run = output.extend(257 - count);
      std::fill(run.begin(), run.end(), byte);
    }
  }
  return output.size();
}

// --- LZF -----------------------------------------------------------------------------------------

std::size_t decode_lzf_block(ByteSpan encoded, MutableByteSpan decoded) {
  constexpr std::uint32_t kMaxLiterals = 32;
  constexpr std::uint32_t kLongMatch = 7;
  EncodedInput input(encoded);
  DecodedOutput output(decoded);
  while (!input.is_empty()) {
    const std::uint32_t control = input.take_byte();
    if (control < kMaxLiterals) {
      output.append(input.take(control + 1));
      continue;
    }
    std::uint32_t length = control >> 5;
    if (length == kLongMatch) length += input.take_byte();
    const std::uint32_t distance = (control & 0x1f) << 8 | input.take_byte();
    output.repeat(distance + 1, length + 2);
  }
  return output.size();
}

// imagecodecs puts the decoded size before the block, HDF5 does not; references to chunks of HDF5
// files often do not state which.
std::size_t decode_lzf(ByteSpan encoded, MutableByteSpan decoded, bool may_have_header) {
  constexpr std::size_t kHeaderSize = 4;
  if (may_have_header && encoded.size() > kHeaderSize) {
    const auto size = load_integer<std::uint32_t>(encoded.data(), Endian::little);
    if (size <= decoded.size()) {
      try {
        const ByteSpan block = encoded.subspan(kHeaderSize);
        if (decode_lzf_block(block, decoded.first(size)) == size) return size;
      } catch (const Error&) {
        // There is no header, or the next attempt reports the fault.
      }
    }
  }
  return decode_lzf_block(encoded, decoded);
}

// --- Snappy (github.com/google/snappy/blob/main/format_description.txt) --------------------------

std::size_t decode_snappy(ByteSpan encoded, MutableByteSpan decoded) {
  EncodedInput input(encoded);
  std::uint64_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint64_t byte = input.take_byte();
    if (shift > 28) throw Error("the data is corrupt");
    size |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (size > decoded.size()) {
    throw Error("more than the expected " + std::to_string(decoded.size()) + " bytes");
  }
  DecodedOutput output(decoded.first(static_cast<std::size_t>(size)));
  while (!input.is_empty()) {
    constexpr std::uint32_t kLongLiteral = 60;
    const std::uint32_t tag = input.take_byte();
    const std::uint32_t length = 1 + (tag >> 2);
    switch (tag & 3) {
      case 0:
        output.append(input.take(
            length > kLongLiteral ? 1 + input.take_number(length - kLongLiteral) : length));
        break;
      case 1: {
        const std::uint32_t distance = tag >> 5 << 8 | input.take_byte();
        output.repeat(distance, 4 + (tag >> 2 & 7));
        break;
      }
      case 2:
        output.repeat(input.take_number(2), length);
        break;
      default:
        output.repeat(input.take_number(4), length);
    }
  }
  check_size("", output.size(), size);
  return output.size();
}

}  // namespace

Codec make_lzw(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  // The longest string that a code of nine bits or more can stand for.
  constexpr std::uint64_t kMaxExpansion = kMaxCodes - kFirstFreeCode + 1;
  return make_decoder_codec({"lzw", kMaxExpansion, decode_lzw});
}

Codec make_tiff_packbits(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_decoder_codec({"packbits", 64, decode_packbits});
}

Codec make_lzf(const Json& configuration, const ChunkSpec& /*spec*/) {
  const bool may_have_header = boolean_option(configuration, "header", true);
  // Three bytes can stand for 264.
  return make_decoder_codec({"lzf", 88, [=](ByteSpan encoded, MutableByteSpan decoded) {
                               return decode_lzf(encoded, decoded, may_have_header);
                             }});
}

Codec make_snappy(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  // Three bytes can stand for 64.
  return make_decoder_codec({"snappy", 22, decode_snappy});
}

}  // namespace zarrcore
