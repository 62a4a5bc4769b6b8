// Filters of numcodecs that compute with NumPy's arithmetic: astype, fixedscaleoffset and quantize.
#include <algorithm>
#include <cmath>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"

namespace zarrcore {
namespace {

bool is_text(const DataType& type) {
  return type.kind == TypeKind::fixed_bytes || type.kind == TypeKind::fixed_utf32;
}

// Between texts of fixed length, which NumPy casts character by character if they are ASCII.
class TextFilter final : public ElementFilter {
 public:
  TextFilter(const NumpyType& decoded, const NumpyType& encoded)
      : ElementFilter("astype", decoded, encoded), decoded_(decoded.type), encoded_(encoded.type) {}

 private:
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    cast(decoded_, decoded, encoded_, encoded, count);
    check_whole(decoded, encoded, count);
  }
  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    cast(encoded_, encoded, decoded_, decoded, count);
  }

  // A text that was cut off cannot be restored.
  void check_whole(const std::byte* decoded, const std::byte* encoded, std::size_t count) const {
    std::vector<std::byte> returned(memory_size(decoded_.item_size));
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* text = decoded + i * decoded_.item_size;
      cast(encoded_, encoded + i * encoded_.item_size, decoded_, returned.data(), 1);
      if (!std::equal(returned.begin(), returned.end(), text)) refuse(i, text, returned.data());
    }
  }

  static std::size_t character_size(const DataType& type) {
    return type.kind == TypeKind::fixed_utf32 ? sizeof(char32_t) : 1;
  }

  static void cast(const DataType& from, const std::byte* source, const DataType& to,
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

  DataType decoded_;
  DataType encoded_;
};

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
    return std::unique_ptr<const Filter>(std::make_unique<TextFilter>(decoded, encoded));
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
  return make_pipeline_filter("astype", decoded, encoded,
                              NumpyPipeline(decoded.type).cast(encoded.type),
                              NumpyPipeline(encoded.type).cast(decoded.type), tolerance);
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
  return make_pipeline_filter(
      "fixedscaleoffset", decoded, encoded,
      NumpyPipeline(decoded.type).subtract(offset).multiply(scale).round().cast(encoded.type),
      NumpyPipeline(encoded.type).divide(scale).add(offset).cast(decoded.type), tolerance);
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
  return make_pipeline_filter(
      "quantize", decoded, encoded,
      NumpyPipeline(decoded.type).multiply(scale).round().divide(scale).cast(encoded.type),
      NumpyPipeline(encoded.type).cast(decoded.type),
      {0.5 / scale, 8 * std::max(rounding_unit(decoded.type), rounding_unit(encoded.type))});
}

}  // namespace zarrcore
