// Codecs of imagecodecs for samples of odd sizes, which TIFF has: `packints`, `float24` and
// `bfloat16`. They decode to little-endian numbers. Chunks of all of them can be read, not written.
#include <cmath>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"
#include "zarrcore/codec/element_codec.h"

namespace zarrcore {
namespace {

// Integers of `bits` bits, the most significant first. Every `run` of them begins with a byte.
struct PackedIntegers {
  NumpyType type;
  std::uint64_t bits;
  std::uint64_t run;  // 0: all are one run

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const {
    const std::uint64_t count = decoded_size / type.type.item_size;
    if (run == 0 || run >= count) return size_of(count);
    const auto run_size = size_of(run);
    const auto last = size_of(count % run);
    const auto runs = run_size ? checked_multiply(count / run, *run_size) : std::nullopt;
    return runs && last ? checked_add(*runs, *last) : std::nullopt;
  }

  std::size_t decode(ByteSpan encoded, MutableByteSpan decoded) const {
    const std::size_t item_size = memory_size(type.type.item_size);
    const std::uint64_t count = decoded.size() / item_size;
    const auto size = encoded_size(decoded.size());
    check_size("", encoded.size(), size.value_or(UINT64_MAX));
    BitInput input(encoded);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (run != 0 && i % run == 0) input.align();
      const std::uint64_t high = bits > 32 ? input.take(static_cast<unsigned>(bits - 32)) : 0;
      const std::uint64_t value =
          high << 32 | input.take(static_cast<unsigned>(std::min<std::uint64_t>(bits, 32)));
      std::byte* item = decoded.data() + i * item_size;
      store_unsigned(value, item_size, item);
      if (type.endian != kHostEndian) swap_bytes({item, item_size}, item_size);
    }
    return decoded.size();
  }

 private:
  std::optional<std::uint64_t> size_of(std::uint64_t count) const {
    const auto size = checked_multiply(count, bits);
    return size ? std::optional(ceil_divide(*size, 8)) : std::nullopt;
  }
};

// A codec of floats of `size` bytes, which `to_float` turns into numbers of type float32.
Codec make_floats(std::string name, std::size_t size, const Json& configuration,
                  const ChunkSpec& spec, float (*to_float)(std::uint32_t bits)) {
  if (spec.data_type != DataType{TypeKind::floating, sizeof(float)}) {
    throw Error("the data type is " + type_name(spec.data_type) + " where float32 is expected");
  }
  const auto endian = choice_option(
      configuration, "byteorder", Endian::little,
      {{"=", Endian::little}, {"<", Endian::little}, {"|", Endian::little}, {">", Endian::big}});
  const auto encoded_size = [=](std::uint64_t decoded_size) {
    return checked_multiply(decoded_size / sizeof(float), size);
  };
  const auto decode = [=](ByteSpan encoded, MutableByteSpan decoded) {
    const std::size_t count = encoded.size() / size;
    check_size("", encoded.size(), count * size);
    DecodedOutput output(decoded);
    for (std::size_t i = 0; i < count; ++i) {
      const ByteSpan bytes = encoded.subspan(i * size, size);
      std::uint32_t bits = 0;
      for (std::size_t k = 0; k < size; ++k) {
        bits =
            bits << 8 | std::to_integer<unsigned>(bytes[endian == Endian::big ? k : size - 1 - k]);
      }
      store_integer(std::bit_cast<std::uint32_t>(to_float(bits)), Endian::little,
                    output.extend(sizeof(float)).data());
    }
    return output.size();
  };
  return make_decoder_codec({std::move(name), sizeof(float), decode, encoded_size});
}

// A sign, 7 bits of exponent and 16 of mantissa (TIFF, technical note 3).
float from_float24(std::uint32_t bits) {
  constexpr unsigned kMantissaBits = 16;
  constexpr int kBias = 63;
  constexpr std::uint32_t kMaxExponent = 127;
  const std::uint32_t mantissa = bits & 0xffff;
  const std::uint32_t exponent = bits >> kMantissaBits & kMaxExponent;
  const std::uint32_t sign = bits >> 23 << 31;
  if (exponent == kMaxExponent) {
    return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 7);
  }
  const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | 1u << kMantissaBits;
  const int scale =
      static_cast<int>(std::max(exponent, 1u)) - kBias - static_cast<int>(kMantissaBits);
  const float value = std::ldexp(static_cast<float>(significand), scale);
  return sign != 0 ? -value : value;
}

}  // namespace

Codec make_packints(const Json& configuration, const ChunkSpec& spec) {
  const NumpyType type = numpy_type_option(configuration, "dtype", {spec.data_type});
  if (type.type.kind != TypeKind::unsigned_integer && type.type.kind != TypeKind::boolean) {
    throw Error("\"dtype\" is " + type_name(type.type) + ", not a type of unsigned integers");
  }
  if (const auto order = text_option(configuration, "bitorder"); order && !order->empty()) {
    throw Error("\"bitorder\" is \"" + *order + "\", which is not supported");
  }
  const std::uint64_t max_bits = type.type.kind == TypeKind::boolean ? 1 : 8 * type.type.item_size;
  const std::int64_t bits =
      integer_option(configuration, "bitspersample", 0, 1, static_cast<std::int64_t>(max_bits));
  const std::int64_t run = integer_option(configuration, "runlen", 0);
  if (run < 0) throw Error("\"runlen\" is " + std::to_string(run) + ", a negative number");
  const PackedIntegers packed{type, static_cast<std::uint64_t>(bits),
                              static_cast<std::uint64_t>(run)};
  return make_decoder_codec(
      {"packints", 8 * type.type.item_size,
       [=](ByteSpan encoded, MutableByteSpan decoded) { return packed.decode(encoded, decoded); },
       [=](std::uint64_t decoded_size) { return packed.encoded_size(decoded_size); }});
}

Codec make_float24(const Json& configuration, const ChunkSpec& spec) {
  return make_floats("float24", 3, configuration, spec, from_float24);
}

Codec make_imagecodecs_bfloat16(const Json& configuration, const ChunkSpec& spec) {
  return make_floats("bfloat16", 2, configuration, spec,
                     [](std::uint32_t bits) { return std::bit_cast<float>(bits << 16); });
}

}  // namespace zarrcore
