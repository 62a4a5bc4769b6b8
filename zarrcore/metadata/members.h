// Reading the members of a metadata document with messages that say what is wrong.
#pragma once

#include <span>
#include <string_view>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"

namespace zarrcore {

// The member `key`; throws Error when `document` is not an object or does not have it.
const Json& required_member(const Json& document, std::string_view key);

// The member `key`, which must be an object; an empty object when it is missing or null.
Json object_member(const Json& document, std::string_view key);

// The member `shape`. Throws Error when it has more dimensions than any array needs, to bound
// recursion and tables over them.
Shape parse_shape(const Json& document);

// The members of `document` that are not named in `known`.
Json other_members(const Json& document, std::span<const std::string_view> known);

// Adds `others` to the members of `document`, except those that it already has.
void add_members(Json& document, const Json& others);

// Throws Error unless the member `zarr_format` is the integer `version`.
void check_zarr_format(const Json& document, int version);

}  // namespace zarrcore
