// The `vlen-utf8` and `vlen-bytes` codecs (zarr-extensions; the object codecs of numcodecs with the
// same names): the number of elements, then for each the number of its bytes and the bytes. Numbers
// are unsigned 32-bit little-endian. In v2, zarr-python 3.0 also uses them for arrays of strings of
// fixed length.
//
// And the `vlen-array` object codec of numcodecs: elements are arrays of numbers, of any length, in
// the layout of vlen-bytes. `dtype` is the type of the numbers. An element is read as the JSON text
// of a list: "[1, 2]" without blanks. zarrs has this codec for elements that are bytes, without
// `dtype`.
#include <algorithm>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

constexpr std::size_t kNumber = sizeof(std::uint32_t);

class VlenCodec final : public ArrayToBytesCodec {
 public:
  explicit VlenCodec(const ChunkSpec& spec)
      : count_(spec.byte_count() / spec.data_type.item_size),
        is_text_(spec.data_type.kind == TypeKind::variable_string) {}

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
      element.store(decoded, i);
      rest = rest.subspan(size);
    }
    if (!rest.empty()) {
      throw Error("vlen: " + std::to_string(rest.size()) + " bytes follow the last element");
    }
  }

 private:
  template <typename Body>
  void for_each_element(ByteSpan decoded, const Body& body) const {
    for (std::uint64_t i = 0; i < count_; ++i) body(i, VariableElement::load(decoded, i));
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

// A codec for as many elements of variable length as chunks of `spec` have.
Codec make_vlen_layout(const ChunkSpec& spec, TypeKind variable) {
  const std::uint64_t count = spec.byte_count() / spec.data_type.item_size;
  return std::make_unique<VlenCodec>(spec_with_zero({count}, {variable, sizeof(VariableElement)}));
}

// --- Elements of fixed length, which are padded with zeros ---------------------------------------

std::string unpadded_text(ByteSpan element, const DataType& type) {
  const std::string text =
      type.kind == TypeKind::fixed_utf32
          ? encode_utf8(element)
          : std::string(reinterpret_cast<const char*>(element.data()), element.size());
  return std::string(without_trailing(text, '\0'));
}

// `element` has been filled with zeros.
void store_padded(std::string_view text, const DataType& type, MutableByteSpan element) {
  std::u32string code_points;
  ByteSpan bytes = std::as_bytes(std::span(text));
  if (type.kind == TypeKind::fixed_utf32) {
    code_points = decode_utf8(text);
    bytes = std::as_bytes(std::span(code_points));
  }
  if (bytes.size() > element.size()) {
    throw Error("it is longer than elements of the type " + type_name(type));
  }
  std::ranges::copy(bytes, element.begin());
}

Codec make_padded_vlen(const ChunkSpec& spec, TypeKind variable) {
  const auto encode = [type = spec.data_type](ByteSpan from, MutableByteSpan to, Arena& arena) {
    const std::size_t size = memory_size(type.item_size);
    for (std::size_t i = 0; i < from.size() / size; ++i) {
      arena.keep(unpadded_text(from.subspan(i * size, size), type)).store(to, i);
    }
  };
  const auto decode = [type = spec.data_type](ByteSpan from, MutableByteSpan to, Arena&) {
    const std::size_t size = memory_size(type.item_size);
    std::ranges::fill(to, std::byte{0});
    for (std::size_t i = 0; i < to.size() / size; ++i) {
      with_context({"vlen: element ", i}, [&] {
        store_padded(VariableElement::load(from, i).text(), type, to.subspan(i * size, size));
      });
    }
  };
  return make_converting_codec(spec, sizeof(VariableElement), make_vlen_layout(spec, variable),
                               encode, decode);
}

// --- Arrays of numbers ---------------------------------------------------------------------------

// The JSON text of a list of numbers that are stored one after the other.
std::string list_of_numbers(std::string_view bytes, const NumpyType& type) {
  const std::size_t size = memory_size(type.type.item_size);
  if (bytes.size() % size != 0) {
    throw Error(std::to_string(bytes.size()) + " bytes are not whole numbers of " +
                std::to_string(size));
  }
  Json list = Json::array();
  for (; !bytes.empty(); bytes.remove_prefix(size)) {
    const ByteSpan stored = std::as_bytes(std::span(bytes.substr(0, size)));
    std::vector<std::byte> number(stored.begin(), stored.end());
    swap_elements(number, type);
    list.push_back(format_fill_value(number, type.type));
  }
  return dump_json(list);
}

// The inverse; an empty text has no numbers.
std::string stored_numbers(std::string_view text, const NumpyType& type) {
  if (text.empty()) return {};
  const Json list = parse_json(text);
  if (!list.is_array()) throw Error(excerpt(list) + " is not a list of numbers");
  std::string bytes;
  for (const Json& item : list) {
    std::vector<std::byte> number = parse_fill_value(item, type.type);
    swap_elements(number, type);
    bytes.append(reinterpret_cast<const char*>(number.data()), number.size());
  }
  return bytes;
}

Codec make_vlen(const ChunkSpec& spec, TypeKind variable, TypeKind padded) {
  const TypeKind kind = spec.data_type.kind;
  if (kind == variable) return std::make_unique<VlenCodec>(spec);
  check_type(kind == padded, spec.data_type);
  return make_padded_vlen(spec, variable);
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

Codec make_vlen_array(const Json& configuration, const ChunkSpec& spec) {
  if (spec.data_type.kind == TypeKind::variable_bytes) return std::make_unique<VlenCodec>(spec);
  check_type(spec.data_type.kind == TypeKind::variable_string, spec.data_type);
  text_member(configuration, "dtype");  // throws Error if it is missing
  const NumpyType number = numpy_type_option(configuration, "dtype", {});
  // Makes elements of the results of `convert` for the elements of `from`.
  const auto convert_each = [](ByteSpan from, MutableByteSpan to, Arena& arena,
                               const auto& convert) {
    std::string texts;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < to.size() / sizeof(VariableElement); ++i) {
      texts += with_context({"vlen-array: element ", i},
                            [&] { return convert(VariableElement::load(from, i).text()); });
      ends.push_back(texts.size());
    }
    arena.keep(texts, ends, to);
  };
  return make_converting_codec(
      spec, sizeof(VariableElement), make_vlen_layout(spec, TypeKind::variable_bytes),
      [=](ByteSpan from, MutableByteSpan to, Arena& arena) {
        convert_each(from, to, arena, [&](auto text) { return stored_numbers(text, number); });
      },
      [=](ByteSpan from, MutableByteSpan to, Arena& arena) {
        convert_each(from, to, arena, [&](auto bytes) { return list_of_numbers(bytes, number); });
      });
}

}  // namespace zarrcore
