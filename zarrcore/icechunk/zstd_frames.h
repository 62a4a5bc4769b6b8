// Zstandard frames (RFC 8878) that need not state their content's size, with a dictionary if they
// have one.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>

#include "zarrcore/base/buffer.h"

namespace zarrcore::icechunk {

struct FreeZstdDictionary {
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};
using ZstdDictionary = std::unique_ptr<ZSTD_DDict, FreeZstdDictionary>;

// Copies `bytes`.
ZstdDictionary make_zstd_dictionary(ByteSpan bytes);

// Throws Error when the frames are damaged or incomplete, or decompress to more than `max_size`
// bytes. Memory is allocated as content appears, whatever size a frame states.
Buffer decompress_zstd(ByteSpan frames, std::uint64_t max_size,
                       const ZSTD_DDict* dictionary = nullptr);

}  // namespace zarrcore::icechunk
