// NumPy's spelling of data types: type strings ("<f4", "|S12", ">M8[10us]"), which v1, v2 and the
// draft of v3 use, and names ("float64"), which filters of numcodecs accept as well.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

struct NumpyType {
  DataType type;
  Endian endian = Endian::little;  // of each unit of the type; also where the text states none
};

// Returns nullopt when `text` is not a type of fixed size that has a counterpart.
std::optional<NumpyType> parse_numpy_type(std::string_view text);

// Makes the type string that parse_numpy_type() reads; `endian` is stated for types of several
// bytes. Returns nullopt when NumPy has no such type.
std::optional<std::string> format_numpy_type(const DataType& type, Endian endian);

// Like parse_numpy_type(), but reads everything that numpy.dtype() accepts, as options of filters
// have it: "float", "i", "datetime64[ns]".
std::optional<NumpyType> parse_numpy_name(std::string_view text);

}  // namespace zarrcore
