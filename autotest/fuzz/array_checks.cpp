#include "autotest/fuzz/array_checks.h"

#include <algorithm>
#include <cstring>

#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/fuzz/input.h"
#include "zarrcore/base/buffer.h"

namespace zarrcore::fuzz {
namespace {

constexpr std::uint64_t kMaxElements = 4096;
constexpr std::uint64_t kMaxBytes = 1 << 20;

// Copies elements into strings.
class ToStrings final : public ElementConverter {
 public:
  explicit ToStrings(const DataType& type) : type_(type) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      auto& text = *reinterpret_cast<std::string*>(destination);
      if (type_.is_variable()) {
        VariableElement element;
        std::memcpy(&element, source, sizeof(element));
        text = element.text();
      } else {
        text.assign(reinterpret_cast<const char*>(source), type_.item_size);
      }
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  const DataType& type_;
};

}  // namespace

std::optional<Elements> read_elements(const Array& array, const Selection& selection) {
  Elements elements(test::element_count(selection.count));
  const ToStrings converter(array.data_type());
  const bool is_read = succeeds([&] {
    array.read(selection, {reinterpret_cast<std::byte*>(elements.data()),
                           c_strides(selection.count, sizeof(std::string)), &converter});
  });
  if (!is_read) return std::nullopt;
  return elements;
}

Selection first_elements(const Array& array) {
  const std::uint64_t most =
      std::min(kMaxElements, kMaxBytes / std::max<std::uint64_t>(1, array.data_type().item_size));
  Shape count = array.shape();
  std::uint64_t left = std::max<std::uint64_t>(1, most);
  for (std::uint64_t& length : count) {
    length = std::min(length, left);
    if (length > 0) left /= length;
  }
  return {Shape(count.size(), 0), count, {}};
}

void check_parts(const Array& array, const Shape& box, const Elements& elements) {
  if (elements.empty()) return;
  test::Random random(36);
  for (int i = 0; i < 4; ++i) {
    const Selection selection = test::random_selection(random, box);
    const auto part = read_elements(array, selection);
    check(part.has_value(), "a part of what can be read can be read");
    auto element = part->begin();
    test::for_each_index(selection.count, [&](const Shape& index) {
      Shape position(index.size());
      for (std::size_t axis = 0; axis < index.size(); ++axis) {
        position[axis] =
            selection.start[axis] + index[axis] * static_cast<std::uint64_t>(selection.step[axis]);
      }
      const auto at = static_cast<std::size_t>(test::offset_of(position, c_strides(box, 1)));
      check(elements[at] == *element++, "a part has the elements of the whole");
    });
  }
}

}  // namespace zarrcore::fuzz
