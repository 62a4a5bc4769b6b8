// The `vlen-utf8` and `vlen-bytes` codecs (zarr-extensions; the object codecs of numcodecs with the
// same names): the number of elements, then for each the number of its bytes and the bytes. Numbers
// are unsigned 32-bit little-endian. In v2, zarr-python 3.0 also uses them for arrays of strings of
// fixed length.
#include <algorithm>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {
namespace {

constexpr std::size_t kNumber = sizeof(std::uint32_t);

class VlenCodec final : public ArrayToBytesCodec {
 public:
  explicit VlenCodec(const ChunkSpec& spec)
      : count_(spec.byte_count() / spec.data_type.item_size),
        is_text_(spec.data_type.kind == TypeKind::variable_string) {}

  std::optional<std::uint64_t> encoded_size() const override { return std::nullopt; }
  std::uint64_t max_encoded_size() const override { return max_stored_size(count_); }

  Buffer encode(ByteSpan decoded) const override {
    std::uint64_t size = kNumber;
    for_each_element(decoded, [&](std::uint64_t i, const VariableElement& element) {
      if (element.size > UINT32_MAX) {
        throw Error("vlen: element " + std::to_string(i) + " has " + std::to_string(element.size) +
                    " bytes, more than can be stored");
      }
      check_text(i, element.text());
      size += kNumber + element.size;
    });
    if (count_ > UINT32_MAX) {
      throw Error("vlen: " + std::to_string(count_) + " elements are more than can be stored");
    }
    Buffer encoded(size);
    std::byte* end = encoded.data();
    const auto append_number = [&end](std::uint64_t number) {
      store_integer(static_cast<std::uint32_t>(number), Endian::little, end);
      end += kNumber;
    };
    append_number(count_);
    for_each_element(decoded, [&](std::uint64_t /*i*/, const VariableElement& element) {
      append_number(element.size);
      if (element.size != 0) std::memcpy(end, element.data, element.text().size());
      end += element.size;
    });
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    if (encoded.size() < kNumber) throw Error("vlen: the chunk has no number of elements");
    const auto count = load_integer<std::uint32_t>(encoded.data(), Endian::little);
    if (count != count_) {
      throw Error("vlen: the chunk has " + std::to_string(count) + " elements where " +
                  std::to_string(count_) + " are expected");
    }
    // One copy of everything, including the few bytes of the lengths; the elements point into it.
    ByteSpan rest = arena.keep(encoded).subspan(kNumber);
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (rest.size() < kNumber) throw ends_within(i);
      const auto size = load_integer<std::uint32_t>(rest.data(), Endian::little);
      rest = rest.subspan(kNumber);
      if (rest.size() < size) throw ends_within(i);
      const VariableElement element{reinterpret_cast<const char*>(rest.data()), size};
      check_text(i, element.text());
      std::memcpy(decoded.data() + i * sizeof(element), &element, sizeof(element));
      rest = rest.subspan(size);
    }
    if (!rest.empty()) {
      throw Error("vlen: " + std::to_string(rest.size()) + " bytes follow the last element");
    }
  }

 private:
  template <typename Body>
  void for_each_element(ByteSpan decoded, const Body& body) const {
    for (std::uint64_t i = 0; i < count_; ++i) {
      body(i, load_element<VariableElement>(decoded.data() + i * sizeof(VariableElement)));
    }
  }

  static Error ends_within(std::uint64_t i) {
    return Error("vlen: the chunk ends within element " + std::to_string(i));
  }

  void check_text(std::uint64_t i, std::string_view text) const {
    if (is_text_ && !is_utf8(text)) {
      throw Error("vlen: element " + std::to_string(i) + " is not UTF-8");
    }
  }

  std::uint64_t count_;
  bool is_text_;
};

// For elements of fixed length, which are padded with zeros.
class PaddedVlenCodec final : public ArrayToBytesCodec {
 public:
  PaddedVlenCodec(const ChunkSpec& spec, TypeKind variable)
      : type_(spec.data_type),
        count_(spec.byte_count() / type_.item_size),
        codec_({{count_}, {variable, sizeof(VariableElement)}, {}}) {}

  std::optional<std::uint64_t> encoded_size() const override { return std::nullopt; }
  std::uint64_t max_encoded_size() const override { return codec_.max_encoded_size(); }

  Buffer encode(ByteSpan decoded) const override {
    std::vector<std::string> texts;
    Buffer elements(count_ * sizeof(VariableElement));
    texts.reserve(memory_size(count_));
    for (std::uint64_t i = 0; i < count_; ++i) {
      texts.push_back(
          text_of(decoded.subspan(memory_size(i * type_.item_size), memory_size(type_.item_size))));
      const VariableElement element{texts.back().data(), texts.back().size()};
      std::memcpy(elements.data() + i * sizeof(element), &element, sizeof(element));
    }
    return codec_.encode(elements.span());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& /*arena*/) const override {
    Arena arena;
    Buffer elements(count_ * sizeof(VariableElement));
    codec_.decode(encoded, elements.span(), arena);
    std::fill(decoded.begin(), decoded.end(), std::byte{0});
    for (std::uint64_t i = 0; i < count_; ++i) {
      const auto element =
          load_element<VariableElement>(elements.data() + i * sizeof(VariableElement));
      with_context({"vlen: element ", i}, [&] {
        store(element.text(),
              decoded.subspan(memory_size(i * type_.item_size), memory_size(type_.item_size)));
      });
    }
  }

 private:
  std::string text_of(ByteSpan element) const {
    std::string text =
        type_.kind == TypeKind::fixed_utf32
            ? encode_utf8(element)
            : std::string(reinterpret_cast<const char*>(element.data()), element.size());
    return std::string(without_trailing(text, '\0'));
  }

  void store(std::string_view text, MutableByteSpan element) const {
    std::u32string code_points;
    ByteSpan bytes = std::as_bytes(std::span(text));
    if (type_.kind == TypeKind::fixed_utf32) {
      code_points = decode_utf8(text);
      bytes = std::as_bytes(std::span(code_points));
    }
    if (bytes.size() > element.size()) {
      throw Error("it is longer than elements of the type " + type_name(type_));
    }
    std::copy(bytes.begin(), bytes.end(), element.begin());
  }

  DataType type_;
  std::uint64_t count_;
  VlenCodec codec_;
};

Codec make_vlen(const ChunkSpec& spec, TypeKind variable, TypeKind padded) {
  const TypeKind kind = spec.data_type.kind;
  if (kind == variable) return std::make_unique<VlenCodec>(spec);
  check_type(kind == padded, spec.data_type);
  return std::make_unique<PaddedVlenCodec>(spec, variable);
}

}  // namespace

// zarrs: for elements of either type.
Codec make_vlen_v2(const Json& /*configuration*/, const ChunkSpec& spec) {
  check_type(spec.data_type.is_variable(), spec.data_type);
  return std::make_unique<VlenCodec>(spec);
}

Codec make_vlen_bytes(const Json& /*configuration*/, const ChunkSpec& spec) {
  return make_vlen(spec, TypeKind::variable_bytes, TypeKind::fixed_bytes);
}

Codec make_vlen_utf8(const Json& /*configuration*/, const ChunkSpec& spec) {
  return make_vlen(spec, TypeKind::variable_string, TypeKind::fixed_utf32);
}

}  // namespace zarrcore
