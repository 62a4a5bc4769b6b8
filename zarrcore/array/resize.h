// Giving an array another shape. The shape itself stands in the metadata, which the caller puts;
// this is about the chunks: what shrinks away must not come back when the array grows again.
#pragma once

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"

namespace zarrcore {

// Removes from the store what `array`, as it was before, has outside of `new_shape`, and what
// stands where it is going to grow: chunks there are erased, and of chunks that stay, elements
// there become the fill value. Chunks are found by listing the store, so their grid may be huge;
// what is not the key of a chunk is left alone.
//
// To be called after the metadata with the new shape has been put, and before anything else is
// written to the array: whatever goes wrong in between, all that stays in the array is there, and
// calling it again finishes the work. Throws Error, which names array and chunk, also for chunk
// grids that are not regular.
void resize(const Array& array, const Shape& new_shape, const WriteOptions& options = {});

}  // namespace zarrcore
