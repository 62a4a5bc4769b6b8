#include "zarrcore/metadata/numpy_array.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

Error unsupported(const Json& value) {
  return Error("the data type " + excerpt(value) + " is not supported");
}

// `["name", "<i2"]` or `["name", "<f4", [2, 2]]`; a name can also be a pair with a title first.
Field parse_field(const Json& value, std::vector<Endian>& orders) {
  if (!value.is_array() || value.size() < 2 || value.size() > 3) throw unsupported(value);
  const Json& name = value[0].is_array() && value[0].size() == 2 ? value[0][1] : value[0];
  if (!name.is_string()) throw unsupported(value);
  NumpyDtype dtype = parse_numpy_dtype(value[1]);
  if (dtype.is_object) throw unsupported(value);
  Field field{name.get<std::string>(), std::move(dtype.type)};
  if (value.size() == 3) {
    field.shape = value[2].is_array() ? as_unsigned_list(value[2], "a field's shape")
                                      : Shape{as_unsigned(value[2], "a field's shape")};
    field.count = checked_product(field.shape).value_or(UINT64_MAX);
    const auto size = checked_multiply(field.count, field.type.item_size);
    if (field.count == 0 || !size || *size > kMaxItemSize) throw unsupported(value);
  }
  for (std::uint64_t i = 0; i < field.count && !dtype.orders.empty(); ++i) {
    orders.insert(orders.end(), dtype.orders.begin(), dtype.orders.end());
  }
  return field;
}

Json endian_name(Endian endian) {
  return endian == Endian::little ? "little" : "big";
}

CodecMetadata make_bytes_codec(const NumpyDtype& dtype) {
  CodecMetadata codec{"bytes"};
  if (dtype.orders.empty()) return codec;
  const bool is_uniform = std::all_of(dtype.orders.begin(), dtype.orders.end(),
                                      [&](Endian order) { return order == dtype.orders.front(); });
  Json& endian = codec.configuration["endian"];
  if (is_uniform) {
    endian = endian_name(dtype.orders.front());
  } else {
    std::transform(dtype.orders.begin(), dtype.orders.end(), std::back_inserter(endian),
                   endian_name);
  }
  return codec;
}

// The first filter of an object array, which turns its elements into bytes.
struct ObjectCodec {
  std::string_view id;
  TypeKind kind;
  bool in_logical_order;  // independently of the memory order
};
constexpr std::array<ObjectCodec, 9> kObjectCodecs{{
    {"vlen-utf8", TypeKind::variable_string, false},
    {"vlen-bytes", TypeKind::variable_bytes, false},
    {"categorize", TypeKind::variable_string, false},
    {"fill_hdf_strings", TypeKind::variable_string, false},
    {"json", TypeKind::variable_string, true},
    {"json2", TypeKind::variable_string, true},
    {"msgpack", TypeKind::variable_string, true},
    {"msgpack2", TypeKind::variable_string, true},
    {"vlen-array", TypeKind::variable_string, false},
}};

const ObjectCodec& find_object_codec(const std::vector<CodecMetadata>& filters) {
  if (filters.empty()) throw Error("an array of objects has no filter that determines their type");
  const std::string_view id = std::string_view(filters.front().name).substr(kNumcodecs.size());
  for (const ObjectCodec& codec : kObjectCodecs) {
    if (codec.id == id) return codec;
  }
  if (id == "pickle") {
    throw Error("objects stored with pickle are not read, because that could run any code");
  }
  throw Error("objects stored with the filter \"" + std::string(id) + "\" are not supported");
}

// Options of numcodecs codecs as GDAL's built-in driver spells them: it writes some creation
// options as text, unchanged. `"shuffle": "BIT"` of blosc is 2, `"checksum": "NO"` of zstd is
// false.

// GDAL does not distinguish upper from lower case.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> lower_case_words) {
  return std::find(lower_case_words.begin(), lower_case_words.end(), lower_case(text)) !=
         lower_case_words.end();
}

// The option if it is text, else null.
Json* find_text(CodecMetadata& codec, const char* option) {
  const auto found = codec.configuration.find(option);
  return found != codec.configuration.end() && found->is_string() ? &*found : nullptr;
}

