// The `categorize` filter of numcodecs: each text is stored as the number of its label, counted
// from one; zero decodes to the empty text. numcodecs also encodes texts that are not a label to
// zero; here that is an error. Configuration: `labels`, `dtype` of the texts ("<U8", "|S8" for
// their UTF-8, or "|O" for texts of any length), `astype` of the numbers.
//
// For texts of any length, it is the codec that turns the array into bytes.
#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"

namespace zarrcore {
namespace {

// The texts, and their numbers.
class Labels {
 public:
  explicit Labels(std::vector<std::string> texts) : texts_(std::move(texts)) {
    // As in numcodecs, the last of equal labels wins.
    for (std::size_t i = 0; i < texts_.size(); ++i) numbers_[texts_[i]] = i + 1;
  }

  std::size_t count() const { return texts_.size(); }
  const std::string& text(std::uint64_t number) const {
    return texts_[static_cast<std::size_t>(number - 1)];
  }
  // 0 if the text is not a label.
  std::uint64_t number(const std::string& text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? 0 : found->second;
  }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

// Reads and writes numbers of an integer type in the host's byte order.
class NumberFormat {
 public:
  explicit NumberFormat(const DataType& type) : size_(memory_size(type.item_size)) {
    if (type.kind != TypeKind::signed_integer && type.kind != TypeKind::unsigned_integer) {
      throw Error("\"astype\" is " + type_name(type) + ", not a type of integers");
    }
    const int bits = static_cast<int>(8 * size_) - (type.kind == TypeKind::signed_integer ? 1 : 0);
    max_ = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  }

  // The number at `bytes`, zero if no label has it.
  std::uint64_t load(const std::byte* bytes, const Labels& labels) const {
    const std::uint64_t number = load_unsigned(bytes, size_);
    return number > std::min<std::uint64_t>(max_, labels.count()) ? 0 : number;
  }

  void store(std::uint64_t number, std::byte* bytes) const {
    if (number > max_) {
      throw Error("categorize: the label " + std::to_string(number) +
                  " is too many for the type of the numbers");
    }
    store_unsigned(number, size_, bytes);
  }

 private:
  std::size_t size_;
  std::uint64_t max_ = 0;
};

// Texts as the bytes of elements without the padding.
std::vector<std::string> as_utf32(const std::vector<std::string>& labels) {
  std::vector<std::string> elements;
  for (const std::string& label : labels) {
    const std::u32string text = decode_utf8(label);
    elements.emplace_back(reinterpret_cast<const char*>(text.data()),
                          text.size() * sizeof(char32_t));
  }
  return elements;
}

// Texts of fixed length.
Codec make_label_filter(const NumpyType& decoded, const NumpyType& encoded,
                        const std::vector<std::string>& texts) {
  const std::size_t size = memory_size(decoded.type.item_size);
  const std::size_t number_size = memory_size(encoded.type.item_size);
  const std::size_t unit = decoded.type.kind == TypeKind::fixed_utf32 ? sizeof(char32_t) : 1;
  const NumberFormat numbers(encoded.type);
  const auto labels = std::make_shared<const Labels>(unit == 1 ? texts : as_utf32(texts));
  const auto encode = [=, type = decoded.type](const std::byte* from, std::byte* to,
                                               std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* element = from + i * size;
      text.assign(reinterpret_cast<const char*>(element), size);
      text.resize(memory_size(ceil_divide(without_trailing(text, '\0').size(), unit) * unit));
      const std::uint64_t number = labels->number(text);
      if (number == 0 && !text.empty()) {
        const std::vector<std::byte> empty(size);
        refuse_element("categorize", type, i, element, empty.data());
      }
      numbers.store(number, to + i * number_size);
    }
  };
  // Labels that are too long are cut off, as NumPy does.
  const auto decode = [=](const std::byte* from, std::byte* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* element = to + i * size;
      std::fill_n(element, size, std::byte{0});
      const std::uint64_t number = numbers.load(from + i * number_size, *labels);
      if (number == 0) continue;
      const std::string& text = labels->text(number);
      std::memcpy(element, text.data(), std::min<std::size_t>(text.size(), size));
    }
  };
  return make_element_filter({"categorize", decoded, encoded, encode, decode});
}

// Texts of any length.
class CategorizeCodec final : public ArrayToBytesCodec {
 public:
  CategorizeCodec(const ChunkSpec& spec, const NumpyType& encoded, std::vector<std::string> labels)
      : count_(spec.byte_count() / sizeof(VariableElement)),
        encoded_(encoded),
        numbers_(encoded.type),
        labels_(std::move(labels)) {}

  std::optional<std::uint64_t> encoded_size() const override { return max_encoded_size(); }
  std::uint64_t max_encoded_size() const override { return count_ * encoded_.type.item_size; }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded(max_encoded_size());
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::string text(VariableElement::load(decoded, i).text());
      const std::uint64_t number = labels_.number(text);
      if (number == 0 && !text.empty()) {
        throw Error("categorize: element " + std::to_string(i) + " of the chunk is " +
                    excerpt(Json(text)) + ", which is not a label");
      }
      numbers_.store(number, encoded.data() + i * encoded_.type.item_size);
    }
    swap_elements(encoded.span(), encoded_);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    check_size("categorize: ", encoded.size(), max_encoded_size());
    Buffer numbers = Buffer::copy_of(encoded);
    swap_elements(numbers.span(), encoded_);
    // Each label is stored once, when it first occurs. Number 0, for all other texts, is the empty
    // string.
    std::vector<VariableElement> stored(labels_.count() + 1);
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::uint64_t number =
          numbers_.load(numbers.data() + i * encoded_.type.item_size, labels_);
      VariableElement& element = stored[static_cast<std::size_t>(number)];
      if (number != 0 && element.data == nullptr && !labels_.text(number).empty()) {
        element = arena.keep(labels_.text(number));
      }
      element.store(decoded, i);
    }
  }

 private:
  std::uint64_t count_;
  NumpyType encoded_;
  NumberFormat numbers_;
  Labels labels_;
};

std::vector<std::string> parse_labels(const Json& configuration) {
  const Json* labels = find_member(configuration, "labels");
  if (labels == nullptr || !labels->is_array()) throw Error("\"labels\" is not a list of texts");
  std::vector<std::string> texts;
  for (const Json& label : *labels) {
    if (!label.is_string()) throw Error("the label " + excerpt(label) + " is not a text");
    texts.push_back(label.get<std::string>());
  }
  return texts;
}

}  // namespace

Codec make_categorize(const Json& configuration, const ChunkSpec& spec) {
  std::vector<std::string> labels = parse_labels(configuration);
  const NumpyType encoded =
      numpy_type_option(configuration, "astype", {DataType{TypeKind::unsigned_integer, 1}});
  const auto dtype = text_option(configuration, "dtype");
  if (spec.data_type.kind == TypeKind::variable_string) {
    if (dtype && *dtype != "|O" && *dtype != "O" && *dtype != "object") {
      throw Error("\"dtype\" is \"" + *dtype + "\" where the array has texts of any length");
    }
    return std::make_unique<CategorizeCodec>(spec, encoded, std::move(labels));
  }
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  if (decoded.type.kind != TypeKind::fixed_utf32 && decoded.type.kind != TypeKind::fixed_bytes) {
    throw Error("the data type " + type_name(decoded.type) + " is not one of texts");
  }
  return make_label_filter(decoded, encoded, labels);
}

}  // namespace zarrcore
