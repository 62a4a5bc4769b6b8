#include "zarrcore/array/typed_values.h"

#include <limits>
#include <memory>
#include <string>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/convert.h"

namespace zarrcore {
namespace {

void assign_text(const VariableElement& source, std::string& destination) {
  destination = source.text();
}

void assign_text(const std::string& source, VariableElement& destination) {
  destination = {source.data(), source.size()};
}

template <typename From, typename To>
class TextConverter final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      assign_text(*reinterpret_cast<const From*>(source), *reinterpret_cast<To*>(destination));
      source += source_stride;
      destination += destination_stride;
    }
  }
};

// Throws Error unless a selection has `count` elements, and they are of the kind that is expected.
void check_values(const Array& array, const Selection& selection, std::size_t count,
                  bool are_expected, const char* expected) {
  const std::string& description = array.state().description;
  if (element_count(selection) != count) {
    throw Error(description + ": " + std::to_string(count) + " values for a selection of " +
                std::to_string(element_count(selection)));
  }
  if (!are_expected) {
    throw Error(description + ": elements of the type " + type_name(array.data_type()) +
                " are not " + expected);
  }
}

void check_numbers(const Array& array, const Selection& selection, std::size_t count,
                   const DataType& type) {
  const bool are_numbers = array.data_type().is_numeric() && type.is_numeric();
  check_values(array, selection, count, are_numbers, "numbers");
}

void check_texts(const Array& array, const Selection& selection, std::size_t count) {
  check_values(array, selection, count, array.data_type().is_variable(), "texts of any length");
}

}  // namespace

std::size_t element_count(const Selection& selection) {
  const auto count = checked_product(selection.count);
  if (!count || *count > std::numeric_limits<std::size_t>::max()) {
    throw Error("the selection has more elements than memory could hold");
  }
  return static_cast<std::size_t>(*count);
}

void read_numbers(const Array& array, const Selection& selection, const DataType& type,
                  void* values, std::size_t count, const ReadOptions& options) {
  check_numbers(array, selection, count, type);
  const auto converter = make_numeric_converter(array.data_type(), type);
  array.read(selection,
             {static_cast<std::byte*>(values), c_strides(selection.count, type.item_size),
              converter.get()},
             options);
}

void read_texts(const Array& array, const Selection& selection, std::span<std::string> values,
                const ReadOptions& options) {
  check_texts(array, selection, values.size());
  const TextConverter<VariableElement, std::string> converter;
  array.read(selection,
             {reinterpret_cast<std::byte*>(values.data()),
              c_strides(selection.count, sizeof(std::string)), &converter},
             options);
}

void write_numbers(ArrayWriter& writer, const Selection& selection, const DataType& type,
                   const void* values, std::size_t count, const WriteOptions& options) {
  check_numbers(writer.array(), selection, count, type);
  const auto converter = make_numeric_converter(type, writer.array().data_type());
  writer.write(selection,
               {static_cast<const std::byte*>(values), c_strides(selection.count, type.item_size),
                converter.get()},
               options);
}

void write_texts(ArrayWriter& writer, const Selection& selection,
                 std::span<const std::string> values, const WriteOptions& options) {
  check_texts(writer.array(), selection, values.size());
  const TextConverter<std::string, VariableElement> converter;
  writer.write(selection,
               {reinterpret_cast<const std::byte*>(values.data()),
                c_strides(selection.count, sizeof(std::string)), &converter},
               options);
}

}  // namespace zarrcore