void read_shuffle(CodecMetadata& blosc) {
  Json* shuffle = find_text(blosc, "shuffle");
  if (shuffle == nullptr) return;
  static constexpr std::string_view kWords[] = {"none", "byte", "bit"};  // GDAL's
  const auto text = shuffle->get<std::string>();
  for (std::size_t i = 0; i < kBloscShuffles.size(); ++i) {
    if (!is_one_of(text, {kWords[i], std::to_string(i), kBloscShuffles[i]})) continue;
    *shuffle = i;
    return;
  }
  throw Error("\"shuffle\" of blosc is " + excerpt(*shuffle) +
              " where 0, 1, 2, NONE, BYTE or BIT is expected");
}

void read_checksum(CodecMetadata& zstd) {
  const auto found = zstd.configuration.find("checksum");
  if (found == zstd.configuration.end()) return;
  Json* checksum = &*found;
  // In Python, 0 and 1 do as well.
  const bool is_number = checksum->is_number_integer() && (*checksum == 0 || *checksum == 1);
  if (!is_number && !checksum->is_string()) return;
  const auto text = is_number ? checksum->dump() : checksum->get<std::string>();
  if (is_one_of(text, {"yes", "true", "on", "1"})) {
    *checksum = true;
  } else if (is_one_of(text, {"no", "false", "off", "0"})) {
    // Only numcodecs 0.13 and later know the option, which is off by default.
    zstd.configuration.erase("checksum");
  } else {
    throw Error("\"checksum\" of zstd is " + excerpt(*checksum) +
                " where true, false, YES or NO is expected");
  }
}

// Replaces such options of `codec` by the values that numcodecs has for them. Throws Error when a
// text is unknown.
void read_option_words(CodecMetadata& codec) {
  if (codec.name == "numcodecs.blosc") read_shuffle(codec);
  if (codec.name == "numcodecs.zstd") read_checksum(codec);
}

}  // namespace

NumpyDtype parse_numpy_dtype(const Json& value) {
  if (value.is_array()) {
    NumpyDtype dtype;
    std::vector<Field> fields;
    for (const Json& field : value) fields.push_back(parse_field(field, dtype.orders));
    // zarr-python's spelling of "V8" in the draft: [["", "|V8"]].
    if (fields.size() == 1 && fields[0].name.empty() && fields[0].shape.empty()) {
      dtype.type = fields[0].type;
      return dtype;
    }
    dtype.type = make_structure(std::move(fields));
    return dtype;
  }
  if (!value.is_string()) {
    throw Error("the data type is " + std::string(describe_kind(value)) +
                " where a string or a list of fields is expected");
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text == "|O" || text == "O") return {{}, {}, true};
  const auto parsed = parse_numpy_type(text);
  if (!parsed) throw unsupported(value);
  return {parsed->type, std::vector<Endian>(byte_units(parsed->type).size(), parsed->endian),
          false};
}

void swap_to_orders(std::vector<std::byte>& element, const NumpyDtype& dtype) {
  const std::vector<ByteUnit> units = byte_units(dtype.type);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (dtype.orders[i] == kHostEndian) continue;
    const auto unit = element.begin() + static_cast<std::ptrdiff_t>(units[i].offset);
    std::reverse(unit, unit + static_cast<std::ptrdiff_t>(units[i].size));
  }
}

CodecMetadata make_numcodec(std::string_view id, Json configuration) {
  CodecMetadata codec{std::string(kNumcodecs).append(id), std::move(configuration)};
  read_option_words(codec);
  return codec;
}

CodecMetadata parse_numcodec(const Json& value, std::string_view what) {
  const std::string* id = find_string(value, "id");
  if (id == nullptr) {
    throw Error(std::string(what) + " is not an object with an \"id\"");
  }
  Json configuration = value;
  configuration.erase("id");
  return make_numcodec(*id, std::move(configuration));
}

bool parse_is_reversed(const Json& document, std::string_view key) {
  const Json* order = find_member(document, key);
  if (order == nullptr || *order == "C") return false;
  if (*order == "F") return true;
  throw Error('"' + std::string(key) + "\" is " + excerpt(*order) + ", neither C nor F");
}

