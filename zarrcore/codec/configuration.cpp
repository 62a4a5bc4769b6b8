#include "zarrcore/codec/configuration.h"

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

const Json* find_option(const Json& configuration, std::string_view key) {
  const Json* option = find_member(configuration, key);
  return option == nullptr || option->is_null() ? nullptr : option;
}

Error wrong(std::string_view key, const Json& value, const std::string& expected) {
  return Error("\"" + std::string(key) + "\" is " + excerpt(value) + " where " + expected +
               " is expected");
}

Error missing(std::string_view key) {
  return Error("\"" + std::string(key) + "\" is missing");
}

}  // namespace

std::int64_t integer_option(const Json& configuration, std::string_view key,
                            std::int64_t fallback) {
  const Json* option = find_option(configuration, key);
  if (option == nullptr) return fallback;
  // Not `*option <= INT64_MAX`: the library compares as signed integers.
  const bool fits = !option->is_number_unsigned() || option->get<std::uint64_t>() <= INT64_MAX;
  if (option->is_number_integer() && fits) return option->get<std::int64_t>();
  throw wrong(key, *option, "an integer");
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

const Json* number_option(const Json& configuration, std::string_view key) {
  const Json* option = find_option(configuration, key);
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
