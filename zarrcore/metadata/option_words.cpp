#include "zarrcore/metadata/option_words.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace zarrcore {
namespace {

// GDAL does not distinguish upper from lower case.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> lower_case_words) {
  return std::find(lower_case_words.begin(), lower_case_words.end(), lower_case(text)) !=
         lower_case_words.end();
}

// The option if it is text, else null.
Json* find_text(CodecMetadata& codec, const char* option) {
  const auto found = codec.configuration.find(option);
  return found != codec.configuration.end() && found->is_string() ? &*found : nullptr;
}

void read_shuffle(CodecMetadata& blosc) {
  Json* shuffle = find_text(blosc, "shuffle");
  if (shuffle == nullptr) return;
  // For each number: GDAL's word, GDAL's alias, and the name in v3.
  static constexpr std::array<std::array<std::string_view, 3>, 3> kWords{
      {{"none", "0", "noshuffle"}, {"byte", "1", "shuffle"}, {"bit", "2", "bitshuffle"}}};
  const auto text = shuffle->get<std::string>();
  const auto* word = std::find_if(kWords.begin(), kWords.end(), [&](const auto& words) {
    return is_one_of(text, {words[0], words[1], words[2]});
  });
  if (word == kWords.end()) {
    throw Error("\"shuffle\" of blosc is " + excerpt(*shuffle) +
                " where 0, 1, 2, NONE, BYTE or BIT is expected");
  }
  *shuffle = word - kWords.begin();
}

void read_checksum(CodecMetadata& zstd) {
  const auto found = zstd.configuration.find("checksum");
  if (found == zstd.configuration.end()) return;
  Json* checksum = &*found;
  // In Python, 0 and 1 do as well.
  const bool is_number = checksum->is_number_integer() && (*checksum == 0 || *checksum == 1);
  if (!is_number && !checksum->is_string()) return;
  const auto text = is_number ? checksum->dump() : checksum->get<std::string>();
  if (is_one_of(text, {"yes", "true", "on", "1"})) {
    *checksum = true;
  } else if (is_one_of(text, {"no", "false", "off", "0"})) {
    // Only numcodecs 0.13 and later know the option, which is off by default.
    zstd.configuration.erase("checksum");
  } else {
    throw Error("\"checksum\" of zstd is " + excerpt(*checksum) +
                " where true, false, YES or NO is expected");
  }
}

}  // namespace

void read_option_words(CodecMetadata& codec) {
  if (codec.name == "numcodecs.blosc") read_shuffle(codec);
  if (codec.name == "numcodecs.zstd") read_checksum(codec);
}

}  // namespace zarrcore
