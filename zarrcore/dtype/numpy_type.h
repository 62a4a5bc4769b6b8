// NumPy's spelling of data types: type strings ("<f4", "|S12", ">M8[10us]") as v1, v2 and the draft
// of v3 use them, and names ("float64") as filters of numcodecs also have them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

struct NumpyType {
  DataType type;
  Endian endian = kHostEndian;  // of each unit of the type
};

// Nothing when `text` is not a type of fixed size that has a counterpart.
std::optional<NumpyType> parse_numpy_type(std::string_view text);

// The type string that parse_numpy_type() reads; one of more bytes than one says `endian`. Nothing
// when NumPy has no such type.
std::optional<std::string> format_numpy_type(const DataType& type, Endian endian);

// The same as parse_numpy_type() for what numpy.dtype() also takes, as options of filters have it:
// "float", "i", "datetime64[ns]".
std::optional<NumpyType> parse_numpy_name(std::string_view text);

}  // namespace zarrcore
