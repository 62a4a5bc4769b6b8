#include "driver/conventions/attribute_change.h"

namespace gdal_zarr {

using zarrcore::find_member;
using zarrcore::Json;

AttributeChange difference(const Json& before, const Json& after) {
  AttributeChange change;
  for (const auto& [name, value] : after.items()) {
    const Json* old = find_member(before, name);
    if (old == nullptr || *old != value) change.set[name] = value;
  }
  for (const auto& [name, value] : before.items()) {
    if (find_member(after, name) == nullptr) change.remove.push_back(name);
  }
  return change;
}

Json apply_change(Json attributes, const AttributeChange& change) {
  for (const std::string& name : change.remove) attributes.erase(name);
  for (const auto& [name, value] : change.set.items()) attributes[name] = value;
  return attributes;
}

}  // namespace gdal_zarr
