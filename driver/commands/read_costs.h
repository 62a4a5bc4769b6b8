// What typical reads of an array cost, and which chunks would serve all of them better.
#pragma once

#include <string>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

struct ReadPattern {
  const char* name;
  zarrcore::Shape count;  // what is read, from the middle of the array
};

// Of two or more dimensions: a window of the last two, a row, and a series along the first; of two,
// a column.
std::vector<ReadPattern> patterns_of(const zarrcore::Shape& shape);

// Of the chunks with about as many elements, by powers of two, one that wastes the least: the
// present one if none wastes less, or if there are more than six dimensions.
zarrcore::Shape better_chunk(const zarrcore::Shape& shape, const zarrcore::Shape& present,
                             const std::vector<ReadPattern>& patterns);

// Reads in the store at a path, which is opened again, so that nothing is cached. Returns counts of
// chunks, bytes and requests, and seconds. Throws zarrcore::Error.
zarrcore::Json measure_read(const std::string& path, const std::string& node,
                            const ReadPattern& pattern);

}  // namespace gdal_zarr
