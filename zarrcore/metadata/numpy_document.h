// The inverse of numpy_array.h: the members that describe an array in documents of v1 and v2, from
// the one model. They cannot express all of the model; an Error names what they cannot.
#pragma once

#include <string_view>

#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

struct NumpyMembers {
  Json dtype;
  Json fill_value;   // null when it is undefined
  bool is_reversed;  // whether the memory order is F
  Json filters;      // a list of numcodecs configurations; null when there are none
  Json compressor;   // one; null when there is none
};

// The members that describe elements and codecs. `format` ("Zarr v2") is for messages.
NumpyMembers make_numpy_members(const ArrayMetadata& array, std::string_view format);

// The attributes, with xarray's names of dimensions unless no dimension has a name. An array
// without dimensions gets an empty list of names, which xarray needs.
Json attributes_with_dimension_names(const ArrayMetadata& array);

}  // namespace zarrcore
