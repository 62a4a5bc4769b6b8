// Changing the shape of an array. The caller puts the metadata with the new shape; this part is
// about the chunks: elements that are cut off must not reappear when the array grows again.
#pragma once

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/api.h"

namespace zarrcore {

// `array` has the old shape. Erases the chunks outside of `new_shape`, and those where the array is
// going to grow; in chunks that are only partly outside, the elements outside get the fill value.
// Chunks are found by listing the store, so their grid may be huge; keys that are not chunks are
// left alone.
//
// Call it after the metadata with the new shape has been put, and before anything else is written
// to the array. If it fails, no element inside the new shape is lost, and calling it again finishes
// the work. Throws Error, which names array and chunk, also for chunk grids that are not regular.
ZARRCORE_API void resize(const Array& array, const Shape& new_shape,
                         const WriteOptions& options = {});

// Throws the Error of resize() for an array that cannot get this shape in any store.
void check_resize(const Array& array, const Shape& new_shape);

}  // namespace zarrcore
