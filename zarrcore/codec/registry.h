// The registry: from the name of a codec to the function that makes it. A new codec is one file in
// this folder, which defines such a function, and one line in registry.cpp. Codecs that need a
// library that the core does not use come from a provider.
#pragma once

#include <functional>
#include <optional>
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

// Whether the core itself has a codec of this name, not only a provider.
bool is_core_codec(std::string_view name);

struct CodecName {
  std::string_view name;
  std::string_view members;  // that its configuration may have, separated by spaces
};

// The codecs of the core, sorted.
std::vector<CodecName> codec_names();

// Throws Error when the configuration of a codec of the core has a member that the codec does not
// know: it may change what the bytes mean.
void check_configuration(std::string_view name, const Json& configuration);

// Finds codecs in addition to those of the core by their names; null for other names. Any thread
// may call it.
using CodecProvider = CodecFactory (*)(std::string_view name);

// Replaces the provider, of which a process has one; null removes it. Existing chains keep their
// codecs.
void set_codec_provider(CodecProvider provider);

// Why a codec whose name is known is not supported; empty for other names.
std::string_view refusal_reason(std::string_view name);

}  // namespace zarrcore
