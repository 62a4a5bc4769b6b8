// Converters that compute each element from one other.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "zarrcore/base/strided.h"

namespace zarrcore {

// The work of ElementConverter::convert().
using ConversionLoop = void (*)(const std::byte* source, std::ptrdiff_t source_stride,
                                std::byte* destination, std::ptrdiff_t destination_stride,
                                std::size_t count);

// Makes a converter of a loop without state. Hundreds of loops share its class, which keeps builds
// short.
std::unique_ptr<const ElementConverter> make_loop_converter(ConversionLoop loop);

template <typename Convert>
void convert_each(const Convert& convert, const std::byte* source, std::ptrdiff_t source_stride,
                  std::byte* destination, std::ptrdiff_t destination_stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    convert(source, destination);
    source += source_stride;
    destination += destination_stride;
  }
}

// Makes a converter that calls `convert(source, destination)` with the address of each element and
// of its destination, neither of which need be aligned.
template <typename Convert>
std::unique_ptr<const ElementConverter> make_element_converter(Convert convert) {
  if constexpr (std::is_empty_v<Convert>) {
    return make_loop_converter([](const std::byte* source, std::ptrdiff_t source_stride,
                                  std::byte* destination, std::ptrdiff_t destination_stride,
                                  std::size_t count) {
      convert_each(Convert(), source, source_stride, destination, destination_stride, count);
    });
  } else {
    class Converter final : public ElementConverter {
     public:
      explicit Converter(Convert convert) : convert_(std::move(convert)) {}

      void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                   std::ptrdiff_t destination_stride, std::size_t count) const override {
        convert_each(convert_, source, source_stride, destination, destination_stride, count);
      }

     private:
      Convert convert_;
    };
    return std::make_unique<Converter>(std::move(convert));
  }
}

}  // namespace zarrcore
