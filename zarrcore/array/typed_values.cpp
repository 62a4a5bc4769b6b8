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

class ToText final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      const auto& element = *reinterpret_cast<const VariableElement*>(source + at * source_stride);
      *reinterpret_cast<std::string*>(destination + at * destination_stride) = element.text();
    }
  }
};

class FromText final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      const auto& text = *reinterpret_cast<const std::string*>(source + at * source_stride);
      *reinterpret_cast<VariableElement*>(destination + at * destination_stride) = {text.data(),
                                                                                    text.size()};
    }
  }
};

void check_count(const Array& array, const Selection& selection, std::size_t count) {
  if (element_count(selection) == count) return;
  throw Error(array.state().description + ": " + std::to_string(count) +
              " values for a selection of " + std::to_string(element_count(selection)));
}

void check_numbers(const Array& array, const DataType& type) {
  if (array.data_type().is_numeric() && type.is_numeric()) return;
  throw Error(array.state().description + ": elements of the type " + type_name(array.data_type()) +
              " are not numbers");
}

void check_texts(const Array& array) {
  if (array.data_type().is_variable()) return;
  throw Error(array.state().description + ": elements of the type " + type_name(array.data_type()) +
              " are not texts of any length");
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
  check_count(array, selection, count);
  check_numbers(array, type);
  const auto converter = make_numeric_converter(array.data_type(), type);
  array.read(selection,
             {static_cast<std::byte*>(values), c_strides(selection.count, type.item_size),
              converter.get()},
             options);
}

void read_texts(const Array& array, const Selection& selection, std::span<std::string> values,
                const ReadOptions& options) {
  check_count(array, selection, values.size());
  check_texts(array);
  const ToText converter;
  array.read(selection,
             {reinterpret_cast<std::byte*>(values.data()),
              c_strides(selection.count, sizeof(std::string)), &converter},
             options);
}

void write_numbers(ArrayWriter& writer, const Selection& selection, const DataType& type,
                   const void* values, std::size_t count, const WriteOptions& options) {
  check_count(writer.array(), selection, count);
  check_numbers(writer.array(), type);
  const auto converter = make_numeric_converter(type, writer.array().data_type());
  writer.write(selection,
               {static_cast<const std::byte*>(values), c_strides(selection.count, type.item_size),
                converter.get()},
               options);
}

void write_texts(ArrayWriter& writer, const Selection& selection,
                 std::span<const std::string> values, const WriteOptions& options) {
  check_count(writer.array(), selection, values.size());
  check_texts(writer.array());
  const FromText converter;
  writer.write(selection,
               {reinterpret_cast<const std::byte*>(values.data()),
                c_strides(selection.count, sizeof(std::string)), &converter},
               options);
}

}  // namespace zarrcore
