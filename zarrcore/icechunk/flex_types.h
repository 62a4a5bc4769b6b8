// The types of values in FlexBuffers.
#pragma once

namespace zarrcore::icechunk {

inline constexpr unsigned kFlexNull = 0;
inline constexpr unsigned kFlexInt = 1;
inline constexpr unsigned kFlexUnsigned = 2;
inline constexpr unsigned kFlexFloat = 3;
inline constexpr unsigned kFlexKey = 4;
inline constexpr unsigned kFlexString = 5;
inline constexpr unsigned kFlexMap = 9;
inline constexpr unsigned kFlexVector = 10;
inline constexpr unsigned kFlexBool = 26;

}  // namespace zarrcore::icechunk
