#include "zarrcore/metadata/migration.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Filters of numcodecs that v3 applies to the array, in front of the codec `bytes`.
constexpr std::array<std::string_view, 7> kArrayFilters{
    "numcodecs.astype",   "numcodecs.bitround", "numcodecs.delta",     "numcodecs.fixedscaleoffset",
    "numcodecs.packbits", "numcodecs.quantize", "numcodecs.categorize"};

// Codecs that decode to elements by themselves, in place of `bytes`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kElementCodecs{{
    {"numcodecs.vlen-utf8", "vlen-utf8"},
    {"numcodecs.vlen-bytes", "vlen-bytes"},
}};

bool is_array_filter(const CodecMetadata& codec) {
  return std::ranges::find(kArrayFilters, codec.name) != kArrayFilters.end();
}

std::uint64_t item_size_of(const DataType& type) {
  return type.is_variable() ? 1 : type.item_size;
}

// Translates compressors for which v3 has its own specification.
CodecMetadata renamed(CodecMetadata codec, const DataType& type) {
  Json& configuration = codec.configuration;
  if (codec.name == "numcodecs.blosc") {
    static constexpr std::array<const char*, 3> kShuffles{"noshuffle", "shuffle", "bitshuffle"};
    const auto member = [&](const char* name, std::int64_t absent) {
      const Json* const value = find_member(configuration, name);
      return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : absent;
    };
    std::int64_t shuffle = member("shuffle", 1);
    if (shuffle == -1) shuffle = item_size_of(type) == 1 ? 2 : 1;
    if (shuffle < 0 || shuffle > 2) throw Error("the shuffle of blosc is not one of 0, 1 and 2");
    const std::string* const cname = find_string(configuration, "cname");
    return {"blosc",
            {{"typesize", std::min<std::uint64_t>(item_size_of(type), 255)},
             {"cname", cname == nullptr ? "lz4" : *cname},
             {"clevel", member("clevel", 5)},
             {"shuffle", kShuffles[static_cast<std::size_t>(shuffle)]},
             {"blocksize", member("blocksize", 0)}}};
  }
  if (codec.name == "numcodecs.gzip") return {"gzip", {{"level", configuration.value("level", 5)}}};
  if (codec.name == "numcodecs.zstd") {
    return {"zstd",
            {{"level", configuration.value("level", 0)},
             {"checksum", configuration.value("checksum", false)}}};
  }
  for (const auto& [old_name, name] : kElementCodecs) {
    if (codec.name == old_name) return {std::string(name)};
  }
  return codec;
}

}  // namespace

ArrayMetadata migrated_to_v3(ArrayMetadata array) {
  auto& codecs = array.codecs;
  const auto bytes = std::ranges::find(codecs, "bytes", &CodecMetadata::name);
  if (bytes != codecs.end()) {
    const auto filters_end = std::find_if_not(std::next(bytes), codecs.end(), is_array_filter);
    if (filters_end != std::next(bytes)) {
      // v3 applies them to values, not to bytes in the stored order.
      const std::string* const endian = find_string(bytes->configuration, "endian");
      if (endian != nullptr && *endian == "big") {
        throw Error("v3 cannot express the filter " + std::next(bytes)->name +
                    " of big-endian elements");
      }
      std::rotate(bytes, std::next(bytes), filters_end);
    }
  }
  for (CodecMetadata& codec : codecs) codec = renamed(std::move(codec), array.data_type);
  if (!array.fill_value && !array.data_type.is_variable()) {
    array.fill_value.emplace(array.data_type.item_size);
  }
  array.fill_value_is_mandatory = true;
  array.fill_value_attribute_is_base64 = true;
  // Unknown members of v2 documents contain nothing that v3 readers need.
  array.unknown_members = Json::object();
  return array;
}

}  // namespace zarrcore
