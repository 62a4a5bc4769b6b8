// The object codecs json2 and msgpack2 of numcodecs: a chunk is one list of the elements, as JSON
// or MessagePack, nested by dimension, followed by two more items: the data type as NumPy spells it
// ("|O") and the shape. Their predecessors json and msgpack have no shape: the list is flat, or
// nested like the chunk. Elements are texts here; other elements of a list are read as their JSON
// text. They would be written as texts, so a chunk with such elements can only be replaced as a
// whole.
#include <algorithm>
#include <array>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

struct ListFormat {
  Json (*parse)(std::string_view encoded);
  Buffer (*write)(const Json& list);
};

Buffer write_json_list(const Json& list) {
  // ASCII only, like numcodecs: its bytes are the same in all encodings.
  return Buffer::copy_of(list.dump(-1, ' ', true));
}

Buffer write_msgpack_list(const Json& list) {
  const std::vector<std::uint8_t> bytes = Json::to_msgpack(list);
  return Buffer::copy_of(std::as_bytes(std::span(bytes)));
}

constexpr ListFormat kJsonList{parse_json, write_json_list};
constexpr ListFormat kMsgpackList{parse_msgpack, write_msgpack_list};

using Lengths = std::span<const std::uint64_t>;

// Makes a list of the elements of a box of `lengths` from `element` on, which moves past them.
Json nested_list(Lengths lengths, const std::byte*& element) {
  if (lengths.empty()) {
    const auto text = load_element<VariableElement>(element).text();
    element += sizeof(VariableElement);
    return std::string(text);
  }
  Json list = Json::array();
  for (std::uint64_t i = 0; i < lengths[0]; ++i) {
    list.push_back(nested_list(lengths.subspan(1), element));
  }
  return list;
}

// The inverse: adds the elements of `value` to `elements`.
void flatten(const Json& value, Lengths lengths, std::vector<const Json*>& elements) {
  if (lengths.empty()) {
    elements.push_back(&value);
    return;
  }
  if (!value.is_array() || value.size() != lengths[0]) {
    throw Error(excerpt(value) + " where a list of " + std::to_string(lengths[0]) +
                " items is expected");
  }
  for (const Json& item : value) flatten(item, lengths.subspan(1), elements);
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_binary()) {  // in MessagePack
    const auto& bytes = value.get_binary();
    return {bytes.begin(), bytes.end()};
  }
  return dump_json(value);
}

class ObjectListCodec final : public ArrayToBytesCodec {
 public:
  // Messages start with `name`. Only a codec whose lists include the shape has a name that ends
  // with 2. Throws Error when the elements of `spec` are not strings.
  ObjectListCodec(std::string name, const ListFormat& format, const ChunkSpec& spec)
      : name_(std::move(name)),
        format_(format),
        has_shape_(name_.ends_with('2')),
        shape_(spec.shape),
        count_(spec.byte_count() / spec.data_type.item_size) {
    check_type(spec.data_type.kind == TypeKind::variable_string, spec.data_type);
    if (shape_.size() >= kMaxJsonDepth) throw Error("the array has too many dimensions");
  }

  std::uint64_t max_encoded_size() const override { return max_stored_size(count_); }

  Buffer encode(ByteSpan decoded) const override {
    const std::byte* element = decoded.data();
    Json list = nested_list(has_shape_ ? shape_ : Shape{count_}, element);
    if (has_shape_ && shape_.empty()) list = Json::array({std::move(list)});
    list.push_back("|O");
    if (has_shape_) list.push_back(shape_);
    return with_context(name_, [&] { return format_.write(list); });
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    with_context(name_, [&] {
      const Json list = parse(encoded);
      const std::vector<const Json*> elements = elements_of(list);
      std::string texts;
      std::vector<std::size_t> ends;
      for (const Json* item : elements) {
        const std::string text = text_of(*item);
        if (!is_utf8(text)) {
          throw Error("element " + std::to_string(ends.size()) + " is not UTF-8");
        }
        texts += text;
        ends.push_back(texts.size());
      }
      arena.keep(texts, ends, decoded);
    });
  }

  bool round_trips() const override { return false; }
  void check_round_trip(ByteSpan encoded) const override {
    with_context(name_, [&] {
      const Json list = parse(encoded);
      const std::vector<const Json*> elements = elements_of(list);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i]->is_string()) continue;
        throw Error("element " + std::to_string(i) + " of the chunk is " + excerpt(*elements[i]) +
                    ", which would become a text: the chunk cannot be written in part");
      }
    });
  }

 private:
  Json parse(ByteSpan encoded) const {
    return format_.parse({reinterpret_cast<const char*>(encoded.data()), encoded.size()});
  }

  // The elements inside `list` in C order. Throws Error when it does not have this shape.
  std::vector<const Json*> elements_of(const Json& list) const {
    const std::size_t trailer = has_shape_ ? 2 : 1;
    if (!list.is_array() || list.size() < trailer) {
      throw Error(std::string("the chunk is not a list that ends with a data type") +
                  (has_shape_ ? " and a shape" : ""));
    }
    const std::size_t items = list.size() - trailer;
    // Where both have as many items, lists of the length of the second dimension are nested ones.
    const auto is_row = [&](const Json& item) {
      return item.is_array() && shape_.size() > 1 && item.size() == shape_[1];
    };
    const bool is_nested =
        items != count_ || (items != 0 && std::all_of(list.begin(), list.end() - 1, is_row));
    const Shape shape = has_shape_  ? as_unsigned_list(list.back(), "the shape")
                        : is_nested ? shape_
                                    : Shape{count_};
    if (shape != shape_ && shape != Shape{count_}) {
      throw Error("the shape is " + excerpt(list.back()) + " where " + excerpt(Json(shape_)) +
                  " is expected");
    }
    if (items != (shape.empty() ? 1 : shape[0])) {
      throw Error("the list has " + std::to_string(items) +
                  " items, which does not match its shape " + excerpt(Json(shape)));
    }
    std::vector<const Json*> elements;
    const Lengths lengths = Lengths(shape).subspan(shape.empty() ? 0 : 1);
    for (std::size_t i = 0; i < items; ++i) flatten(list[i], lengths, elements);
    return elements;
  }

  std::string name_;
  const ListFormat& format_;
  bool has_shape_;
  Shape shape_;
  std::uint64_t count_;
};

void check_encoding(const Json& configuration) {
  static constexpr std::array<std::string_view, 5> kEncodings{"utf-8", "utf8", "UTF-8", "ascii",
                                                              "us-ascii"};
  const auto encoding = text_option(configuration, "encoding");
  if (encoding && std::find(kEncodings.begin(), kEncodings.end(), *encoding) == kEncodings.end()) {
    throw Error("\"encoding\" is \"" + *encoding + "\", which is not supported");
  }
}

}  // namespace

Codec make_json(const Json& configuration, const ChunkSpec& spec) {
  check_encoding(configuration);
  return std::make_unique<ObjectListCodec>("json", kJsonList, spec);
}

Codec make_json2(const Json& configuration, const ChunkSpec& spec) {
  check_encoding(configuration);
  return std::make_unique<ObjectListCodec>("json2", kJsonList, spec);
}

Codec make_msgpack(const Json& /*configuration*/, const ChunkSpec& spec) {
  return std::make_unique<ObjectListCodec>("msgpack", kMsgpackList, spec);
}

Codec make_msgpack2(const Json& /*configuration*/, const ChunkSpec& spec) {
  return std::make_unique<ObjectListCodec>("msgpack2", kMsgpackList, spec);
}

}  // namespace zarrcore
