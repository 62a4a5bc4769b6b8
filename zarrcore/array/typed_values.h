// Reading and writing selections as values of a C++ type, in dense C order. Numbers are converted
// if the array has another type (make_numeric_converter() in dtype/convert.h).
//
//   std::vector<float> window = read_values<float>(*array, {{0, 10, 20}, {1, 64, 128}});
//   write_values<float>(writer, {{0, 10, 20}, {1, 64, 128}}, window);
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/base/api.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

template <typename T>
concept ComplexNumber =
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// bool is not among them: a std::vector<bool> has no elements in memory. Read std::uint8_t.
template <typename T>
concept Number =
    (std::is_arithmetic_v<T> && !std::same_as<T, bool> && sizeof(T) <= 8) || ComplexNumber<T>;

// The data type of elements of a C++ type, for new arrays; of std::string, text of any length.
template <typename T>
  requires Number<T> || std::same_as<T, bool> || std::same_as<T, std::string>
DataType data_type_of() {
  if constexpr (std::same_as<T, std::string>) {
    return {.kind = TypeKind::variable_string, .item_size = 16};
  } else if constexpr (std::same_as<T, bool>) {
    return {.kind = TypeKind::boolean};
  } else {
    constexpr TypeKind kKind = ComplexNumber<T>              ? TypeKind::complex
                               : std::is_floating_point_v<T> ? TypeKind::floating
                               : std::is_signed_v<T>         ? TypeKind::signed_integer
                                                             : TypeKind::unsigned_integer;
    return {.kind = kKind, .item_size = sizeof(T)};
  }
}

// The number of elements of a selection. Throws Error when a std::size_t cannot hold it.
ZARRCORE_API std::size_t element_count(const Selection& selection);

// Reads a selection as `count` numbers of `type`. Throws Error, which names the array, when the
// array has no numbers, or the selection another number of elements; and like Array::read().
ZARRCORE_API void read_numbers(const Array& array, const Selection& selection, const DataType& type,
                               void* values, std::size_t count, const ReadOptions& options = {});
// The same for strings and bytes of any length.
ZARRCORE_API void read_texts(const Array& array, const Selection& selection,
                             std::span<std::string> values, const ReadOptions& options = {});

// Writes a selection from `count` numbers of `type`. Throws Error as above, and like
// ArrayWriter::write().
ZARRCORE_API void write_numbers(ArrayWriter& writer, const Selection& selection,
                                const DataType& type, const void* values, std::size_t count,
                                const WriteOptions& options = {});
// The same for strings and bytes of any length.
ZARRCORE_API void write_texts(ArrayWriter& writer, const Selection& selection,
                              std::span<const std::string> values,
                              const WriteOptions& options = {});

// Reads a selection: numbers, converted if the array has another type, or texts. Throws Error like
// read_numbers() and read_texts(); a selection outside of the array costs no memory.
template <typename T>
  requires Number<T> || std::same_as<T, std::string>
std::vector<T> read_values(const Array& array, const Selection& selection,
                           const ReadOptions& options = {}) {
  check_selection(selection, array.shape());  // before memory is allocated for it
  std::vector<T> values(element_count(selection));
  if constexpr (Number<T>) {
    read_numbers(array, selection, data_type_of<T>(), values.data(), values.size(), options);
  } else {
    read_texts(array, selection, values, options);
  }
  return values;
}

// Writes a selection, which has as many elements as there are values. Throws Error like
// write_numbers() and write_texts().
template <typename T>
  requires Number<T> || std::same_as<T, std::string>
void write_values(ArrayWriter& writer, const Selection& selection,
                  std::type_identity_t<std::span<const T>> values,
                  const WriteOptions& options = {}) {
  if constexpr (Number<T>) {
    write_numbers(writer, selection, data_type_of<T>(), values.data(), values.size(), options);
  } else {
    write_texts(writer, selection, values, options);
  }
}

}  // namespace zarrcore
