#include <algorithm>
#include <bit>

#include "zarrcore/icechunk/flatbuffers.h"
#include "zarrcore/icechunk/flex_types.h"

namespace zarrcore::icechunk {
namespace {

// Every number and every offset has eight bytes.
constexpr std::size_t kWidth = 8;
constexpr unsigned kWidthCode = 3;

class FlexWriter {
 public:
  std::string write(const Json& json) {
    const Value root = value(json);
    align();
    append_element(root);
    bytes_ += static_cast<char>(root.type << 2 | kWidthCode);
    bytes_ += static_cast<char>(kWidth);
    return std::move(bytes_);
  }

 private:
  // What a list or the end of the buffer has of a value: the value, or where it is.
  struct Value {
    unsigned type = kFlexNull;
    std::uint64_t bits = 0;
    bool is_place = false;
  };

  void align() { bytes_.resize((bytes_.size() + kWidth - 1) / kWidth * kWidth); }

  void append(std::uint64_t number) {
    bytes_.resize(bytes_.size() + kWidth);
    store_integer(number, Endian::little,
                  reinterpret_cast<std::byte*>(bytes_.data() + bytes_.size() - kWidth));
  }

  // Offsets lead back.
  void append_element(const Value& value) {
    append(value.is_place ? bytes_.size() - value.bits : value.bits);
  }

  Value placed(unsigned type) const { return {type, bytes_.size(), true}; }

  // Its size is in front of a text, and not of a key.
  Value text(unsigned type, std::string_view text) {
    align();
    if (type == kFlexString) append(text.size());
    const Value result = placed(type);
    bytes_ += text;
    bytes_ += '\0';
    return result;
  }

  Value value(const Json& json, std::size_t depth = 0) {
    if (depth > kMaxJsonDepth) refuse_json_depth();
    if (json.is_null()) return {};
    if (json.is_boolean()) return {kFlexBool, json.get<bool>() ? 1U : 0U};
    if (json.is_number_unsigned()) return {kFlexUnsigned, json.get<std::uint64_t>()};
    if (json.is_number_integer()) {
      return {kFlexInt, std::bit_cast<std::uint64_t>(json.get<std::int64_t>())};
    }
    if (json.is_number()) return {kFlexFloat, std::bit_cast<std::uint64_t>(json.get<double>())};
    if (json.is_string()) return text(kFlexString, json.get<std::string>());
    std::vector<Value> values;
    if (json.is_array()) {
      for (const Json& item : json) values.push_back(value(item, depth + 1));
      align();
      return list(kFlexVector, values);
    }
    // Sorted by their keys, which are searched by halving.
    std::vector<std::pair<std::string, const Json*>> members;
    for (const auto& [name, member] : json.items()) members.emplace_back(name, &member);
    std::ranges::sort(members);
    std::vector<Value> keys;
    for (const auto& [name, member] : members) keys.push_back(text(kFlexKey, name));
    for (const auto& [name, member] : members) values.push_back(value(*member, depth + 1));
    align();
    append(keys.size());
    const Value first_key = placed(kFlexKey);
    for (const Value& key : keys) append_element(key);
    append_element(first_key);
    append(kWidth);
    return list(kFlexMap, values);
  }

  // The number of elements, the elements, and their types.
  Value list(unsigned type, const std::vector<Value>& values) {
    append(values.size());
    const Value result = placed(type);
    for (const Value& value : values) append_element(value);
    for (const Value& value : values) {
      bytes_ += static_cast<char>(value.type << 2 | kWidthCode);
    }
    return result;
  }

  std::string bytes_;
};

}  // namespace

std::string write_flex_buffer(const Json& json) {
  return FlexWriter().write(json);
}

}  // namespace zarrcore::icechunk
