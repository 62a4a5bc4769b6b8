#include "zarrcore/codec/codec.h"

#include <limits>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

Error wrong(std::string_view key, const Json& value, const std::string& expected) {
  return Error("\"" + std::string(key) + "\" is " + excerpt(value) + " where " + expected +
               " is expected");
}

Error missing(std::string_view key) {
  return Error("\"" + std::string(key) + "\" is missing");
}

}  // namespace

std::uint64_t ChunkSpec::byte_count() const {
  const auto elements = checked_product(shape);
  const auto bytes = elements ? checked_multiply(*elements, data_type.item_size) : std::nullopt;
  if (!bytes || *bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
    throw Error("the chunk shape makes chunks larger than any memory");
  }
  return *bytes;
}

ChunkSpec spec_with_zero(Shape shape, const DataType& type) {
  ChunkSpec spec;
  spec.shape = std::move(shape);
  spec.data_type = type;
  spec.fill_value.resize(memory_size(type.item_size));
  return spec;
}

Buffer BytesToBytesCodec::decode(ByteSpan encoded, std::uint64_t max_size) const {
  const std::uint64_t size = max_decoded_size(encoded);
  check_max_size(name() + ": ", size, max_size);
  Buffer decoded(size);
  decode(encoded, decoded.span());
  return decoded;
}

std::int64_t integer_option(const Json& configuration, std::string_view key,
                            std::int64_t fallback) {
  const Json* option = find_value(configuration, key);
  if (option == nullptr) return fallback;
  // Not `*option <= INT64_MAX`: the library compares as signed integers.
  const bool fits = !option->is_number_unsigned() || option->get<std::uint64_t>() <= INT64_MAX;
  if (option->is_number_integer() && fits) return option->get<std::int64_t>();
  throw wrong(key, *option, "an integer");
}

std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback,
                            std::int64_t min, std::int64_t max) {
  const std::int64_t value = integer_option(configuration, key, fallback);
  if (value >= min && value <= max) return value;
  throw wrong(key, value, std::to_string(min) + " to " + std::to_string(max));
}

std::optional<std::string> text_option(const Json& configuration, std::string_view key) {
  const Json* option = find_value(configuration, key);
  if (option == nullptr) return std::nullopt;
  if (option->is_string()) return option->get<std::string>();
  throw wrong(key, *option, "a string");
}

bool boolean_option(const Json& configuration, std::string_view key, bool fallback) {
  const Json* option = find_value(configuration, key);
  if (option == nullptr) return fallback;
  if (option->is_boolean()) return option->get<bool>();
  throw wrong(key, *option, "true or false");
}

const Json* number_option(const Json& configuration, std::string_view key) {
  const Json* option = find_value(configuration, key);
  if (option == nullptr || option->is_number()) return option;
  throw wrong(key, *option, "a number");
}

const Json& number_member(const Json& configuration, std::string_view key) {
  if (const Json* member = number_option(configuration, key)) return *member;
  throw missing(key);
}

std::string text_member(const Json& configuration, std::string_view key) {
  if (auto text = text_option(configuration, key)) return *std::move(text);
  throw missing(key);
}

}  // namespace zarrcore
