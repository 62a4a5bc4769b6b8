#include "zarrcore/dtype/element_converter.h"

namespace zarrcore {
namespace {

class LoopConverter final : public ElementConverter {
 public:
  explicit LoopConverter(ConversionLoop loop) : loop_(loop) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    loop_(source, source_stride, destination, destination_stride, count);
  }

 private:
  ConversionLoop loop_;
};

}  // namespace

std::unique_ptr<const ElementConverter> make_loop_converter(ConversionLoop loop) {
  return std::make_unique<LoopConverter>(loop);
}

}  // namespace zarrcore
