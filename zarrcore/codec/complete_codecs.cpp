// complete_codecs() of codec_chain.h.
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {
namespace {

// A member of a configuration that may be left out.
struct OptionalMember {
  std::string_view codec;
  std::string_view key;
  std::string_view fallback;  // JSON
  // The range of an integer; both zero if any value is allowed.
  std::int64_t min = 0;
  std::int64_t max = 0;
};

constexpr OptionalMember kOptionalMembers[] = {
    {"blosc", "cname", R"("lz4")"},
    {"blosc", "clevel", "5", 0, 9},
    {"blosc", "blocksize", "0", 0, INT_MAX},
    {"bytes", "endian", R"("little")"},
    {"gzip", "level", "6", 0, 9},
    {"n5_default", "codecs", "[]"},
    {"numcodecs.blosc", "cname", R"("lz4")"},
    {"numcodecs.blosc", "clevel", "5", 0, 9},
    {"numcodecs.blosc", "shuffle", "1", -1, 2},
    {"numcodecs.blosc", "blocksize", "0", 0, INT_MAX},
    {"numcodecs.bz2", "level", "1", 1, 9},
    {"numcodecs.gzip", "level", "1", 0, 9},
    {"numcodecs.lz4", "acceleration", "1", 0, 65537},
    {"numcodecs.zlib", "level", "1", -1, 9},
    {"numcodecs.zstd", "level", "3", -131072, 22},
    {"packbits", "padding_encoding", R"("none")"},
    {"sharding_indexed", "codecs", "[]"},
    {"sharding_indexed", "index_codecs", R"(["bytes", "crc32c"])"},
    {"sharding_indexed", "index_location", R"("end")"},
    {"zlib", "level", "6", -1, 9},
    {"zstd", "level", "3", -131072, 22},
    {"zstd", "checksum", "false"},
};

// Filters, and the member that is the type of their elements.
constexpr std::pair<std::string_view, const char*> kElementTypes[] = {
    {"numcodecs.astype", "decode_dtype"},
    {"numcodecs.delta", "dtype"},
    {"numcodecs.fixedscaleoffset", "dtype"},
    {"numcodecs.quantize", "dtype"},
};

void check_member_range(const OptionalMember& member, const Json& value) {
  if (member.min == member.max || !value.is_number_integer()) return;
  const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX;
  const std::int64_t number = fits ? value.get<std::int64_t>() : INT64_MAX;
  if (number >= member.min && number <= member.max) return;
  throw Error('"' + std::string(member.key) + "\" is " + excerpt(value) + ", which is not from " +
              std::to_string(member.min) + " to " + std::to_string(member.max));
}

// Completes the codecs of the inner chunks of shards, and of the index.
void complete_shards(Json& configuration, const ChunkSpec& spec) {
  const auto complete = [&](const char* key, const ChunkSpec& of_list) {
    const std::string what = '"' + std::string(key) + '"';
    const auto codecs = parse_codecs_or_one(configuration[key], what);
    configuration[key] =
        with_context(what, [&] { return format_codec_list(complete_codecs(codecs, of_list)); });
  };
  ChunkSpec inner = spec;
  inner.shape = as_unsigned_list(required_member(configuration, "chunk_shape"), "\"chunk_shape\"");
  complete("codecs", inner);
  // All that codecs of an index depend on; its lengths follow from the shard's.
  Shape index_shape(inner.shape.size(), 1);
  index_shape.push_back(2);
  complete("index_codecs", spec_with_zero(std::move(index_shape),
                                          {TypeKind::unsigned_integer, sizeof(std::uint64_t)}));
}

// Completes the codecs for elements of blocks of N5, whose first axis is the fastest.
void complete_n5(Json& configuration, const ChunkSpec& spec) {
  auto codecs = parse_codecs_or_one(configuration["codecs"], "\"codecs\"");
  if (spec.shape.size() > 1 && (codecs.empty() || codecs.front().name != "transpose")) {
    codecs.insert(codecs.begin(), {"transpose", {{"order", "F"}}});
  }
  codecs = with_n5_bytes(std::move(codecs), spec.data_type);
  configuration["codecs"] = format_codec_list(complete_codecs(codecs, spec));
}

void complete_blosc(Json& configuration, const DataType& type) {
  if (find_value(configuration, "typesize") == nullptr) {
    const bool can_shuffle = !type.is_variable() && type.item_size >= 1 && type.item_size <= 255;
    configuration["typesize"] = can_shuffle ? type.item_size : 1;
  }
  check_member_range({"", "typesize", "", 1, 255}, configuration["typesize"]);
  if (find_value(configuration, "shuffle") == nullptr) {
    configuration["shuffle"] = configuration["typesize"] == 1 ? "bitshuffle" : "shuffle";
  }
}

void complete_configuration(CodecMetadata& codec, const ChunkSpec& spec) {
  Json& configuration = codec.configuration;
  for (const OptionalMember& member : kOptionalMembers) {
    if (member.codec != codec.name) continue;
    if (find_value(configuration, member.key) == nullptr) {
      configuration[std::string(member.key)] = parse_json(member.fallback);
    }
    check_member_range(member, configuration[std::string(member.key)]);
  }
  for (const auto& [name, key] : kElementTypes) {
    if (name != codec.name || find_value(configuration, key) != nullptr) continue;
    if (auto type = format_numpy_type(spec.data_type, Endian::little)) {
      configuration[key] = *std::move(type);
    }
  }
  if (codec.name == "blosc") complete_blosc(configuration, spec.data_type);
  if (codec.name == "transpose") state_axes(codec, spec.shape.size());
  if (codec.name == "sharding_indexed") complete_shards(configuration, spec);
  if (codec.name == "n5_default") complete_n5(configuration, spec);
  if (codec.name == "numcodecs.shuffle" && find_value(configuration, "elementsize") == nullptr) {
    configuration["elementsize"] = spec.data_type.is_variable() ? 1 : spec.data_type.item_size;
  }
}

}  // namespace

CodecMetadata default_array_to_bytes(const DataType& type) {
  if (type.kind == TypeKind::variable_string) return {"vlen-utf8"};
  if (type.kind == TypeKind::variable_bytes) return {"vlen-bytes"};
  return {"bytes", {{"endian", "little"}}};
}

std::vector<CodecMetadata> parse_codecs_or_one(const Json& value, std::string_view what) {
  const bool is_one = value.is_string() || value.is_object();
  return parse_codec_list(is_one ? Json::array({value}) : value, what);
}

std::vector<CodecMetadata> complete_codecs(std::span<const CodecMetadata> codecs, ChunkSpec spec) {
  using ArrayToArray = std::unique_ptr<const ArrayToArrayCodec>;
  using BytesToBytes = std::unique_ptr<const BytesToBytesCodec>;
  std::vector<CodecMetadata> completed;
  bool are_bytes = false;
  const auto make_bytes = [&] {
    if (!are_bytes) completed.push_back(default_array_to_bytes(spec.data_type));
    are_bytes = true;
  };
  for (CodecMetadata metadata : codecs) {
    if (metadata.name == "endian") metadata.name = "bytes";  // an older name
    const CodecFactory make = find_codec(metadata.name);
    if (make == nullptr) throw Error("the codec \"" + metadata.name + "\" is not supported");
    with_context({"codec \"", metadata.name, "\""}, [&] {
      complete_configuration(metadata, spec);
      Codec codec = make(known_members(metadata.name, metadata.configuration), spec);
      const bool takes_bytes = std::holds_alternative<BytesToBytes>(codec);
      if (takes_bytes || metadata.name == "numcodecs.shuffle") make_bytes();
      if (takes_bytes) return;
      if (auto* filter = std::get_if<std::unique_ptr<const Filter>>(&codec)) {
        if (are_bytes) {
          spec.data_type = (*filter)->encoded_type();
        } else {
          spec = make_array_filter(std::move(*filter), spec, Endian::little)->encoded_spec();
        }
        return;
      }
      if (are_bytes) throw Error("it takes an array, but a codec before it has made bytes");
      if (const auto* of_array = std::get_if<ArrayToArray>(&codec)) {
        spec = (*of_array)->encoded_spec();
      } else {
        are_bytes = true;
      }
    });
    completed.push_back(std::move(metadata));
  }
  make_bytes();
  return completed;
}

}  // namespace zarrcore
