#include <initializer_list>
#include <set>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore {
namespace {

std::uint64_t length_bytes(const NamedConfiguration& type) {
  const Json* length = find_member(type.configuration, "length_bytes");
  if (length == nullptr) {
    throw Error("the data type " + type.name + " has no \"length_bytes\"");
  }
  const std::uint64_t bytes = as_unsigned(*length, "\"length_bytes\"");
  if (bytes == 0 || bytes > kMaxItemSize) {
    throw Error("the data type " + type.name + " has elements of " + std::to_string(bytes) +
                " bytes");
  }
  return bytes;
}

DataType parse_time(TypeKind kind, const NamedConfiguration& named) {
  DataType type{kind, 8};
  const Json& unit = required_member(named.configuration, "unit");
  const auto name =
      unit.is_string() ? find_time_unit(unit.get_ref<const std::string&>()) : std::nullopt;
  if (!name) throw Error("the data type " + named.name + " has the unknown unit " + excerpt(unit));
  type.time_unit.name = *name;
  if (const Json* scale = find_member(named.configuration, "scale_factor")) {
    const std::uint64_t count = as_unsigned(*scale, "\"scale_factor\"");
    if (count == 0 || count > INT32_MAX) {
      throw Error("the data type " + named.name + " has the scale factor " + excerpt(*scale));
    }
    type.time_unit.count = static_cast<std::int64_t>(count);
  }
  return type;
}

// Fields are objects, in the older `structured` pairs of name and type.
DataType parse_struct(const NamedConfiguration& named) {
  const Json& list = required_member(named.configuration, "fields");
  if (!list.is_array()) throw Error("\"fields\" is not a list");
  std::vector<Field> fields;
  for (const Json& item : list) {
    const bool is_pair = item.is_array() && item.size() == 2;
    const Json& name = is_pair ? item[0] : required_member(item, "name");
    if (!name.is_string()) throw Error("the name of a field is not a string");
    fields.push_back({name.get<std::string>(),
                      parse_v3_data_type(is_pair ? item[1] : required_member(item, "data_type"))});
  }
  return make_structure(std::move(fields));
}

Json make_struct(const DataType& type) {
  if (type.is_optional) {
    const Json inner = make_v3_data_type((*type.fields)[1].type);
    NamedConfiguration named{type_name(type), inner.is_string() ? Json{{"name", inner}} : inner};
    named.configuration.emplace("configuration", Json::object());
    return format_named_configuration(named);
  }
  Json fields = Json::array();
  std::set<std::string_view> names;
  for (const Field& field : *type.fields) {
    if (field.count != 1 || !field.shape.empty()) {
      throw Error("Zarr v3 cannot express the field \"" + field.name + "\" of several elements");
    }
    if (!names.insert(field.name).second) {
      throw Error("Zarr v3 cannot express two fields \"" + field.name + "\"");
    }
    fields.push_back({{"name", field.name}, {"data_type", make_v3_data_type(field.type)}});
  }
  return format_named_configuration({"struct", {{"fields", std::move(fields)}}});
}

}  // namespace

DataType parse_v3_data_type(const Json& value) {
  const NamedConfiguration type = parse_named_configuration(value, "\"data_type\"");
  const auto may_have = [&](std::initializer_list<std::string_view> members) {
    check_configuration(type, "the data type", members);
  };
  if (type.name == "fixed_length_utf32") {
    may_have({"length_bytes"});
    const std::uint64_t bytes = length_bytes(type);
    if (bytes % 4 != 0) {
      throw Error("the data type fixed_length_utf32 has elements of " + std::to_string(bytes) +
                  " bytes, which is not a multiple of 4");
    }
    return {TypeKind::fixed_utf32, bytes};
  }
  if (type.name == "null_terminated_bytes" || type.name == "raw_bytes" || type.name == "raw_bits") {
    may_have({"length_bytes"});
    const bool is_raw = type.name != "null_terminated_bytes";
    return {is_raw ? TypeKind::raw : TypeKind::fixed_bytes, length_bytes(type)};
  }
  if (type.name == "numpy.datetime64" || type.name == "numpy.timedelta64") {
    may_have({"unit", "scale_factor"});
    const bool is_point = type.name == "numpy.datetime64";
    return parse_time(is_point ? TypeKind::datetime : TypeKind::timedelta, type);
  }
  if (type.name == "struct" || type.name == "structured") {
    may_have({"fields"});
    return parse_struct(type);
  }
  if (type.name == "zarrs.optional") {
    may_have({"name", "configuration"});
    return make_optional(parse_v3_data_type(type.configuration));
  }
  if (const auto core = parse_type_name(type.name)) {
    may_have({});
    return *core;
  }
  throw Error("the data type \"" + type.name + "\" is not supported");
}

Json make_v3_data_type(const DataType& type) {
  const auto with_length = [&] {
    return format_named_configuration({type_name(type), {{"length_bytes", type.item_size}}});
  };
  switch (type.kind) {
    case TypeKind::datetime:
    case TypeKind::timedelta:
      return format_named_configuration(
          {type_name(type),
           {{"unit", std::string(type.time_unit.name)}, {"scale_factor", type.time_unit.count}}});
    case TypeKind::fixed_bytes:
    case TypeKind::fixed_utf32:
      return with_length();
    case TypeKind::structure:
      return make_struct(type);
    default:
      return type_name(type);
  }
}

}  // namespace zarrcore
