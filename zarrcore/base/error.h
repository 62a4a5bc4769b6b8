// The one exception of the core. Whoever finds a fault says what is wrong; each caller on the way
// up that knows more (the chunk, the key, the node) puts it in front with `add_context`, so the
// message that reaches the user reads "array /a/b: chunk a/b/c/0/0: zstd: frame is corrupt".
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace zarrcore {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) { drop_zeros(); }

  const char* what() const noexcept override { return message_.c_str(); }

  // Puts "context: " before the message.
  void add_context(std::string_view context) {
    message_.insert(0, ": ");
    message_.insert(0, context);
    drop_zeros();
  }

 private:
  // A name out of a file may hold a NUL, which would end the text for the reader of what().
  void drop_zeros() { std::replace(message_.begin(), message_.end(), '\0', '?'); }

  std::string message_;
};

// Runs `body`; an Error that it throws goes on with the text that `context()` returns in front. All
// other exceptions become an Error, too: running out of memory nearly always means that a file
// asked too much.
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
  } catch (const std::exception& exception) {
    Error error(exception.what());
    error.add_context(context());
    throw error;
  }
}

}  // namespace zarrcore
