// Filters of numcodecs that store other numbers or texts: astype, fixedscaleoffset and quantize,
// which compute with NumPy's arithmetic, and bitround.
#include <algorithm>
#include <cmath>
#include <optional>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

bool is_text(const DataType& type) {
  return type.kind == TypeKind::fixed_bytes || type.kind == TypeKind::fixed_utf32;
}

std::size_t character_size(const DataType& type) {
  return type.kind == TypeKind::fixed_utf32 ? sizeof(char32_t) : 1;
}

// Between texts of fixed length, which NumPy casts character by character if they are ASCII.
void cast_texts(const DataType& from, const std::byte* source, const DataType& to,
                std::byte* destination, std::size_t count) {
  const std::size_t source_size = character_size(from);
  const std::size_t size = character_size(to);
  const std::uint64_t characters = std::min(from.item_size / source_size, to.item_size / size);
  for (std::size_t i = 0; i < count; ++i) {
    std::fill_n(destination, to.item_size, std::byte{0});
    for (std::uint64_t k = 0; k < characters; ++k) {
      char32_t character = 0;
      if (source_size == 1) {
        character = std::to_integer<unsigned char>(source[k]);
      } else {
        std::memcpy(&character, source + k * source_size, sizeof(character));
      }
      if (source_size != size && character > 0x7f) {
        throw Error("astype: a text that is not ASCII cannot be cast");
      }
      if (size == 1) {
        destination[k] = static_cast<std::byte>(character);
      } else {
        std::memcpy(destination + k * size, &character, sizeof(character));
      }
    }
    source += from.item_size;
    destination += to.item_size;
  }
}

Codec make_text_filter(const NumpyType& decoded, const NumpyType& encoded) {
  const auto decode = [from = encoded.type, to = decoded.type](
                          const std::byte* source, std::byte* destination, std::size_t count) {
    cast_texts(from, source, to, destination, count);
  };
  const auto encode = [=, from = decoded.type, to = encoded.type](
                          const std::byte* source, std::byte* destination, std::size_t count) {
    cast_texts(from, source, to, destination, count);
    // A text that was cut off cannot be restored.
    std::vector<std::byte> returned(memory_size(from.item_size));
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* text = source + i * from.item_size;
      decode(destination + i * to.item_size, returned.data(), 1);
      if (!std::equal(returned.begin(), returned.end(), text)) {
        refuse_element("astype", from, i, text, returned.data());
      }
    }
  };
  return make_element_filter({"astype", decoded, encoded, encode, decode});
}

// The number of stored bits of the mantissa.
std::optional<int> mantissa_bits(const DataType& type) {
  if (type.kind != TypeKind::floating || type.float_format != FloatFormat::ieee) return {};
  return type.item_size == 2 ? 10 : type.item_size == 4 ? 23 : 52;
}

void round_elements(const DataType& type, std::int64_t keepbits, const std::byte* source,
                    std::byte* destination, std::size_t count) {
  const auto bits = mantissa_bits(type);
  if (!bits) throw Error("bitround: the data type " + type_name(type) + " cannot be rounded");
  if (keepbits > *bits) {
    throw Error("bitround: \"keepbits\" is " + std::to_string(keepbits) + ", but " +
                type_name(type) + " has " + std::to_string(*bits));
  }
  const int dropped = *bits - static_cast<int>(keepbits);
  if (dropped == 0) {
    std::copy_n(source, memory_size(count * type.item_size), destination);
    return;
  }
  with_size<std::uint16_t, std::uint32_t, std::uint64_t>(type.item_size, [&](auto tag) {
    using Bits = typename decltype(tag)::Type;
    const auto half = static_cast<Bits>((Bits{1} << (dropped - 1)) - 1);
    const auto mask = static_cast<Bits>(~Bits{0} << dropped);
    transform_elements<Bits>(source, destination, count, [=](Bits value) {
      return static_cast<Bits>((value + (value >> dropped & 1) + half) & mask);
    });
  });
}

void check_float(const DataType& type) {
  if (type.kind == TypeKind::floating) return;
  throw Error("the data type " + type_name(type) + " is not a floating point type");
}

}  // namespace

