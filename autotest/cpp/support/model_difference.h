// Comparing models. Attributes may hold NaN, which equals nothing: their texts are compared.
#pragma once

#include <string>
#include <variant>

#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore::test {

inline std::string text_of(const std::vector<CodecMetadata>& codecs) {
  Json list = Json::array();
  for (const CodecMetadata& codec : codecs) list.push_back(format_named_configuration(codec));
  return dump_json(list);
}

inline std::string difference_of(const std::string& what, const std::string& a,
                                 const std::string& b) {
  return a == b ? "" : what + ": " + a + ", then " + b + '\n';
}
inline std::string difference_of(const std::string& what, const Json& a, const Json& b) {
  return difference_of(what, dump_json(a), dump_json(b));
}

// The members in which two models differ, a line for each; empty when they are equal.
inline std::string model_difference(const ArrayMetadata& a, const ArrayMetadata& b) {
  const auto unless = [](bool is_same, const char* what) {
    return is_same ? std::string() : std::string(what) + '\n';
  };
  return difference_of("shape", Json(a.shape), Json(b.shape)) +
         difference_of("data type", type_name(a.data_type), type_name(b.data_type)) +
         unless(a.data_type == b.data_type, "members of the data type") +
         difference_of("chunk shape", Json(a.chunk_shape), Json(b.chunk_shape)) +
         unless(a.chunk_runs == b.chunk_runs, "chunk runs") +
         unless(a.chunk_key_encoding == b.chunk_key_encoding, "chunk key encoding") +
         unless(a.fill_value == b.fill_value, "fill value") +
         unless(a.fill_value_is_mandatory == b.fill_value_is_mandatory, "mandatory fill value") +
         unless(a.fill_value_attribute_is_base64 == b.fill_value_attribute_is_base64,
                "spelling of _FillValue") +
         difference_of("codecs", text_of(a.codecs), text_of(b.codecs)) +
         difference_of("attributes", a.attributes, b.attributes) +
         unless(a.dimension_names == b.dimension_names, "dimension names") +
         difference_of("unknown members", a.unknown_members, b.unknown_members) +
         difference_of("chunk prefix", a.chunk_prefix, b.chunk_prefix);
}

inline std::string model_difference(const GroupMetadata& a, const GroupMetadata& b) {
  return difference_of("attributes", a.attributes, b.attributes) +
         difference_of("unknown members", a.unknown_members, b.unknown_members);
}

// Of two nodes of one kind.
inline std::string model_difference(const NodeMetadata& a, const NodeMetadata& b) {
  if (const auto* array = std::get_if<ArrayMetadata>(&a)) {
    return model_difference(*array, std::get<ArrayMetadata>(b));
  }
  return model_difference(std::get<GroupMetadata>(a), std::get<GroupMetadata>(b));
}

}  // namespace zarrcore::test
