// A change of a node's attributes. The writers of conventions return it; the owner of the node
// applies it, and all other attributes stay.
#pragma once

#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

struct AttributeChange {
  zarrcore::Json set = zarrcore::Json::object();
  std::vector<std::string> remove;

  bool empty() const { return set.empty() && remove.empty(); }
};

// The smallest change that turns `before` into `after`, both objects.
inline AttributeChange difference(const zarrcore::Json& before, const zarrcore::Json& after) {
  AttributeChange change;
  for (const auto& [name, value] : after.items()) {
    const zarrcore::Json* old = zarrcore::find_member(before, name);
    if (old == nullptr || *old != value) change.set[name] = value;
  }
  for (const auto& [name, value] : before.items()) {
    if (zarrcore::find_member(after, name) == nullptr) change.remove.push_back(name);
  }
  return change;
}

// `attributes`, an object, after the change. Other attributes keep their order.
inline zarrcore::Json apply_change(zarrcore::Json attributes, const AttributeChange& change) {
  for (const std::string& name : change.remove) attributes.erase(name);
  for (const auto& [name, value] : change.set.items()) attributes[name] = value;
  return attributes;
}

}  // namespace gdal_zarr
