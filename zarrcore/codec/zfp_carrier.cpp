// The `zfp` codec for types that the library does not compress (zarr-extensions, "zfp"): elements
// are converted to a type that it does. Integers of 8 and 16 bits are shifted to the top of 31
// bits; unsigned ones first have the middle of their range subtracted. Larger unsigned integers
// become signed ones of the same value, and small floats become float32.
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/zfp.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

template <typename Small>
constexpr std::int32_t kShift = 31 - 8 * static_cast<std::int32_t>(sizeof(Small));
template <typename Small>
constexpr std::int32_t kMiddle =
    std::is_signed_v<Small> ? 0 : std::int32_t{1} << (8 * sizeof(Small) - 1);

template <typename Element, typename Carrier>
Carrier promoted(Element element) {
  if constexpr (sizeof(Element) < sizeof(Carrier)) {
    return (element - kMiddle<Element>)*(Carrier{1} << kShift<Element>);
  } else {
    if (element > static_cast<Element>(std::numeric_limits<Carrier>::max())) {
      throw Error("zfp: the chunk has " + std::to_string(element) +
                  ", which is stored as a number with a sign and does not fit");
    }
    return static_cast<Carrier>(element);
  }
}

template <typename Element, typename Carrier>
Element demoted(Carrier carrier) {
  if constexpr (sizeof(Element) < sizeof(Carrier)) {
    using Limits = std::numeric_limits<Element>;
    return static_cast<Element>(std::clamp<Carrier>((carrier >> kShift<Element>)+kMiddle<Element>,
                                                    Limits::min(), Limits::max()));
  } else {
    return static_cast<Element>(std::max<Carrier>(carrier, 0));
  }
}

using SharedConverter = std::shared_ptr<const ElementConverter>;

// Converters from elements of an integer type to carriers, and back.
template <typename Element, typename Carrier>
std::pair<SharedConverter, SharedConverter> make_integer_converters() {
  return {make_element_converter([](const std::byte* from, std::byte* to) {
            store_element<Carrier>(promoted<Element, Carrier>(load_element<Element>(from)), to);
          }),
          make_element_converter([](const std::byte* from, std::byte* to) {
            store_element<Element>(demoted<Element, Carrier>(load_element<Carrier>(from)), to);
          })};
}

std::pair<SharedConverter, SharedConverter> make_converters(const DataType& type,
                                                            const DataType& carrier) {
  if (carrier.kind == TypeKind::floating) {
    return {make_numeric_converter(type, carrier), make_numeric_converter(carrier, type)};
  }
  return with_real_type(type, [&](auto tag) -> std::pair<SharedConverter, SharedConverter> {
    using Element = typename decltype(tag)::Type;
    if constexpr (std::is_integral_v<Element>) {
      using Carrier = std::conditional_t<sizeof(Element) == 8, std::int64_t, std::int32_t>;
      return make_integer_converters<Element, Carrier>();
    } else {
      throw not_real_numbers(type);
    }
  });
}

}  // namespace

std::optional<DataType> zfp_carrier(const DataType& type) {
  const bool is_signed = type.kind == TypeKind::signed_integer;
  if (type.is_integer() && type.bits == 0) {
    if (is_signed && type.item_size >= 4) return std::nullopt;
    return DataType{TypeKind::signed_integer, std::max<std::uint64_t>(4, type.item_size)};
  }
  if (type.kind == TypeKind::floating && type.item_size < 4) return DataType{type.kind, 4};
  return std::nullopt;
}

Codec make_zfp_carrier(const ChunkSpec& spec, const DataType& carrier, Codec zfp) {
  const auto [promote, demote] = make_converters(spec.data_type, carrier);
  const auto conversion = [](const SharedConverter& converter, std::uint64_t from_size,
                             std::uint64_t to_size) {
    return [=](ByteSpan from, MutableByteSpan to, Arena& /*arena*/) {
      converter->convert(from.data(), static_cast<std::ptrdiff_t>(from_size), to.data(),
                         static_cast<std::ptrdiff_t>(to_size), from.size() / from_size);
    };
  };
  const std::uint64_t size = spec.data_type.item_size;
  return make_converting_codec(spec, memory_size(carrier.item_size), std::move(zfp),
                               conversion(promote, size, carrier.item_size),
                               conversion(demote, carrier.item_size, size));
}

}  // namespace zarrcore
