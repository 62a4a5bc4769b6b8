// The names of metadata documents in the folder of a node, or in the folder of a store. Every
// format and every check "is this a Zarr?" uses these.
#pragma once

#include <optional>
#include <string_view>

namespace zarrcore {

// v3. In the draft of 2020, this is the entry point at the root.
inline constexpr std::string_view kNodeDocument = "zarr.json";
// v2.
inline constexpr std::string_view kV2GroupDocument = ".zgroup";
inline constexpr std::string_view kV2ArrayDocument = ".zarray";
inline constexpr std::string_view kV2AttributesDocument = ".zattrs";
inline constexpr std::string_view kV2ConsolidatedDocument = ".zmetadata";
// v1: names that other files have as well.
inline constexpr std::string_view kV1ArrayDocument = "meta";
inline constexpr std::string_view kV1AttributesDocument = "attrs";
// N5: a name that other files have as well; see is_n5_document().
inline constexpr std::string_view kN5Document = "attributes.json";

// Returns true if only metadata documents have this file name. Not of v1, whose names are too
// common.
constexpr bool is_document_name(std::string_view file_name) {
  for (const std::string_view name : {kNodeDocument, kV2GroupDocument, kV2ArrayDocument,
                                      kV2AttributesDocument, kV2ConsolidatedDocument}) {
    if (file_name == name) return true;
  }
  return false;
}

// Returns the document that shows that a folder is a Zarr node, or nullopt if the folder is not a
// node. `has` returns true if the folder has a file of this name; it is called as seldom as
// possible, with the most likely name first.
template <typename Has>
std::optional<std::string_view> find_node_document(const Has& has) {
  for (const std::string_view name :
       {kNodeDocument, kV2GroupDocument, kV2ArrayDocument, kV2ConsolidatedDocument}) {
    if (has(name)) return name;
  }
  // Other folders may have one of the two.
  if (has(kV1ArrayDocument) && has(kV1AttributesDocument)) return kV1ArrayDocument;
  return std::nullopt;
}

}  // namespace zarrcore
