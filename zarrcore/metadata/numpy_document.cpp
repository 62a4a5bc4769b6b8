#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// Codecs of v3 that numcodecs has under the same name.
constexpr std::array<std::string_view, 7> kSharedCodecs{"blosc",     "crc32c", "gzip", "vlen-bytes",
                                                        "vlen-utf8", "zlib",   "zstd"};

// The ids that writers put in `filters`. All other ids are compressors, including codecs of
// libraries that the core does not know.
constexpr std::array<std::string_view, 19> kFilters{
    "adler32",         "astype",  "base64",     "bitround",         "categorize",
    "crc32",           "crc32c",  "delta",      "fixedscaleoffset", "fletcher32",
    "jenkins_lookup3", "json2",   "msgpack2",   "packbits",         "pickle",
    "quantize",        "shuffle", "vlen-bytes", "vlen-utf8"};

template <typename List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// A dtype whose units begin at `order`, which moves past them.
Json format_dtype(const DataType& type, const Endian*& order) {
  if (type.kind == TypeKind::structure) {
    Json fields = Json::array();
    for (const Field& field : *type.fields) {
      const std::size_t units = byte_units(field.type).size();
      const Endian* field_order = order;
      Json pair = Json::array({field.name, format_dtype(field.type, field_order)});
      if (!field.shape.empty()) pair.push_back(field.shape);
      fields.push_back(std::move(pair));
      order += units * field.count;
    }
    return fields;
  }
  const std::size_t units = byte_units(type).size();
  const auto text = format_numpy_type(type, units == 0 ? Endian::little : *order);
  if (!text) throw Error("NumPy has no data type " + type_name(type));
  order += units;
  return *text;
}

Json format_dtype(const NumpyDtype& dtype) {
  if (dtype.is_object) return "|O";
  const Endian* order = dtype.orders.data();
  return format_dtype(dtype.type, order);
}

// The byte orders that the configuration of a `bytes` codec states for all units, or for each.
std::vector<Endian> parse_orders(const Json& configuration, std::size_t unit_count) {
  const Json* endian = find_value(configuration, "endian");
  if (endian == nullptr) return std::vector(unit_count, Endian::little);
  if (!endian->is_array()) return std::vector(unit_count, parse_endian(*endian));
  if (endian->size() != unit_count) throw Error("\"endian\" does not fit the data type");
  std::vector<Endian> orders;
  for (const Json& order : *endian) orders.push_back(parse_endian(order));
  return orders;
}

// The numcodecs configuration of a codec, or null when numcodecs does not have it.
Json format_numcodec(const CodecMetadata& codec) {
  std::string_view id = codec.name;
  if (id.starts_with(kNumcodecs)) {
    id.remove_prefix(kNumcodecs.size());
  } else if (!contains(kSharedCodecs, id)) {
    return nullptr;
  }
  Json numcodec = Json::object();
  numcodec["id"] = id;
  add_members(numcodec, codec.configuration);
  if (codec.name == "blosc") {
    // numcodecs has numbers for the shuffles, and takes the item size of its input.
    if (const auto shuffle = numcodec.find("shuffle");
        shuffle != numcodec.end() && shuffle->is_string()) {
      const auto* number = std::ranges::find(kBloscShuffles, shuffle->get<std::string>());
      if (number == kBloscShuffles.end()) throw Error("blosc has no shuffle " + excerpt(*shuffle));
      *shuffle = number - kBloscShuffles.begin();
    }
    numcodec.erase("typesize");
  }
  // Only numcodecs 0.13 and later know the option, which is off by default.
  if (const Json* checksum = find_member(numcodec, "checksum");
      codec.name == "zstd" && checksum != nullptr && *checksum == false) {
    numcodec.erase("checksum");
  }
  return numcodec;
}

// The numcodecs configurations of all codecs after `bytes`.
Json::array_t format_numcodecs(std::span<const CodecMetadata> codecs) {
  Json::array_t numcodecs;
  for (const CodecMetadata& codec : codecs) {
    if (codec.name == "bytes") {
      throw Error("the codec \"" + codecs.front().name + "\" precedes \"bytes\"");
    }
    Json numcodec = format_numcodec(codec);
    if (numcodec.is_null()) throw Error("the codec \"" + codec.name + "\" is not in numcodecs");
    numcodecs.push_back(std::move(numcodec));
  }
  return numcodecs;
}

