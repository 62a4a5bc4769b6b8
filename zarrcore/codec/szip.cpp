// imagecodecs' `szip`, as HDF5's filter 4 stores chunks: the decoded size (u32, little-endian),
// then adaptive entropy coding (CCSDS 121.0-B). Chunks can be read, not written.
//
// Samples are coded in intervals, which are scanlines, of blocks. A block has the code that fits
// its samples best. Before that, samples were replaced by their differences from the sample before
// them; the first one of an interval remains.
#include "zarrcore/base/endian.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

// Options of libsz: the order of samples of two bytes, and whether they are differences.
constexpr std::int64_t kBigEndian = 16;
constexpr std::int64_t kDifferences = 32;
constexpr std::int64_t kMaxPixelsPerBlock = 32;
constexpr std::int64_t kMaxScanline = 4096;

struct Szip {
  unsigned bits;  // of a sample
  std::size_t block;
  std::size_t scanline;
  bool has_differences;
  Endian endian;

  std::size_t sample_size() const { return bits > 8 ? 2 : 1; }
  std::uint32_t max_sample() const { return (1u << bits) - 1; }

  // Decodes blocks of an interval until there are `needed` samples.
  void decode_interval(BitInput& input, std::span<std::uint32_t> samples,
                       std::size_t needed) const {
    for (std::size_t at = 0; at < needed;) {
      at = decode_block(input, samples, at);
    }
    if (has_differences) add_differences(samples.first(needed));
  }

  // Decodes the block at `at`, or several blocks of zeros. Returns where the next one begins.
  std::size_t decode_block(BitInput& input, std::span<std::uint32_t> samples,
                           std::size_t at) const {
    const unsigned id_bits = bits > 8 ? 4 : 3;
    const std::uint32_t id = input.take(id_bits);
    const std::span<std::uint32_t> all = samples.subspan(at, block);
    if (id == (1u << id_bits) - 1) {
      for (std::uint32_t& sample : all) sample = input.take(bits);
      return at + block;
    }
    const bool has_pairs = id == 0 && input.take(1) != 0;
    const std::size_t first = has_differences && at == 0 ? 1 : 0;
    if (first != 0) all[0] = input.take(bits);
    if (has_pairs) {
      decode_pairs(input, all, first);
    } else if (id == 0) {
      const std::size_t end =
          std::min(at + zero_blocks(input, samples, at) * block, samples.size());
      std::fill(samples.begin() + static_cast<std::ptrdiff_t>(at + first),
                samples.begin() + static_cast<std::ptrdiff_t>(end), 0);
      return end;
    } else {
      const unsigned low_bits = id - 1;
      for (std::uint32_t& sample : all.subspan(first)) {
        sample = static_cast<std::uint32_t>(std::min<std::uint64_t>(input.take_zeros(), 0xffff)
                                            << low_bits);
      }
      for (std::uint32_t& sample : all.subspan(first)) sample |= input.take(low_bits);
    }
    return at + block;
  }

  // Two samples a and b are one number: (a + b)(a + b + 1) / 2 + b.
  static void decode_pairs(BitInput& input, std::span<std::uint32_t> all, std::size_t first) {
    constexpr std::uint32_t kMaxNumber = 90;
    for (std::size_t i = first & ~std::size_t{1}; i < all.size(); i += 2) {
      const std::uint64_t number = input.take_zeros();
      if (number > kMaxNumber) throw Error("the data is corrupt");
      std::uint32_t sum = 0;
      while ((sum + 1) * (sum + 2) / 2 <= number) ++sum;
      const auto b = static_cast<std::uint32_t>(number) - sum * (sum + 1) / 2;
      if (i >= first) all[i] = sum - b;
      if (i + 1 < all.size()) all[i + 1] = b;
    }
  }

