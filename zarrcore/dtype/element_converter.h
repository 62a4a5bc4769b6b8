// Converters of what one element becomes.
#pragma once

#include <memory>
#include <utility>

#include "zarrcore/base/strided.h"

namespace zarrcore {

// A converter that calls `convert(source, destination)` with the address of each element, which
// need not be aligned, and of where it goes.
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
