// The `vlen-array` object codec of numcodecs: elements are arrays of numbers, of any length, in the
// layout of vlen-bytes. `dtype` is the type of the numbers. An element is read as the JSON text of
// a list: "[1, 2]" without blanks. zarrs has this codec for elements that are bytes, without
// `dtype`.
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/dtype/dispatch.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {

Codec make_vlen_bytes(const Json& configuration, const ChunkSpec& spec);  // vlen.cpp

namespace {

class VlenArrayCodec final : public ArrayToBytesCodec {
 public:
  VlenArrayCodec(const ChunkSpec& spec, const NumpyType& number)
      : number_(number), count_(spec.byte_count() / sizeof(VariableElement)) {
    Codec codec = make_vlen_bytes(
        {}, spec_with_zero({count_}, {TypeKind::variable_bytes, sizeof(VariableElement)}));
    layout_ = std::move(std::get<std::unique_ptr<const ArrayToBytesCodec>>(codec));
  }

  std::optional<std::uint64_t> encoded_size() const override { return std::nullopt; }
  std::uint64_t max_encoded_size() const override { return layout_->max_encoded_size(); }

  Buffer encode(ByteSpan decoded) const override {
    Buffer elements(count_ * sizeof(VariableElement));
    Arena arena;
    each_element(decoded, elements.span(), [&](std::string_view text) {
      return arena.keep(text.empty() ? std::string() : numbers_of(parse_json(text)));
    });
    return layout_->encode(elements.span());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    Buffer elements(count_ * sizeof(VariableElement));
    Arena held;
    layout_->decode(encoded, elements.span(), held);
    std::string texts;
    std::vector<std::size_t> ends;
    each_element(elements.span(), decoded, [&](std::string_view bytes) {
      texts += text_of(bytes);
      ends.push_back(texts.size());
      return VariableElement{};
    });
    arena.keep(texts, ends, decoded);
  }

 private:
  // Sets each element of `to` to the result of `convert` for the same element of `from`.
  template <typename Convert>
  void each_element(ByteSpan from, MutableByteSpan to, const Convert& convert) const {
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::size_t at = memory_size(i * sizeof(VariableElement));
      const VariableElement element = with_context({"vlen-array: element ", i}, [&] {
        return convert(load_element<VariableElement>(from.data() + at).text());
      });
      std::memcpy(to.data() + at, &element, sizeof(element));
    }
  }

  std::string text_of(std::string_view bytes) const {
    const std::size_t size = memory_size(number_.type.item_size);
    if (bytes.size() % size != 0) {
      throw Error(std::to_string(bytes.size()) + " bytes are not whole numbers of " +
                  std::to_string(size));
    }
    Json list = Json::array();
    for (; !bytes.empty(); bytes.remove_prefix(size)) {
      const ByteSpan stored = std::as_bytes(std::span(bytes.substr(0, size)));
      std::vector<std::byte> number(stored.begin(), stored.end());
      swap_elements(number, number_);
      list.push_back(format_fill_value(number, number_.type));
    }
    return dump_json(list);
  }

  std::string numbers_of(const Json& list) const {
    if (!list.is_array()) throw Error(excerpt(list) + " is not a list of numbers");
    std::string bytes;
    for (const Json& item : list) {
      std::vector<std::byte> number = parse_fill_value(item, number_.type);
      swap_elements(number, number_);
      bytes.append(reinterpret_cast<const char*>(number.data()), number.size());
    }
    return bytes;
  }

  NumpyType number_;
  std::uint64_t count_;
  std::unique_ptr<const ArrayToBytesCodec> layout_;
};

}  // namespace

Codec make_vlen_array(const Json& configuration, const ChunkSpec& spec) {
  if (spec.data_type.kind == TypeKind::variable_bytes) return make_vlen_bytes({}, spec);
  check_type(spec.data_type.kind == TypeKind::variable_string, spec.data_type);
  text_member(configuration, "dtype");  // throws Error if it is missing
  const NumpyType number = numpy_type_option(configuration, "dtype", {});
  return std::make_unique<VlenArrayCodec>(spec, number);
}

}  // namespace zarrcore