  // The fifth number means all blocks of the interval, but not past the next multiple of 64.
  std::size_t zero_blocks(BitInput& input, std::span<const std::uint32_t> samples,
                          std::size_t at) const {
    constexpr std::uint64_t kRest = 5;
    constexpr std::size_t kSegment = 64;
    const std::uint64_t count = input.take_zeros() + 1;
    const std::size_t index = at / block;
    if (count == kRest)
      return std::min(samples.size() / block - index, kSegment - index % kSegment);
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(count > kRest ? count - 1 : count, kSegment));
  }

  // A difference that both directions could have is twice its amount, less one if it is negative; a
  // larger one is the distance from the nearer end of the range.
  void add_differences(std::span<std::uint32_t> samples) const {
    const std::uint32_t max = max_sample();
    std::uint32_t value = samples.front();
    for (std::uint32_t& sample : samples.subspan(1)) {
      const std::uint32_t code = sample & max;
      const bool is_low = value <= max / 2;
      const std::uint32_t room = is_low ? value : max - value;
      if (code > 2 * room) {
        value = is_low ? code : max - code;
      } else {
        value = code % 2 == 0 ? value + code / 2 : value - (code + 1) / 2;
      }
      sample = value;
    }
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const {
    BitInput input(encoded);
    std::vector<std::uint32_t> samples((scanline + block - 1) / block * block);
    const std::size_t size = sample_size();
    for (std::size_t at = 0; at < decoded.size();) {
      const std::size_t count = std::min(scanline, (decoded.size() - at) / size);
      if (count == 0) throw Error(std::to_string(decoded.size()) + " bytes end in a sample");
      decode_interval(input, samples, count);
      for (std::size_t i = 0; i < count; ++i, at += size) {
        if (size == 1) {
          decoded[at] = static_cast<std::byte>(samples[i]);
        } else {
          store_integer(static_cast<std::uint16_t>(samples[i]), endian, decoded.data() + at);
        }
      }
    }
  }
};

}  // namespace

// Configuration: the values that HDF5 has for the filter, and `header`, for the size before the
// data.
Codec make_szip(const Json& configuration, const ChunkSpec& /*spec*/) {
  const std::int64_t mask = integer_option(configuration, "options_mask", 0, 0, INT32_MAX);
  const std::int64_t bits = integer_option(configuration, "bits_per_pixel", 0, 1, 64);
  const std::int64_t block =
      integer_option(configuration, "pixels_per_block", 0, 2, kMaxPixelsPerBlock);
  const std::int64_t scanline =
      integer_option(configuration, "pixels_per_scanline", 0, 1, kMaxScanline);
  // Larger elements are coded as planes of bytes.
  const bool has_planes = bits == 32 || bits == 64;
  if (block % 2 != 0 || (bits > 16 && !has_planes)) {
    throw Error("blocks of " + std::to_string(block) + " pixels of " + std::to_string(bits) +
                " bits are not supported");
  }
  const Szip szip{has_planes ? 8 : static_cast<unsigned>(bits), static_cast<std::size_t>(block),
                  static_cast<std::size_t>(scanline), (mask & kDifferences) != 0,
                  (mask & kBigEndian) != 0 ? Endian::big : Endian::little};
  const bool has_header = boolean_option(configuration, "header", true);
  const std::size_t planes = has_planes ? static_cast<std::size_t>(bits / 8) : 1;
  // A few bits stand for up to 64 blocks of zeros.
  constexpr std::uint64_t kMaxExpansion = 64 * kMaxPixelsPerBlock * 2;
  return make_decoder_codec({"szip", kMaxExpansion, [=](ByteSpan encoded, MutableByteSpan decoded) {
                               EncodedInput input(encoded);
                               const std::uint64_t size =
                                   has_header ? input.take_number(4) : decoded.size();
                               const MutableByteSpan target = DecodedOutput(decoded).extend(size);
                               if (planes == 1) {
                                 szip.decode(input.rest(), target);
                                 return target.size();
                               }
                               Buffer shuffled(size);
                               szip.decode(input.rest(), shuffled.span());
                               check_size("", target.size() / planes * planes, size);
                               unshuffle_bytes(shuffled.span(), planes, target);
                               return target.size();
                             }});
}

}  // namespace zarrcore
