// Options of numcodecs codecs as GDAL's built-in driver spells them: it writes some creation
// options as text, unchanged. `"shuffle": "BIT"` of blosc is 2, `"checksum": "NO"` of zstd is
// false.
#pragma once

#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// Replaces such options of `codec`, a codec of numcodecs, by the values that numcodecs has for
// them. Throws Error when a text is unknown.
void read_option_words(CodecMetadata& codec);

}  // namespace zarrcore
