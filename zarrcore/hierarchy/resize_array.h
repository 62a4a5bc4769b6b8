// Changing the shape of an array: its metadata and its chunks, in the order that loses nothing.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/context.h"
#include "zarrcore/base/api.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {

// Gives the array at `path` a new shape, and opens it again: objects opened before keep the old
// shape. Elements that are cut off are gone, and new ones have the fill value. Writers of the array
// must have been flushed. Throws Error, which names the array, when the number of dimensions
// differs, when the chunk grid is not regular, and when the store fails. If it fails to remove what
// was cut off, the array has its new shape and nothing inside of it is lost; resize() of the array
// as it was before (array/resize.h) finishes the work.
ZARRCORE_API std::shared_ptr<const Array> resize_array(Hierarchy& hierarchy,
                                                       const std::string& path, const Shape& shape,
                                                       const std::shared_ptr<Context>& context,
                                                       const WriteOptions& options = {});

}  // namespace zarrcore