bool is_bits(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("0x");
}

Json format_numpy_fill_value(std::vector<std::byte> element, const NumpyDtype& dtype) {
  switch (dtype.type.kind) {
    case TypeKind::raw:
      return encode_base64(element);
    case TypeKind::structure:
      swap_to_orders(element, dtype);
      return encode_base64(element);
    default:
      break;
  }
  // Times are integers, also "not a time".
  Json value = format_fill_value(element, dtype.type.value_type());
  if (!dtype.type.is_numeric()) return value;
  // NumPy has one word for all NaNs.
  if (is_bits(value)) return "NaN";
  if (value.is_array()) std::replace_if(value.begin(), value.end(), is_bits, Json("NaN"));
  return value;
}

// Throws Error unless the members express all of the model: reads them back as if they were in a
// document, and compares. Reading ignores several things without an error.
void check_members(const NumpyMembers& members, const NumpyDtype& dtype,
                   const ArrayMetadata& array) {
  NumpyCodecs codecs{members.is_reversed, &members.filters, std::nullopt};
  if (!members.compressor.is_null()) {
    codecs.compressor = parse_numcodec(members.compressor, "the compressor");
  }
  NumpyDtype read = parse_numpy_dtype(members.dtype);
  const std::size_t codec_count = make_codecs(read, codecs, array.shape.size()).size();
  if (read.type != dtype.type || (!dtype.is_object && read.orders != dtype.orders)) {
    throw Error("NumPy's " + excerpt(members.dtype) + " is not the data type " +
                type_name(dtype.type));
  }
  if (codec_count != array.codecs.size()) {
    throw Error("numcodecs has no such chain of codecs");
  }
}

NumpyMembers make_members(const ArrayMetadata& array) {
  if (!array.chunk_runs.empty()) throw Error("the chunk grid is not regular");
  std::span<const CodecMetadata> codecs = array.codecs;
  const bool is_reversed = !codecs.empty() && codecs.front().name == "transpose";
  if (is_reversed) {
    const Json* order = find_member(codecs.front().configuration, "order");
    if (order == nullptr || *order != Json(reversed_axes(array.shape.size()))) {
      throw Error("the codec \"transpose\" does not reverse all axes");
    }
    codecs = codecs.subspan(1);
  }
  // Without a `bytes` codec a filter takes the elements as they are in memory.
  const DataType& type = array.data_type;
  NumpyDtype dtype{type, std::vector(byte_units(type).size(), Endian::little), type.is_variable()};
  if (!codecs.empty() && codecs.front().name == "bytes") {
    dtype.orders = parse_orders(codecs.front().configuration, dtype.orders.size());
    codecs = codecs.subspan(1);
  }
  Json::array_t filters = format_numcodecs(codecs);
  Json compressor;
  if (!filters.empty() && !contains(kFilters, filters.back()["id"].get_ref<const std::string&>())) {
    compressor = std::move(filters.back());
    filters.pop_back();
  }
  NumpyMembers members{
      format_dtype(dtype),
      array.fill_value ? format_numpy_fill_value(*array.fill_value, dtype) : Json(),
      is_reversed,
      filters.empty() ? Json() : Json(std::move(filters)),
      std::move(compressor),
  };
  check_members(members, dtype, array);
  return members;
}

}  // namespace

NumpyMembers make_numpy_members(const ArrayMetadata& array, std::string_view format,
                                ChunkKeyEncoding::Kind keys) {
  if (array.chunk_key_encoding.kind != keys) {
    throw Error(std::string(format) + " cannot express the chunk keys of this array");
  }
  return with_context({format, " cannot express this array"}, [&] { return make_members(array); });
}

Json attributes_with_dimension_names(const ArrayMetadata& array) {
  const auto& names = array.dimension_names;
  const auto has_name = [](const std::optional<std::string>& name) { return name.has_value(); };
  Json attributes = array.attributes;
  if (std::none_of(names.begin(), names.end(), has_name) &&
      (!array.shape.empty() || attributes.contains(kDimensionsAttribute))) {
    return attributes;  // a list that does not fit the shape stays
  }
  Json list = Json::array();
  for (const auto& name : names) list.push_back(name.value_or(""));
  attributes[std::string(kDimensionsAttribute)] = std::move(list);
  return attributes;
}

}  // namespace zarrcore
