#include "zarrcore/codec/held_values.h"

#include <algorithm>
#include <cmath>

#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {
namespace {

// Exact also for the largest integers, where this type has a mantissa of 64 bits.
using Wide = long double;

class HeldCheck {
 public:
  explicit HeldCheck(const Tolerance& tolerance) : tolerance_(tolerance) {}

  template <typename T>
  bool is_held(T element, T returned) {
    if constexpr (IsComplex<T>::value) {
      return is_held(element.real(), returned.real()) && is_held(element.imag(), returned.imag());
    } else {
      if (tolerance_.accumulates) remember(static_cast<Wide>(element));
      if (element == returned) return true;
      const auto a = static_cast<Wide>(element);
      const auto b = static_cast<Wide>(returned);
      if (std::isnan(a) && std::isnan(b)) return true;
      if (!std::isfinite(a) || !std::isfinite(b)) return false;
      const Wide scale =
          tolerance_.accumulates ? largest_ * static_cast<Wide>(count_) : std::abs(a);
      return std::abs(a - b) <= tolerance_.absolute + tolerance_.relative * scale;
    }
  }

 private:
  void remember(Wide element) {
    ++count_;
    if (std::isfinite(element)) largest_ = std::max(largest_, std::abs(element));
  }

  Tolerance tolerance_;
  Wide largest_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

double rounding_unit(const DataType& type) {
  if (type.kind != TypeKind::floating && type.kind != TypeKind::complex) return 0;
  const std::uint64_t size = type.kind == TypeKind::complex ? type.item_size / 2 : type.item_size;
  return std::ldexp(1.0, size == 2 ? -10 : size == 4 ? -23 : -52);
}

std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance) {
  return with_numeric_type(type.value_type(), [&](auto tag) -> std::optional<std::size_t> {
    using T = typename decltype(tag)::Type;
    HeldCheck check(tolerance);
    for (std::size_t i = 0; i < count; ++i) {
      if (!check.is_held(load_element<T>(elements + i * sizeof(T)),
                         load_element<T>(returned + i * sizeof(T)))) {
        return i;
      }
    }
    return std::nullopt;
  });
}

}  // namespace zarrcore
