// The `zfp` codec for types that the library does not compress (zarr-extensions, "zfp"): elements
// are converted to a type that it does. Integers of 8 and 16 bits are shifted to the top of 31
// bits; unsigned ones first have the middle of their range subtracted. Larger unsigned integers
// become signed ones of the same value, and small floats become float32.
#include <algorithm>
#include <cstring>
#include <limits>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/zfp.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {
namespace {

// Calls `body` with the TypeTags of the elements and their carriers.
template <typename Body>
void with_integers(const DataType& type, const Body& body) {
  const bool is_signed = type.kind == TypeKind::signed_integer;
  switch (type.item_size) {
    case 1:
      return is_signed ? body(TypeTag<std::int8_t>(), TypeTag<std::int32_t>())
                       : body(TypeTag<std::uint8_t>(), TypeTag<std::int32_t>());
    case 2:
      return is_signed ? body(TypeTag<std::int16_t>(), TypeTag<std::int32_t>())
                       : body(TypeTag<std::uint16_t>(), TypeTag<std::int32_t>());
    case 4:
      return body(TypeTag<std::uint32_t>(), TypeTag<std::int32_t>());
    default:
      return body(TypeTag<std::uint64_t>(), TypeTag<std::int64_t>());
  }
}

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

class ZfpCarrierCodec final : public ArrayToBytesCodec {
 public:
  ZfpCarrierCodec(const ChunkSpec& spec, const DataType& carrier, Codec codec)
      : type_(spec.data_type),
        carrier_(carrier),
        count_(spec.byte_count() / type_.item_size),
        zfp_(std::move(std::get<std::unique_ptr<const ArrayToBytesCodec>>(codec))) {}

  std::optional<std::uint64_t> encoded_size() const override { return std::nullopt; }
  std::uint64_t max_encoded_size() const override { return zfp_->max_encoded_size(); }

  Buffer encode(ByteSpan decoded) const override {
    Buffer carriers(count_ * carrier_.item_size);
    if (carrier_.kind == TypeKind::floating) {
      convert(type_, decoded.data(), carrier_, carriers.data());
    } else {
      with_integers(type_, [&](auto element, auto carrier) {
        using Element = typename decltype(element)::Type;
        using Carrier = typename decltype(carrier)::Type;
        for (std::uint64_t i = 0; i < count_; ++i) {
          store_element<Carrier>(promoted<Element, Carrier>(
                                     load_element<Element>(decoded.data() + i * sizeof(Element))),
                                 carriers.data() + i * sizeof(Carrier));
        }
      });
    }
    return zfp_->encode(carriers.span());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    Buffer carriers(count_ * carrier_.item_size);
    zfp_->decode(encoded, carriers.span(), arena);
    if (carrier_.kind == TypeKind::floating) {
      convert(carrier_, carriers.data(), type_, decoded.data());
      return;
    }
    with_integers(type_, [&](auto element, auto carrier) {
      using Element = typename decltype(element)::Type;
      using Carrier = typename decltype(carrier)::Type;
      for (std::uint64_t i = 0; i < count_; ++i) {
        store_element<Element>(
            demoted<Element, Carrier>(load_element<Carrier>(carriers.data() + i * sizeof(Carrier))),
            decoded.data() + i * sizeof(Element));
      }
    });
  }

 private:
  void convert(const DataType& from_type, const std::byte* from, const DataType& to_type,
               std::byte* to) const {
    make_numeric_converter(from_type, to_type)
        ->convert(from, static_cast<std::ptrdiff_t>(from_type.item_size), to,
                  static_cast<std::ptrdiff_t>(to_type.item_size), memory_size(count_));
  }

  DataType type_;
  DataType carrier_;
  std::uint64_t count_;
  std::unique_ptr<const ArrayToBytesCodec> zfp_;
};

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
  return std::make_unique<ZfpCarrierCodec>(spec, carrier, std::move(zfp));
}

}  // namespace zarrcore
