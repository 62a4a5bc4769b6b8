// Codecs of kerchunk and of virtual-tiff, for chunks in files of other formats: texts that an HDF5
// file stores elsewhere, ASCII tables of FITS, and images with the band varying fastest. kerchunk's
// `deflate` is in deflate.cpp.
#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/decoder_codec.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

// --- fill_hdf_strings ----------------------------------------------------------------------------

constexpr std::size_t kHeapIdSize = 16;

// Texts by the ids that the chunk has in their place.
using TextsById = std::unordered_map<std::string, std::string>;

class HdfStringsCodec final : public ArrayToBytesCodec {
 public:
  // Without `texts`, all elements are `text`.
  HdfStringsCodec(const ChunkSpec& spec, std::optional<TextsById> texts, std::string text)
      : count_(spec.byte_count() / sizeof(VariableElement)),
        texts_(std::move(texts)),
        text_(std::move(text)) {}

  std::optional<std::uint64_t> encoded_size() const override { return max_encoded_size(); }
  std::uint64_t max_encoded_size() const override {
    return checked_multiply(count_, kHeapIdSize).value_or(UINT64_MAX);
  }

  Buffer encode(ByteSpan /*decoded*/) const override { throw only_decodes("fill_hdf_strings"); }
  bool can_encode() const override { return false; }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    check_size("fill_hdf_strings: ", encoded.size(), max_encoded_size());
    // Each distinct text is stored once.
    std::unordered_map<const std::string*, VariableElement> stored;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::string_view id(reinterpret_cast<const char*>(encoded.data()) + i * kHeapIdSize,
                                kHeapIdSize);
      const std::string& text = texts_ ? find(id, i) : text_;
      const auto [found, is_new] = stored.try_emplace(&text);
      if (is_new) found->second = arena.keep(text);
      found->second.store(decoded, i);
    }
  }

 private:
  const std::string& find(std::string_view id, std::uint64_t index) const {
    const auto found = texts_->find(std::string(without_trailing(id, '\0')));
    if (found != texts_->end()) return found->second;
    throw Error("fill_hdf_strings: the id of element " + std::to_string(index) +
                " of the chunk is not in \"id_map\"");
  }

  std::uint64_t count_;
  std::optional<TextsById> texts_;
  std::string text_;
};

// An id whose bytes the members' names have as code points or, as kerchunk reads it, as UTF-8.
void add_text(TextsById& texts, const std::string& id, const std::string& text) {
  std::string bytes;
  for (const char32_t c : decode_utf8(id)) {
    if (c > 0xff) {
      bytes = id;
      break;
    }
    bytes.push_back(static_cast<char>(c));
  }
  texts.emplace(id, text);
  texts.emplace(std::move(bytes), text);
}

// --- FITSAscii -----------------------------------------------------------------------------------

struct Column {
  std::size_t encoded_size;
  NumpyType decoded;
};

// One number with blanks around it; Fortran writes 1.5D+03.
template <typename Number>
Number parse_field(std::string_view text) {
  std::vector<std::string> words = words_of(text);
  std::optional<Number> number;
  if (words.size() == 1) {
    std::string& word = words.front();
    if (std::is_floating_point_v<Number>) std::ranges::replace(word, 'D', 'E');
    number = parse_number<Number>(word.starts_with('+') ? word.substr(1) : word);
  }
  if (number) return *number;
  std::string shown(text);
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  throw Error("the field \"" + shown + "\" is not a number of its type");
}

void decode_field(ByteSpan field, const NumpyType& type, MutableByteSpan element) {
  if (type.type.kind == TypeKind::fixed_bytes) {
    std::fill(element.begin(), element.end(), std::byte{0});
    std::copy_n(field.begin(), std::min(field.size(), element.size()), element.begin());
    return;
  }
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  with_real_type(type.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using Number = std::conditional_t<std::is_same_v<T, Float16>, double, T>;
    store_element<T>(parse_field<Number>(without_trailing(text, '\0')), element.data());
  });
  if (type.endian != kHostEndian) swap_bytes(element, element.size());
}

