// The input of a fuzz target, and what a target does when a promise is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

// libFuzzer calls it with one input after the other, and so does replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace zarrcore::fuzz {

// Ends the process unless `holds`: that is how a fuzzer learns of it, and keeps the input.
inline void check(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

// Runs `body`; false when it throws Error, which is how all that is wrong with a store is reported.
// Any other exception ends the process.
template <typename Body>
bool succeeds(const Body& body) noexcept {
  try {
    body();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The bytes of an input, taken from the front.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool is_empty() const { return rest_.empty(); }

  // Zero past the end.
  std::size_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  // What stands before `separator`, or all that is left.
  std::string_view until(std::string_view separator) {
    const std::size_t end = rest_.find(separator);
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + separator.size());
    return taken;
  }

  std::string_view rest() const { return rest_; }
  ByteSpan bytes() const { return std::as_bytes(std::span(rest_)); }

 private:
  std::string_view rest_;
};

}  // namespace zarrcore::fuzz
