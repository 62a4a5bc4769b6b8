// The properties of snapshots and repositories ("metadata"): names with values, which are
// MessagePack in files of format 1 and FlexBuffers in those of format 2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/icechunk/flat_builder.h"
#include "zarrcore/icechunk/flatbuffers.h"

namespace zarrcore::icechunk {

struct Property {
  std::string name;
  std::string value;  // as it is stored
};

Property text_property(std::string_view name, std::string_view text, int format);
// Nullopt if the value is not a text.
std::optional<std::string> text_of(const Property& property, int format);

// Sorted by name. Empty if `field` is absent.
std::vector<Property> read_properties(const FlatTable& table, unsigned field);
void write_properties(FlatBuilder& builder, FlatBuilder::Place place,
                      const std::vector<Property>& properties);

}  // namespace zarrcore::icechunk
