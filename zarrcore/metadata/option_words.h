// Options of numcodecs codecs as GDAL's driver spells them: it writes some creation options as they
// were given, as text. `"shuffle": "BIT"` of blosc is 2, `"checksum": "NO"` of zstd is false.
#pragma once

#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// Gives such options of `codec`, a codec of numcodecs, the values that numcodecs has for them.
// Throws Error when a text means none.
void read_option_words(CodecMetadata& codec);

}  // namespace zarrcore
