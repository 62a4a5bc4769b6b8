#include "zarrcore/hierarchy/merge_document.h"

#include <utility>

namespace zarrcore {
namespace {

const Json& member_or_null(const Json& object, const std::string& key) {
  static const Json& null = *new Json;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

Json merge_members(const Json& base, const Json& changed, Json current, bool is_document) {
  erase_members(current, [&](const std::string& key) {
    return base.contains(key) && !changed.contains(key);
  });
  for (const auto& [key, value] : changed.items()) {
    const Json& old = member_or_null(base, key);
    if (base.contains(key) && is_same_text(old, value)) continue;
    const bool is_merged = is_document && key == "attributes" && value.is_object() &&
                           (old.is_object() || old.is_null());
    const Json& now = member_or_null(current, key);
    if (is_merged && now.is_object()) {
      current[key] = merge_members(old.is_object() ? old : Json::object(), value, now, false);
    } else {
      copy_member(changed, key, current, key);
    }
  }
  return current;
}

}  // namespace

Json merge_document(const Json& base, const Json& changed, Json current) {
  if (!base.is_object() || !changed.is_object() || !current.is_object()) return changed;
  return merge_members(base, changed, std::move(current), true);
}

}  // namespace zarrcore
