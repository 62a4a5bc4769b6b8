// A codec as metadata names it. Which names there are, and what their configuration may hold, is
// known to the codec registry alone.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore {

// An extension point of the v3 core specification: a name and its configuration.
struct NamedConfiguration {
  std::string name;
  Json configuration = Json::object();
  // False lets a reader who does not know the name go on without it, where that is possible.
  bool must_understand = true;
};

// Reads `{"name": …, "configuration": {…}, "must_understand": …}`, or the name alone as a string.
// Throws Error that starts with `what`.
NamedConfiguration parse_named_configuration(const Json& value, std::string_view what);

// The error about a member `key` of a configuration that nobody here knows.
Error unknown_member(std::string_view key);

// Throws Error that starts with `what` when the configuration has a member beside those in `known`:
// it may change what the bytes mean.
void check_configuration(const NamedConfiguration& named, std::string_view what,
                         std::initializer_list<std::string_view> known);

// The object that parse_named_configuration() reads, with no member more than it needs.
Json format_named_configuration(const NamedConfiguration& named);

using CodecMetadata = NamedConfiguration;

// Reads a list of codecs.
std::vector<CodecMetadata> parse_codec_list(const Json& value, std::string_view what);

}  // namespace zarrcore
