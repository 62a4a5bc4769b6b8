#include "zarrcore/metadata/codec_metadata.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"

namespace zarrcore {

NamedConfiguration parse_named_configuration(const Json& value, std::string_view what) {
  if (value.is_string()) return {value.get<std::string>()};
  const auto fail = [&](std::string_view problem) -> Error {
    return Error(std::string(what).append(" ").append(problem));
  };
  if (!value.is_object()) {
    throw fail("is " + std::string(describe_kind(value)) + " where an object is expected");
  }
  const std::string* name = find_string(value, "name");
  if (name == nullptr) throw fail("has no \"name\" that is a string");
  NamedConfiguration named{*name};
  if (const Json* configuration = find_value(value, "configuration")) {
    if (!configuration->is_object()) {
      throw fail("\"" + named.name + "\" has a configuration that is " +
                 std::string(describe_kind(*configuration)) + ", not an object");
    }
    named.configuration = *configuration;
  }
  if (const Json* must = find_member(value, "must_understand"); must != nullptr) {
    if (!must->is_boolean()) throw fail("has a \"must_understand\" that is not a boolean");
    named.must_understand = must->get<bool>();
  }
  return named;
}

Error unknown_member(std::string_view key) {
  return Error("the configuration has a member \"" + std::string(key) + "\" that is not supported");
}

void check_configuration(const NamedConfiguration& named, std::string_view what,
                         std::initializer_list<std::string_view> known) {
  for (const auto& member : named.configuration.items()) {
    const std::string& key = member.key();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    with_context({what, " \"", named.name, "\""}, [&] { throw unknown_member(key); });
  }
}

Json format_named_configuration(const NamedConfiguration& named) {
  Json value = Json::object();
  value["name"] = named.name;
  if (!named.configuration.empty()) value["configuration"] = named.configuration;
  if (!named.must_understand) value["must_understand"] = false;
  return value;
}

Json format_codec_list(const std::vector<CodecMetadata>& codecs) {
  Json list = Json::array();
  for (const CodecMetadata& codec : codecs) list.push_back(format_named_configuration(codec));
  return list;
}

std::vector<CodecMetadata> parse_codec_list(const Json& value, std::string_view what) {
  if (!value.is_array()) {
    throw Error(std::string(what) + " is " + std::string(describe_kind(value)) +
                " where a list of codecs is expected");
  }
  std::vector<CodecMetadata> codecs;
  for (const Json& codec : value) codecs.push_back(parse_named_configuration(codec, "a codec"));
  return codecs;
}

std::vector<CodecMetadata> codecs_member(const Json& configuration, std::string_view key) {
  return parse_codec_list(required_member(configuration, key), "\"" + std::string(key) + "\"");
}

std::vector<std::size_t> reversed_axes(std::size_t rank) {
  std::vector<std::size_t> axes;
  while (rank > 0) axes.push_back(--rank);
  return axes;
}

void state_axes(CodecMetadata& transpose, std::size_t rank) {
  const auto order = transpose.configuration.find("order");
  if (order == transpose.configuration.end() || (*order != "F" && *order != "C")) return;
  std::vector<std::size_t> axes = reversed_axes(rank);
  if (*order == "C") std::ranges::reverse(axes);
  *order = std::move(axes);
}

Endian parse_endian(const Json& value) {
  if (value == "little") return Endian::little;
  if (value == "big") return Endian::big;
  throw Error("\"endian\" is " + excerpt(value) + ", neither little nor big");
}

}  // namespace zarrcore
