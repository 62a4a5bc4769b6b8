// A change of a node's attributes. The writers of conventions return one, so that the owner of the
// node keeps all other attributes.
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
AttributeChange difference(const zarrcore::Json& before, const zarrcore::Json& after);

// `attributes`, an object, after the change. Other attributes keep their order.
zarrcore::Json apply_change(zarrcore::Json attributes, const AttributeChange& change);

}  // namespace gdal_zarr
