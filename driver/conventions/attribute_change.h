// What is to be changed among the attributes of a node. The writers of the conventions say it this
// way, so that whoever owns the node keeps all that they do not know.
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

// What makes `after` of `before`, both objects: nothing that is there already is set, nothing that
// is not there is removed.
AttributeChange difference(const zarrcore::Json& before, const zarrcore::Json& after);

// `attributes`, an object, after the change. What stays keeps its place.
zarrcore::Json apply_change(zarrcore::Json attributes, const AttributeChange& change);

}  // namespace gdal_zarr
