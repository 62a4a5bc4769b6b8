#include "zarrcore/metadata/members.h"

#include <algorithm>

#include "zarrcore/base/error.h"

namespace zarrcore {

const Json& required_member(const Json& document, std::string_view key) {
  if (!document.is_object()) {
    throw Error("the document is " + std::string(describe_kind(document)) +
                " where an object is expected");
  }
  if (const Json* member = find_member(document, key)) return *member;
  throw Error("the member \"" + std::string(key) + "\" is missing");
}

Json object_member(const Json& document, std::string_view key) {
  const Json* member = find_member(document, key);
  if (member == nullptr || member->is_null()) return Json::object();
  if (member->is_object()) return *member;
  throw Error("\"" + std::string(key) + "\" is " + std::string(describe_kind(*member)) +
              " where an object is expected");
}

Shape parse_shape(const Json& document) {
  constexpr std::size_t kMaxRank = 256;
  Shape shape = as_unsigned_list(required_member(document, "shape"), "\"shape\"");
  if (shape.size() > kMaxRank) {
    throw Error("\"shape\" has " + std::to_string(shape.size()) + " dimensions; at most " +
                std::to_string(kMaxRank) + " are supported");
  }
  return shape;
}

Json other_members(const Json& document, std::span<const std::string_view> known) {
  Json others = Json::object();
  for (const auto& [key, value] : document.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      copy_member(document, key, others, key);
    }
  }
  return others;
}

void add_members(Json& document, const Json& others) {
  for (const auto& [key, value] : others.items()) {
    if (!document.contains(key)) copy_member(others, key, document, key);
  }
}

void check_zarr_format(const Json& document, int version) {
  const Json& format = required_member(document, "zarr_format");
  if (format.is_number_integer() && format == version) return;
  throw Error("\"zarr_format\" is " + excerpt(format) + " where " + std::to_string(version) +
              " is expected");
}

}  // namespace zarrcore