std::vector<CodecMetadata> make_codecs(NumpyDtype& dtype, const NumpyCodecs& codecs,
                                       std::size_t rank) {
  std::vector<CodecMetadata> filters;
  if (codecs.filters != nullptr && !codecs.filters->is_null()) {
    if (!codecs.filters->is_array()) throw Error("\"filters\" is neither a list nor null");
    for (const Json& filter : *codecs.filters)
      filters.push_back(parse_numcodec(filter, "a filter"));
  }
  bool is_reversed = codecs.is_reversed;
  std::vector<CodecMetadata> chain;
  if (dtype.is_object) {
    const ObjectCodec& object_codec = find_object_codec(filters);
    dtype.type = {object_codec.kind, sizeof(VariableElement)};
    is_reversed = is_reversed && !object_codec.in_logical_order;
  }
  if (is_reversed) {
    chain.insert(chain.begin(), {"transpose", {{"order", reversed_axes(rank)}}});
  }
  if (codecs.compressor) filters.push_back(*codecs.compressor);
  // zfp and blocks of N5 take the array itself; then so do the filters before them.
  const auto has = [&](std::string_view name) {
    return std::ranges::find(filters, name, &CodecMetadata::name) != filters.end();
  };
  const bool has_n5 = has("numcodecs.n5_wrapper");
  const bool has_zfp = has("numcodecs.zfpy");
  const bool is_little = dtype.orders.empty() || dtype.orders.front() == Endian::little;
  if (has_zfp && !is_little) throw Error("numcodecs.zfpy does not support this byte order");
  // So do codecs that store each string with its length, which leave no byte order.
  const bool has_vlen = !filters.empty() && (filters.front().name == "numcodecs.vlen-utf8" ||
                                             filters.front().name == "numcodecs.vlen-bytes");
  if (!dtype.is_object && !has_zfp && !has_n5 && !has_vlen)
    chain.push_back(make_bytes_codec(dtype));
  chain.insert(chain.end(), filters.begin(), filters.end());
  return chain;
}

std::vector<std::optional<std::string>> take_dimension_names(Json& attributes, std::size_t rank) {
  std::vector<std::optional<std::string>> names(rank);
  const Json* member = find_member(attributes, kDimensionsAttribute);
  if (member == nullptr || !member->is_array() || member->size() != rank) return names;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!(*member)[i].is_string()) return std::vector<std::optional<std::string>>(rank);
    if (auto name = (*member)[i].get<std::string>(); !name.empty()) names[i] = std::move(name);
  }
  attributes.erase(std::string(kDimensionsAttribute));
  return names;
}

std::optional<std::vector<std::byte>> parse_optional_fill_value(const Json& document,
                                                                const NumpyDtype& dtype) {
  const Json* fill = find_value(document, "fill_value");
  if (fill == nullptr) return std::nullopt;
  std::vector<std::byte> element = parse_fill_value(*fill, dtype.type);
  if (dtype.type.kind == TypeKind::structure && fill->is_string()) {
    swap_to_orders(element, dtype);
  }
  return element;
}

ArrayMetadata parse_numpy_array(const Json& document, const Json& attributes, const Json* filters,
                                std::optional<CodecMetadata> compressor) {
  ArrayMetadata array;
  array.shape = parse_shape(document);
  array.chunk_shape = parse_lengths(required_member(document, "chunks"), "\"chunks\"");
  NumpyDtype dtype = parse_numpy_dtype(required_member(document, "dtype"));
  array.codecs =
      make_codecs(dtype, {parse_is_reversed(document, "order"), filters, std::move(compressor)},
                  array.shape.size());
  array.data_type = dtype.type;
  array.fill_value = parse_optional_fill_value(document, dtype);
  array.attributes = attributes;
  array.dimension_names = take_dimension_names(array.attributes, array.shape.size());
  return array;
}

char parse_separator(const Json& object, std::string_view key, char fallback) {
  const Json* value = find_value(object, key);
  if (value == nullptr) return fallback;
  if (*value == "/") return '/';
  if (*value == ".") return '.';
  throw Error('"' + std::string(key) + "\" is " + excerpt(*value) + ", neither . nor /");
}

}  // namespace zarrcore
