// The registry: from the name of a codec to the function that makes it. A new codec is one file
// with such a function, declared in codecs.h, and one line in registry.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// Makes the codec that `metadata` names for chunks of `spec`. For a bytes-to-bytes codec `spec` is
// that of the array-to-bytes codec before it: what the bytes were made from. Throws Error when the
// configuration is not right.
using CodecFactory = Codec (*)(const Json& configuration, const ChunkSpec& spec);

// Null when no codec has this name.
CodecFactory find_codec(std::string_view name);

}  // namespace zarrcore
