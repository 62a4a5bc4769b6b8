// What v1, v2 and the draft of v3 have in common: they describe elements as NumPy and codecs as
// numcodecs do; numpy_document.h is the way back. In the model, the memory order F is a transpose
// codec, the byte order of the dtype is that of the `bytes` codec, and filters and the compressor
// are codecs named `numcodecs.` and their id.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

// In front of a codec's id in numcodecs.
inline constexpr std::string_view kNumcodecs = "numcodecs.";

struct NumpyDtype {
  DataType type;
  std::vector<Endian> orders;  // of each of byte_units(type)
  // An array of Python objects ("|O"): what they are, and so the type, is for a filter to say.
  bool is_object = false;
};

// A type string, or the list of fields of a structure. Throws Error on what has no counterpart.
NumpyDtype parse_numpy_dtype(const Json& value);

// Turns an element in the host's byte order into one in the orders of the dtype, and back.
void swap_to_orders(std::vector<std::byte>& element, const NumpyDtype& dtype);

struct NumpyCodecs {
  bool is_reversed = false;       // whether the memory order is F; see parse_is_reversed()
  const Json* filters = nullptr;  // a list of numcodecs configurations, or null
  std::optional<CodecMetadata> compressor;
};

// The codec of numcodecs that `id` names. Options that GDAL's driver spells in its own way become
// those of numcodecs. Throws Error when the spelling of one means nothing.
CodecMetadata make_numcodec(std::string_view id, Json configuration);

// A numcodecs configuration: `{"id": "zlib", "level": 1}`. Errors begin with `what`.
CodecMetadata parse_numcodec(const Json& value, std::string_view what);

// Whether the member `key` says that the memory order is "F" and not "C", which it is when the
// member is not there.
bool parse_is_reversed(const Json& document, std::string_view key);

// The codec chain of an array of `rank` dimensions. Gives an object array its type.
std::vector<CodecMetadata> make_codecs(NumpyDtype& dtype, const NumpyCodecs& codecs,
                                       std::size_t rank);

// xarray's name for the attribute that names the dimensions.
inline constexpr std::string_view kDimensionsAttribute = "_ARRAY_DIMENSIONS";

// The names of dimensions in `_ARRAY_DIMENSIONS`, which leave `attributes` when they name every
// dimension.
std::vector<std::optional<std::string>> take_dimension_names(Json& attributes, std::size_t rank);

// The fill value, which these formats leave undefined with null or by not stating it. That of a
// structure is base64 of its bytes, in the byte orders of the dtype.
std::optional<std::vector<std::byte>> parse_optional_fill_value(const Json& document,
                                                                const NumpyDtype& dtype);

// What v1 and v2 say of an array in the same members: shape, chunks, type and order of the
// elements, fill value and the names of dimensions among the attributes. `filters` and `compressor`
// as in NumpyCodecs.
ArrayMetadata parse_numpy_array(const Json& document, const Json& attributes, const Json* filters,
                                std::optional<CodecMetadata> compressor);

// The chunk key separator that the member `key` states; `fallback` when it is null or not there.
char parse_separator(const Json& object, std::string_view key, char fallback);

}  // namespace zarrcore
