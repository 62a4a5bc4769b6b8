// Comparing models. Attributes may hold NaN, which equals nothing: their texts are compared.
#pragma once

#include <gtest/gtest.h>

#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore::test {

inline std::string text_of(const std::vector<CodecMetadata>& codecs) {
  Json list = Json::array();
  for (const CodecMetadata& codec : codecs) list.push_back(format_named_configuration(codec));
  return dump_json(list);
}

inline void expect_same(const ArrayMetadata& a, const ArrayMetadata& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_TRUE(a.data_type == b.data_type);
  EXPECT_EQ(a.chunk_shape, b.chunk_shape);
  EXPECT_EQ(a.chunk_runs, b.chunk_runs);
  EXPECT_EQ(a.chunk_key_encoding, b.chunk_key_encoding);
  EXPECT_EQ(a.fill_value, b.fill_value);
  EXPECT_EQ(a.fill_value_is_mandatory, b.fill_value_is_mandatory);
  EXPECT_EQ(text_of(a.codecs), text_of(b.codecs));
  EXPECT_EQ(dump_json(a.attributes), dump_json(b.attributes));
  EXPECT_EQ(a.dimension_names, b.dimension_names);
  EXPECT_EQ(dump_json(a.unknown_members), dump_json(b.unknown_members));
  EXPECT_EQ(a.chunk_prefix, b.chunk_prefix);
}

inline void expect_same(const GroupMetadata& a, const GroupMetadata& b) {
  EXPECT_EQ(dump_json(a.attributes), dump_json(b.attributes));
  EXPECT_EQ(dump_json(a.unknown_members), dump_json(b.unknown_members));
}

}  // namespace zarrcore::test
