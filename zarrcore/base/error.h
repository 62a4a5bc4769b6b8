// The one exception of the core. Whoever finds a fault says what is wrong; each caller on the way
// up that knows more (the chunk, the key, the node) puts it in front with `add_context`, so the
// message that reaches the user reads "array /a/b: chunk a/b/c/0/0: zstd: frame is corrupt".
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace zarrcore {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }

  // Puts "context: " before the message.
  void add_context(std::string_view context) {
    message_.insert(0, ": ");
    message_.insert(0, context);
  }

 private:
  std::string message_;
};

// Runs `body`; an Error that it throws goes on with the text that `context()` returns in front.
// Running out of memory becomes an Error, too: it nearly always means that a file asked too much.
template <typename Context, typename Body>
decltype(auto) with_context(Context&& context, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    error.add_context(context());
    throw;
  } catch (const std::bad_alloc&) {
    Error error("not enough memory");
    error.add_context(context());
    throw error;
  }
}

}  // namespace zarrcore
