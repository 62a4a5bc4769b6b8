// The common parts of v1, v2 and the draft of v3: they describe elements as NumPy does and codecs
// as numcodecs does. In the model, memory order F is a transpose codec, the byte order of the dtype
// is a setting of the `bytes` codec, and filters and the compressor are codecs named `numcodecs.`
// and their id.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

// The prefix of a codec's id in numcodecs.
inline constexpr std::string_view kNumcodecs = "numcodecs.";

struct NumpyDtype {
  DataType type;
  std::vector<Endian> orders;  // of each of byte_units(type)
  // An array of Python objects ("|O"): a filter determines their type.
  bool is_object = false;
};

// Reads a type string, or the list of fields of a structure. Throws Error on types without a
// counterpart.
NumpyDtype parse_numpy_dtype(const Json& value);

// Converts an element from the host's byte order to the orders of the dtype, or back.
void swap_to_orders(std::vector<std::byte>& element, const NumpyDtype& dtype);

struct NumpyCodecs {
  bool is_reversed = false;       // true if the memory order is F; see parse_is_reversed()
  const Json* filters = nullptr;  // a list of numcodecs configurations, or null
  std::optional<CodecMetadata> compressor;
};

// The codec of numcodecs with this `id`. Options that GDAL's built-in driver spells differently are
// renamed to numcodecs' names. Throws Error when the value of such an option is unknown.
CodecMetadata make_numcodec(std::string_view id, Json configuration);

// A numcodecs configuration: `{"id": "zlib", "level": 1}`. Errors begin with `what`.
CodecMetadata parse_numcodec(const Json& value, std::string_view what);

// Returns true if the member `key` states the memory order "F" and not "C", the default.
bool parse_is_reversed(const Json& document, std::string_view key);

// The codec chain of an array of `rank` dimensions. Sets the type of an object array.
std::vector<CodecMetadata> make_codecs(NumpyDtype& dtype, const NumpyCodecs& codecs,
                                       std::size_t rank);

// xarray's name for the attribute that names the dimensions.
inline constexpr std::string_view kDimensionsAttribute = "_ARRAY_DIMENSIONS";

// The names of dimensions in `_ARRAY_DIMENSIONS`, which is removed from `attributes` when it names
// every dimension.
std::vector<std::optional<std::string>> take_dimension_names(Json& attributes, std::size_t rank);

// The fill value; nullopt, which means undefined, if it is null or missing. A structure's fill
// value is base64 of its bytes, in the byte orders of the dtype.
std::optional<std::vector<std::byte>> parse_optional_fill_value(const Json& document,
                                                                const NumpyDtype& dtype);

// Reads what v1 and v2 state in the same members: shape, chunks, type and order of the elements,
// fill value, and the names of dimensions among the attributes. `filters` and `compressor` are as
// in NumpyCodecs.
ArrayMetadata parse_numpy_array(const Json& document, const Json& attributes, const Json* filters,
                                std::optional<CodecMetadata> compressor);

// The chunk key separator in the member `key`; `fallback` when it is null or missing.
char parse_separator(const Json& object, std::string_view key, char fallback);

// The inverse: members that describe an array in documents of v1 and v2. They cannot express all of
// the model; if they cannot, an Error names the reason.
struct NumpyMembers {
  Json dtype;
  Json fill_value;   // null when it is undefined
  bool is_reversed;  // true if the memory order is F
  Json filters;      // a list of numcodecs configurations; null when there are none
  Json compressor;   // one codec; null if the array is not compressed
};

// The members that describe elements and codecs. `format` ("Zarr v2") is for messages, `keys` the
// encoding of its chunk keys.
NumpyMembers make_numpy_members(const ArrayMetadata& array, std::string_view format,
                                ChunkKeyEncoding::Kind keys);

// The attributes, with xarray's names of dimensions unless no dimension has a name. An array
// without dimensions gets an empty list of names, which xarray needs.
Json attributes_with_dimension_names(const ArrayMetadata& array);

}  // namespace zarrcore
