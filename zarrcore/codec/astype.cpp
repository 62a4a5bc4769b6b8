// The `astype` filter of numcodecs: elements are cast to another type, and back on decoding.
// Configuration: `encode_dtype`, and `decode_dtype`, by default the array's type.
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

}  // namespace

Codec make_astype(const Json& configuration, const ChunkSpec& spec) {
  if (!text_option(configuration, "encode_dtype")) throw Error("\"encode_dtype\" is missing");
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

}  // namespace zarrcore
