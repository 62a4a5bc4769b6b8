// Snappy's block format (https://github.com/google/snappy/blob/main/format_description.txt), which
// Parquet files of older writers use.
#pragma once

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// Decodes `encoded` to exactly `size` bytes. Throws zarrcore::Error when it is corrupt or has
// another size.
zarrcore::Buffer decode_snappy(zarrcore::ByteSpan encoded, std::uint64_t size);

}  // namespace gdal_zarr
