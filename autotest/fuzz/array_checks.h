// What holds of reading an array, whatever is in its store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"

namespace zarrcore::fuzz {

// The bytes of each element, or the text that it points to, in C order.
using Elements = std::vector<std::string>;

// The elements of a selection; empty when it cannot be read.
std::optional<Elements> read_elements(const Array& array, const Selection& selection);

// The first elements of an array, no more than a few thousand: a box that begins at its origin.
Selection first_elements(const Array& array);

// Ends the process unless parts of a box that begins at the array's origin have the elements that
// the box has.
void check_parts(const Array& array, const Shape& box, const Elements& elements);

}  // namespace zarrcore::fuzz
