// FlexBuffers, which hold the configuration of repositories of format 2, and the properties of
// snapshots and repositories ("metadata"): names with values, which are FlexBuffers in files of
// format 2 and MessagePack in those of format 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/icechunk/flatbuffers.h"

namespace zarrcore::icechunk {

// The content of a FlexBuffer as JSON. Throws Error when it is damaged, and for types that Icechunk
// does not write: typed vectors, blobs.
Json read_flex_buffer(ByteSpan buffer);
std::string write_flex_buffer(const Json& json);

struct Property {
  std::string name;
  std::string value;  // as it is stored
};

Property text_property(std::string_view name, std::string_view text, int format);
// Nullopt if the value is not a text.
std::optional<std::string> text_of(const Property& property, int format);

// Sorted by name. Empty if `field` is absent.
std::vector<Property> read_properties(const FlatTable& table, unsigned field);
FlatTarget write_properties(FlatBuilder& builder, const std::vector<Property>& properties);

}  // namespace zarrcore::icechunk