// The `astype` filter of numcodecs: elements are cast to another type, and back on decoding.
// Configuration: `encode_dtype`, and `decode_dtype`, by default the array's type.
Codec make_astype(const Json& configuration, const ChunkSpec& spec) {
  text_member(configuration, "encode_dtype");  // throws Error if it is missing
  const NumpyType decoded = numpy_type_option(configuration, "decode_dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "encode_dtype", decoded);
  if (is_text(decoded.type) && is_text(encoded.type)) {
    return make_text_filter(decoded, encoded);
  }
  // A float may lose digits, or its fraction to become an integer.
  Tolerance tolerance;
  if (const double unit = rounding_unit(decoded.type); unit > 0) {
    const double encoded_unit = rounding_unit(encoded.type);
    tolerance.relative = encoded_unit;
    if (encoded_unit == 0) {
      tolerance.absolute = std::nextafter(1.0, 0.0);
    } else if (encoded_unit > unit) {  // numbers too small for a type become its smallest
      tolerance.absolute =
          encoded_unit == rounding_unit({TypeKind::floating, 2}) ? 0x1p-24 : 0x1p-149;
    }
  }
  return make_element_filter({"astype", decoded, encoded,
                              NumpyPipeline(decoded.type).cast(encoded.type),
                              NumpyPipeline(encoded.type).cast(decoded.type), tolerance});
}

// The `fixedscaleoffset` filter of numcodecs: encodes x as (x - offset) * scale, rounded to a whole
// number. Configuration: `offset`, `scale`, `dtype` of x, and `astype` of the stored numbers.
Codec make_fixedscaleoffset(const Json& configuration, const ChunkSpec& spec) {
  const Json& offset = number_member(configuration, "offset");
  const Json& scale = number_member(configuration, "scale");
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  // The errors of rounding to a whole number and of the arithmetic; integers lose a fraction once
  // more when decoded.
  const double factor = std::abs(scale.get<double>());
  Tolerance tolerance;
  tolerance.relative = 8 * std::max({rounding_unit(decoded.type), rounding_unit(encoded.type),
                                     rounding_unit({TypeKind::floating, 8})});
  if (factor != 0) {
    tolerance.absolute = 0.5 / factor + tolerance.relative * std::abs(offset.get<double>());
  }
  if (factor != 1 && decoded.type.kind != TypeKind::floating) tolerance.absolute += 1;
  using Op = NumpyOperator;
  return make_element_filter({"fixedscaleoffset", decoded, encoded,
                              NumpyPipeline(decoded.type)
                                  .compute(Op::subtract, offset)
                                  .compute(Op::multiply, scale)
                                  .round()
                                  .cast(encoded.type),
                              NumpyPipeline(encoded.type)
                                  .compute(Op::divide, scale)
                                  .compute(Op::add, offset)
                                  .cast(decoded.type),
                              tolerance});
}

// The `quantize` filter of numcodecs: keeps as many bits after the binary point as `digits` decimal
// digits need. Configuration: `digits`, `dtype`, and `astype` of the stored numbers. Decoding only
// undoes the cast.
Codec make_quantize(const Json& configuration, const ChunkSpec& spec) {
  const Json& digits = number_member(configuration, "digits");
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  check_float(decoded.type);
  check_float(encoded.type);

  // Powers of ten are rounded outwards to whole digits, then to a power of two.
  double exponent = std::log10(std::pow(10.0, -digits.get<double>()));
  exponent = exponent < 0 ? std::floor(exponent) : std::ceil(exponent);
  const double scale = std::exp2(std::ceil(std::log2(std::pow(10.0, -exponent))));
  if (!std::isnormal(scale)) throw Error("\"digits\" is " + excerpt(digits) + ", out of range");
  using Op = NumpyOperator;
  return make_element_filter({"quantize", decoded, encoded,
                              NumpyPipeline(decoded.type)
                                  .compute(Op::multiply, scale)
                                  .round()
                                  .compute(Op::divide, scale)
                                  .cast(encoded.type),
                              NumpyPipeline(encoded.type).cast(decoded.type),
                              Tolerance{0.5 / scale, 8 * std::max(rounding_unit(decoded.type),
                                                                  rounding_unit(encoded.type))}});
}

// The `bitround` filter of numcodecs: rounds floats to `keepbits` bits of their mantissa, halves to
// the even one. Decoding changes nothing.
Codec make_bitround(const Json& configuration, const ChunkSpec& spec) {
  const std::int64_t keepbits = integer_option(configuration, "keepbits", -1);
  if (keepbits < 0) throw Error("\"keepbits\" is not a number of bits");
  const NumpyType type{spec.data_type};
  // Limits are checked by encoding: chunks can be decoded regardless of them.
  const auto encode = [=](const std::byte* decoded, std::byte* encoded, std::size_t count) {
    round_elements(type.type, keepbits, decoded, encoded, count);
  };
  const auto decode = [size = type.type.item_size](const std::byte* encoded, std::byte* decoded,
                                                   std::size_t count) {
    std::copy_n(encoded, memory_size(count * size), decoded);
  };
  return make_element_filter({"bitround", type, type, encode, decode});
}

}  // namespace zarrcore
