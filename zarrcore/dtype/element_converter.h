// Converters that compute each element from one other.
#pragma once

#include <memory>
#include <utility>

#include "zarrcore/base/strided.h"

namespace zarrcore {

// Makes a converter that calls `convert(source, destination)` with the address of each element and
// of its destination, neither of which need be aligned.
template <typename Convert>
std::unique_ptr<const ElementConverter> make_element_converter(Convert convert) {
  class Converter final : public ElementConverter {
   public:
    explicit Converter(Convert convert) : convert_(std::move(convert)) {}

    void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                 std::ptrdiff_t destination_stride, std::size_t count) const override {
      for (std::size_t i = 0; i < count; ++i) {
        convert_(source, destination);
        source += source_stride;
        destination += destination_stride;
      }
    }

   private:
    Convert convert_;
  };
  return std::make_unique<Converter>(std::move(convert));
}

}  // namespace zarrcore
