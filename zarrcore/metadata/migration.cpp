#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {
namespace {

// Filters of numcodecs that v3 applies to the array, in front of the codec `bytes`.
constexpr std::array<std::string_view, 6> kArrayFilters{
    "numcodecs.astype",           "numcodecs.bitround", "numcodecs.delta",
    "numcodecs.fixedscaleoffset", "numcodecs.packbits", "numcodecs.quantize"};

// The other codecs of numcodecs that have this name in v3, as zarr-python registers them.
constexpr std::array<std::string_view, 10> kByteCodecs{
    "numcodecs.adler32", "numcodecs.bz2",        "numcodecs.crc32",
    "numcodecs.crc32c",  "numcodecs.fletcher32", "numcodecs.jenkins_lookup3",
    "numcodecs.lz4",     "numcodecs.lzma",       "numcodecs.shuffle",
    "numcodecs.zlib"};

// Codecs that decode to elements by themselves, in place of `bytes`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kElementCodecs{{
    {"numcodecs.vlen-utf8", "vlen-utf8"},
    {"numcodecs.vlen-bytes", "vlen-bytes"},
}};

bool is_array_filter(const CodecMetadata& codec) {
  return std::ranges::find(kArrayFilters, codec.name) != kArrayFilters.end();
}

bool has_fractions(const DataType& type) {
  return type.kind == TypeKind::floating || type.kind == TypeKind::complex;
}

// The type of the elements that one of these members of a filter states, if one does.
std::optional<DataType> stated_type(const CodecMetadata& filter,
                                    std::initializer_list<const char*> members) {
  for (const char* const member : members) {
    const std::string* const name = find_string(filter.configuration, member);
    const auto type = name != nullptr ? parse_numpy_name(*name) : std::nullopt;
    if (type) return type->type;
  }
  return std::nullopt;
}

// Filters of v2 take the bytes of a chunk for elements of any type. In v3 they have the array's,
// and readers convert values between numbers with and without fractions.
void check_types(std::span<const CodecMetadata> filters, const DataType& type) {
  auto elements = type.is_variable() ? std::nullopt : std::optional(type);
  for (const CodecMetadata& filter : filters) {
    const auto stated = stated_type(filter, {"decode_dtype", "dtype"});
    if (elements && stated && stated->item_size != elements->item_size) {
      throw Error("v3 cannot express the filter " + filter.name + " of elements of " +
                  std::to_string(stated->item_size) + " bytes where there are elements of " +
                  std::to_string(elements->item_size));
    }
    if (elements && stated && has_fractions(*stated) != has_fractions(*elements)) {
      throw Error("v3 cannot express the filter " + filter.name + " of elements of another type");
    }
    if (auto encoded = stated_type(filter, {"encode_dtype", "astype", "dtype"})) elements = encoded;
  }
}

std::uint64_t item_size_of(const DataType& type) {
  return type.is_variable() ? 1 : type.item_size;
}

// Translates compressors for which v3 has its own specification.
CodecMetadata renamed(CodecMetadata codec, const DataType& type) {
  Json& configuration = codec.configuration;
  const auto member = [&](const char* name, std::int64_t absent) {
    const Json* const value = find_member(configuration, name);
    return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : absent;
  };
  if (codec.name == "numcodecs.blosc") {
    std::int64_t shuffle = member("shuffle", 1);
    if (shuffle == -1) shuffle = item_size_of(type) == 1 ? 2 : 1;
    if (shuffle < 0 || shuffle > 2) throw Error("the shuffle of blosc is not one of 0, 1 and 2");
    const std::string* const cname = find_string(configuration, "cname");
    return {"blosc",
            {{"typesize", std::min<std::uint64_t>(item_size_of(type), 255)},
             {"cname", cname == nullptr ? "lz4" : *cname},
             {"clevel", member("clevel", 5)},
             {"shuffle", kBloscShuffles[static_cast<std::size_t>(shuffle)]},
             {"blocksize", member("blocksize", 0)}}};
  }
  if (codec.name == "numcodecs.gzip") return {"gzip", {{"level", member("level", 5)}}};
  if (codec.name == "numcodecs.zstd") {
    const Json* const checksum = find_member(configuration, "checksum");
    return {
        "zstd",
        {{"level", member("level", 0)}, {"checksum", checksum != nullptr && *checksum == true}}};
  }
  for (const auto& [old_name, name] : kElementCodecs) {
    if (codec.name == old_name) return {std::string(name)};
  }
  return codec;
}

// Throws Error for a codec that v3 has no name for, or only in front of `bytes`.
void check_names(const std::vector<CodecMetadata>& codecs) {
  bool is_after_bytes = false;
  for (const CodecMetadata& codec : codecs) {
    if (is_after_bytes && is_array_filter(codec)) {
      throw Error("v3 cannot express the filter " + codec.name + " of encoded bytes");
    }
    is_after_bytes = is_after_bytes || codec.name == "bytes";
    if (codec.name.starts_with("numcodecs.") && !is_array_filter(codec) &&
        std::ranges::find(kByteCodecs, codec.name) == kByteCodecs.end()) {
      throw Error("v3 has no name for the codec " + codec.name);
    }
  }
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
      check_types({std::next(bytes), filters_end}, array.data_type);
      std::rotate(bytes, std::next(bytes), filters_end);
    }
  }
  for (CodecMetadata& codec : codecs) codec = renamed(std::move(codec), array.data_type);
  check_names(codecs);
  if (!array.fill_value && !array.data_type.is_variable()) {
    array.fill_value.emplace(array.data_type.item_size);
  }
  // With the same separator, v3 has another key for each chunk.
  if (array.chunk_key_encoding.kind == ChunkKeyEncoding::Kind::draft) {
    array.chunk_key_encoding.kind = ChunkKeyEncoding::Kind::default_;
  }
  array.fill_value_is_mandatory = true;
  array.fill_value_attribute_is_base64 = true;
  // Unknown members of v2 documents contain nothing that v3 readers need.
  array.unknown_members = Json::object();
  return array;
}

}  // namespace zarrcore
