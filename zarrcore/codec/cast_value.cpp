// The `cast_value` codec (zarr-extensions): stores the values of an array in another data type. The
// same rules apply in both directions (value_cast.h), except for the mapped scalars.
#include <string_view>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/value_cast.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

class CastValueCodec final : public ElementCodec {
 public:
  CastValueCodec(const ChunkSpec& spec, const DataType& encoded, ValueCast encode, ValueCast decode)
      : ElementCodec(spec, encoded), encode_(std::move(encode)), decode_(std::move(decode)) {
    encode_fill_value(spec);
  }

 private:
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    encode_.run(decoded, encoded, count);
  }
  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    decode_.run(encoded, decoded, count);
  }

  ValueCast encode_;
  ValueCast decode_;
};

std::vector<MappedScalar> parse_map(const Json& configuration, std::string_view direction,
                                    const DataType& from, const DataType& to) {
  std::vector<MappedScalar> map;
  const Json* both = find_member(configuration, "scalar_map");
  if (both == nullptr || both->is_null()) return map;
  if (!both->is_object()) {
    throw Error("\"scalar_map\" is " + std::string(describe_kind(*both)) +
                " where an object is expected");
  }
  const Json* pairs = find_member(*both, direction);
  if (pairs == nullptr || pairs->is_null()) return map;
  with_context({"\"scalar_map\", \"", direction, "\""}, [&] {
    if (!pairs->is_array()) throw Error("this is not a list");
    for (const Json& pair : *pairs) {
      if (!pair.is_array() || pair.size() != 2) {
        throw Error(excerpt(pair) + " is not a pair of numbers");
      }
      map.push_back({parse_fill_value(pair[0], from), parse_fill_value(pair[1], to)});
    }
  });
  return map;
}

}  // namespace

Codec make_cast_value(const Json& configuration, const ChunkSpec& spec) {
  const DataType& decoded = spec.data_type;
  const DataType encoded = parse_v3_data_type(required_member(configuration, "data_type"));
  const auto rounding = choice_option(configuration, "rounding", Rounding::nearest_even,
                                      {{"nearest-even", Rounding::nearest_even},
                                       {"towards-zero", Rounding::towards_zero},
                                       {"towards-positive", Rounding::towards_positive},
                                       {"towards-negative", Rounding::towards_negative},
                                       {"nearest-away", Rounding::nearest_away}});
  const auto out_of_range =
      choice_option(configuration, "out_of_range", OutOfRange::error,
                    {{"clamp", OutOfRange::clamp}, {"wrap", OutOfRange::wrap}});
  ValueCast encode(decoded, encoded, rounding, out_of_range,
                   parse_map(configuration, "encode", decoded, encoded));
  ValueCast decode(encoded, decoded, rounding, out_of_range,
                   parse_map(configuration, "decode", encoded, decoded));
  if (out_of_range == OutOfRange::wrap && encoded.kind == TypeKind::floating) {
    throw Error("\"out_of_range\" is \"wrap\", which is for integers, not for " +
                type_name(encoded));
  }
  return std::make_unique<CastValueCodec>(spec, encoded, std::move(encode), std::move(decode));
}

}  // namespace zarrcore
