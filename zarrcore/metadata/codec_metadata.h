// A codec as metadata names it. Only the codec registry knows the names and the members of their
// configurations.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore {

// An extension point of the v3 core specification: a name and its configuration.
struct NamedConfiguration {
  std::string name;
  Json configuration = Json::object();
  // If false, a reader that does not know the name may ignore it, where that is possible.
  bool must_understand = true;
};

// Reads `{"name": …, "configuration": {…}, "must_understand": …}`, or the name alone as a string.
// Throws Error that starts with `what`.
ZARRCORE_API NamedConfiguration parse_named_configuration(const Json& value, std::string_view what);

// The error about an unknown member `key` of a configuration.
ZARRCORE_API Error unknown_member(std::string_view key);

// Throws Error that starts with `what` when the configuration has a member that is not in `known`:
// it may change what the bytes mean.
ZARRCORE_API void check_configuration(const NamedConfiguration& named, std::string_view what,
                                      std::initializer_list<std::string_view> known);

// Makes the object that parse_named_configuration() reads, with only the members that it needs.
ZARRCORE_API Json format_named_configuration(const NamedConfiguration& named);

using CodecMetadata = NamedConfiguration;

// The list that parse_codec_list() reads.
ZARRCORE_API Json format_codec_list(const std::vector<CodecMetadata>& codecs);

// Reads a list of codecs.
ZARRCORE_API std::vector<CodecMetadata> parse_codec_list(const Json& value, std::string_view what);

// The list of codecs in the member `key`. Throws Error when it is missing.
ZARRCORE_API std::vector<CodecMetadata> codecs_member(const Json& configuration,
                                                      std::string_view key);

// The axes of `rank` dimensions, the last one first: the member `order` of a transpose codec.
std::vector<std::size_t> reversed_axes(std::size_t rank);

// Replaces the word "C" or "F" as `order` by the axes. The draft of the specification had the
// words, which GDAL 3.8 to 3.10 wrote.
void state_axes(CodecMetadata& transpose, std::size_t rank);

// The byte order that `value`, an item of the member `endian` of `bytes`, names.
Endian parse_endian(const Json& value);

// The shuffles of Blosc by their numbers, which numcodecs has in place of the names.
inline constexpr std::array<std::string_view, 3> kBloscShuffles{"noshuffle", "shuffle",
                                                                "bitshuffle"};

}  // namespace zarrcore
