// The exception class of the core. The function that finds a fault says what is wrong; each caller
// that knows more (the chunk, the key, the node) prepends it by with_context(), so the message that
// reaches the user reads "array /a/b: chunk a/b/c/0/0: zstd: frame is corrupt".
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/api.h"

namespace zarrcore {

class ZARRCORE_API Error : public std::exception {
 public:
  explicit Error(std::string message);

  const char* what() const noexcept override { return message_.c_str(); }

  // Puts "context: " before the message.
  void add_context(std::string_view context);

 private:
  std::string message_;
};

// The data could not be accessed: a server does not answer, a disk fails. Nothing is known about
// it, neither that it is wrong nor that it is missing. Functions that report damage, or that
// continue without what cannot be read, must let this error pass.
class ZARRCORE_API AccessFailure : public Error {
 public:
  using Error::Error;
};

// There was not enough memory for it.
class ZARRCORE_API OutOfMemory : public AccessFailure {
 public:
  OutOfMemory() : AccessFailure("not enough memory") {}
};

// A piece of a context: a text, which must outlive the call that it is for, or a number.
class ZARRCORE_API ContextPart {
 public:
  template <std::convertible_to<std::string_view> Text>
  ContextPart(const Text& text) : text_(text) {}  // NOLINT: converts
  template <std::unsigned_integral Number>
  ContextPart(Number number) : number_(number) {}  // NOLINT: converts

  // Adds it to the end of `text`.
  void append_to(std::string& text) const;

 private:
  std::string_view text_;
  std::optional<std::uint64_t> number_;
};

// In a catch block: throws the caught exception on, as an Error with `context` in front. An
// exception that is not a std::exception is thrown on unchanged.
[[noreturn]] ZARRCORE_API void rethrow_with_context(std::initializer_list<ContextPart> context);

// Runs `body` and returns its result. Any exception leaves as an Error whose message begins with
// `context`; std::bad_alloc as OutOfMemory, since often a file asked for too much. The context is
// one text, several parts in braces, or a function that returns the text; the text is built only if
// there is an error.
template <typename Body>
decltype(auto) with_context(std::initializer_list<ContextPart> context, Body&& body) {
  try {
    return body();
  } catch (...) {
    rethrow_with_context(context);
  }
}

template <typename Context, typename Body>
decltype(auto) with_context(const Context& context, Body&& body) {
  try {
    return body();
  } catch (...) {
    if constexpr (std::invocable<Context>) {
      rethrow_with_context({context()});
    } else {
      rethrow_with_context({context});
    }
  }
}

}  // namespace zarrcore
