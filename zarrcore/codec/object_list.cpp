#include "zarrcore/codec/object_list.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {
namespace {

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

}  // namespace

ObjectListCodec::ObjectListCodec(std::string name, const ChunkSpec& spec)
    : name_(std::move(name)),
      has_shape_(name_.ends_with('2')),
      shape_(spec.shape),
      count_(spec.byte_count() / spec.data_type.item_size) {
  if (spec.data_type.kind != TypeKind::variable_string) {
    throw Error("this codec is not for elements of the type " + type_name(spec.data_type));
  }
  if (shape_.size() >= kMaxJsonDepth) throw Error("the array has too many dimensions");
}

Buffer ObjectListCodec::encode(ByteSpan decoded) const {
  const std::byte* element = decoded.data();
  Json list = nested_list(has_shape_ ? shape_ : Shape{count_}, element);
  if (has_shape_ && shape_.empty()) list = Json::array({std::move(list)});
  list.push_back("|O");
  if (has_shape_) list.push_back(shape_);
  return with_context(name_, [&] { return write(list); });
}

std::vector<const Json*> ObjectListCodec::elements_of(const Json& list) const {
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

void ObjectListCodec::check_kept(ByteSpan encoded) const {
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

void ObjectListCodec::decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const {
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

}  // namespace zarrcore
