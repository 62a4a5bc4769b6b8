// Compression of the pages of Parquet files.
#pragma once

#include "driver/stores/references/parquet/parquet_footer.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// Decodes `encoded` to exactly `size` bytes. Throws zarrcore::Error when it is corrupt or the codec
// is not supported.
zarrcore::Buffer decode_page(ParquetCodec codec, zarrcore::ByteSpan encoded, std::uint64_t size);

// As ParquetCodec::zstd.
zarrcore::Buffer encode_page(zarrcore::ByteSpan decoded);

}  // namespace gdal_zarr
