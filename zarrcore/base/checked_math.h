// Arithmetic on sizes that a file states. The checked functions return nullopt when the result
// does not fit 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace zarrcore {

inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > UINT64_MAX / b) return std::nullopt;
  return a * b;
}

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t result = a + b;
  if (result < a) return std::nullopt;
  return result;
}

// The product of all factors (1 for none). If one factor is zero, the product is zero, even if
// others would overflow.
inline std::optional<std::uint64_t> checked_product(std::span<const std::uint64_t> factors) {
  for (const std::uint64_t factor : factors) {
    if (factor == 0) return 0;
  }
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    const auto next = checked_multiply(product, factor);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

// a / b rounded up; b is not zero.
inline std::uint64_t ceil_divide(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0);
}

// |value|, also of -2^63.
inline std::uint64_t absolute(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

}  // namespace zarrcore
