#include "zarrcore/codec/configuration.h"

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

const Json* find_option(const Json& configuration, std::string_view key) {
  const Json* option = find_member(configuration, key);
  return option == nullptr || option->is_null() ? nullptr : option;
}

Error wrong(std::string_view key, const Json& value, const std::string& expected) {
  return Error("\"" + std::string(key) + "\" is " + dump_json(value) + " where " + expected +
               " is expected");
}

}  // namespace

std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback,
                            std::int64_t low, std::int64_t high) {
  const Json* option = find_option(configuration, key);
  if (option == nullptr) return fallback;
  if (option->is_number_integer() && *option >= low && *option <= high) {
    return option->get<std::int64_t>();
  }
  throw wrong(key, *option,
              "an integer from " + std::to_string(low) + " to " + std::to_string(high));
}

std::optional<std::string> text_option(const Json& configuration, std::string_view key) {
  const Json* option = find_option(configuration, key);
  if (option == nullptr) return std::nullopt;
  if (option->is_string()) return option->get<std::string>();
  throw wrong(key, *option, "a string");
}

bool boolean_option(const Json& configuration, std::string_view key, bool fallback) {
  const Json* option = find_option(configuration, key);
  if (option == nullptr) return fallback;
  if (option->is_boolean()) return option->get<bool>();
  throw wrong(key, *option, "true or false");
}

}  // namespace zarrcore
