// The registry: from the name of a codec to the function that makes it. A new codec is one file in
// this folder, which defines such a function, and one line in registry.cpp. Codecs that need a
// library that the core does not use come from a provider.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// Makes a codec from its configuration. `spec` is its input: for an array-to-array or
// array-to-bytes codec the chunk; for a filter or a bytes-to-bytes codec after these, the chunk
// that was turned into bytes, with the data type of the elements that are now in them. Throws Error
// when the configuration is invalid.
using CodecFactory = std::function<Codec(const Json& configuration, const ChunkSpec& spec)>;

// Null when no codec has this name.
CodecFactory find_codec(std::string_view name);

// Returns true if the core itself has a codec of this name, not only a provider.
bool is_core_codec(std::string_view name);

struct CodecName {
  std::string_view name;
  std::string_view members;  // that its configuration may have, separated by spaces
};

// The codecs of the core, sorted.
std::vector<CodecName> codec_names();

// Returns the members of the configuration that the codec knows. Throws Error when the
// configuration of a codec of the core has other members: they may change what the bytes mean.
// Other members of imagecodecs' configurations are dropped instead: it also stores the settings of
// encoders, which differ between its versions.
Json known_members(std::string_view name, const Json& configuration);

// Returns true for the names of codecs of imagecodecs.
bool is_imagecodecs(std::string_view name);

// A configuration in which a filter of imagecodecs that views its input as an array gets shape and
// type of `spec`, in this byte order. Other codecs' configurations are unchanged.
Json with_array_members(std::string_view name, Json configuration, const ChunkSpec& spec,
                        Endian endian);

// A configuration with the byte order of the elements before the codec, if its `dtype` is their
// type: tifffile states little-endian types for filters of big-endian files too.
Json in_stored_order(Json configuration, const DataType& type, Endian endian);

// The byte order in which `bytes` stores elements; little if there is no such codec.
Endian stored_endian(std::span<const CodecMetadata> codecs);

// Finds codecs that the core does not have, by name; null for unknown names. May be called by any
// thread.
using CodecProvider = CodecFactory (*)(std::string_view name);

// Replaces the provider, of which a process has one; null removes it. Existing chains keep their
// codecs.
void set_codec_provider(CodecProvider provider);

// Why a codec whose name is known is not supported; empty for other names.
std::string_view refusal_reason(std::string_view name);

}  // namespace zarrcore
