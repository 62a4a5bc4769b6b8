// Types that zfp stores as another one; see zfp_carrier.cpp.
#pragma once

#include <optional>

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// The type as which zfp stores elements of `type`; nullopt for itself, and for types that it cannot
// store.
std::optional<DataType> zfp_carrier(const DataType& type);

// Makes an array-to-bytes codec for chunks of `spec` from one for the same chunks of the carrier.
Codec make_zfp_carrier(const ChunkSpec& spec, const DataType& carrier, Codec zfp);

}  // namespace zarrcore
