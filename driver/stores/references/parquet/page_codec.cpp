#include "driver/stores/references/parquet/page_codec.h"

#include <cstring>

#include "driver/stores/references/parquet/snappy.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/registry.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

std::unique_ptr<const zarrcore::BytesToBytesCodec> codec_of_core(std::string_view name) {
  zarrcore::ChunkSpec spec{{1}, zarrcore::DataType(), {std::byte{0}}};
  auto codec = zarrcore::find_codec(name)(zarrcore::Json::object(), spec);
  return std::get<std::unique_ptr<const zarrcore::BytesToBytesCodec>>(std::move(codec));
}

Buffer decode_with_core(std::string_view name, ByteSpan encoded, std::uint64_t size) {
  Buffer decoded = codec_of_core(name)->decode(encoded, size);
  if (decoded.size() != size) {
    throw Error("a page has " + std::to_string(decoded.size()) + " bytes, not " +
                std::to_string(size));
  }
  return decoded;
}

}  // namespace

Buffer decode_page(ParquetCodec codec, ByteSpan encoded, std::uint64_t size) {
  switch (codec) {
    case ParquetCodec::none:
      return Buffer::copy_of(encoded);
    case ParquetCodec::snappy:
      return decode_snappy(encoded, size);
    case ParquetCodec::gzip:
      return decode_with_core("gzip", encoded, size);
    case ParquetCodec::zstd:
      return decode_with_core("zstd", encoded, size);
    case ParquetCodec::lz4: {
      // The codec of numcodecs has the size before the block.
      if (size > INT32_MAX) throw Error("a page is too large");
      Buffer block(sizeof(std::uint32_t) + encoded.size());
      zarrcore::store_integer(static_cast<std::uint32_t>(size), zarrcore::Endian::little,
                              block.data());
      if (!encoded.empty()) {
        std::memcpy(block.data() + sizeof(std::uint32_t), encoded.data(), encoded.size());
      }
      return decode_with_core("numcodecs.lz4", block.span(), size);
    }
    default:
      throw Error("the compression " + std::to_string(static_cast<int>(codec)) +
                  " is not supported");
  }
}

Buffer encode_page(ByteSpan decoded) {
  return codec_of_core("zstd")->encode(decoded);
}

}  // namespace gdal_zarr
