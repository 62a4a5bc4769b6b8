// A comma behind the last member of an object or the last element of a list, which is not JSON.
#pragma once

namespace zarrcore {

enum class TrailingComma : bool { refused, accepted };

}  // namespace zarrcore