// The columns of the decoded table and their widths in the encoded one.
std::vector<Column> parse_columns(const Json& configuration) {
  const auto types_of = [&](std::string_view key) {
    std::vector<NumpyType> types;
    const Json* list = find_member(configuration, key);
    if (list == nullptr || !list->is_array()) {
      throw Error("\"" + std::string(key) + "\" is not a list of columns");
    }
    for (const Json& column : *list) {
      const bool is_pair = column.is_array() && column.size() == 2 && column[1].is_string();
      auto type =
          is_pair ? parse_numpy_type(column[1].get_ref<const std::string&>()) : std::nullopt;
      if (!type) throw Error("the column " + excerpt(column) + " is not a name and a data type");
      types.push_back(*std::move(type));
    }
    return types;
  };
  const std::vector<NumpyType> encoded = types_of("indtypes");
  const std::vector<NumpyType> decoded = types_of("outdtypes");
  if (encoded.size() != decoded.size()) {
    throw Error("\"indtypes\" and \"outdtypes\" have different numbers of columns");
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    const DataType& type = decoded[i].type;
    if (type.kind != TypeKind::fixed_bytes) with_real_type(type, [](auto) {});
    if (encoded[i].type.kind != TypeKind::fixed_bytes) {
      throw Error("column " + std::to_string(i) + " of \"indtypes\" is not one of texts");
    }
    columns.push_back({memory_size(encoded[i].type.item_size), decoded[i]});
  }
  return columns;
}

// --- ChunkyCodec ---------------------------------------------------------------------------------

// The `bytes` codec after a transposition that reverses the dimensions.
class ChunkyCodec final : public ArrayToBytesCodec {
 public:
  explicit ChunkyCodec(CodecChain chain) : chain_(std::move(chain)) {}

  std::optional<std::uint64_t> encoded_size() const override { return chain_.encoded_size(); }
  std::uint64_t max_encoded_size() const override { return chain_.max_uncompressed_size(); }

  Buffer encode(ByteSpan decoded) const override { return chain_.encode_from_c_order(decoded); }
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    chain_.decode_to_c_order(encoded, decoded, arena);
  }

 private:
  CodecChain chain_;
};

}  // namespace

// Configuration: `id_map`, an object of texts by the ids that HDF5's global heap has for them, a
// text that all elements are, or null; `dtype` of the ids.
Codec make_fill_hdf_strings(const Json& configuration, const ChunkSpec& spec) {
  const std::string dtype = text_option(configuration, "dtype").value_or("|O");
  if (spec.data_type.kind != TypeKind::variable_string ||
      (dtype != "|O" && dtype != "O" && dtype != "S16" && dtype != "|S16")) {
    throw Error("\"dtype\" is \"" + dtype + "\" and the data type " + type_name(spec.data_type) +
                "; only ids of 16 bytes in an array of texts are supported");
  }
  const Json* map = find_member(configuration, "id_map");
  if (map == nullptr || !map->is_object()) {
    return std::make_unique<HdfStringsCodec>(spec, std::nullopt,
                                             text_option(configuration, "id_map").value_or(""));
  }
  TextsById texts;
  for (const auto& [id, text] : map->items()) {
    if (!text.is_string())
      throw Error("the text " + excerpt(text) + " in \"id_map\" is not a text");
    add_text(texts, id, text.get_ref<const std::string&>());
  }
  return std::make_unique<HdfStringsCodec>(spec, std::move(texts), "");
}

// Configuration: `indtypes` and `outdtypes`, names and types of the columns of text and of the
// fields that they become.
Codec make_fits_ascii(const Json& configuration, const ChunkSpec& spec) {
  const std::vector<Column> columns = parse_columns(configuration);
  std::uint64_t encoded_row = 0;
  std::uint64_t decoded_row = 0;
  for (const Column& column : columns) {
    encoded_row += column.encoded_size;
    decoded_row += column.decoded.type.item_size;
  }
  if (decoded_row != spec.data_type.item_size || encoded_row == 0) {
    throw Error("the fields of \"outdtypes\" have " + std::to_string(decoded_row) +
                " bytes, an element of the array " + std::to_string(spec.data_type.item_size));
  }
  const auto decode = [=](ByteSpan encoded, MutableByteSpan decoded) {
    EncodedInput input(encoded);
    DecodedOutput output(decoded);
    while (!input.is_empty()) {
      for (const Column& column : columns) {
        decode_field(input.take(column.encoded_size), column.decoded,
                     output.extend(column.decoded.type.item_size));
      }
    }
    return output.size();
  };
  return make_decoder_codec({"FITSAscii", decoded_row, decode, [=](std::uint64_t size) {
                               return checked_multiply(size / decoded_row, encoded_row);
                             }});
}

// Configuration: `endian`, little by default.
Codec make_chunky(const Json& configuration, const ChunkSpec& spec) {
  const std::string endian = text_option(configuration, "endian").value_or("little");
  const std::vector<CodecMetadata> codecs{{"transpose", {{"order", "F"}}},
                                          {"bytes", {{"endian", endian}}}};
  return std::make_unique<ChunkyCodec>(CodecChain(codecs, spec));
}

}  // namespace zarrcore
