#include "zarrcore/base/error.h"

#include <algorithm>
#include <new>
#include <utility>

#include "zarrcore/base/api.h"

namespace zarrcore {

std::string_view version() {
  return ZARRCORE_VERSION;
}

namespace {

// A name from a file may hold a NUL, which would end the text for the reader of what().
void replace_zeros(std::string& message) {
  std::replace(message.begin(), message.end(), '\0', '?');
}

}  // namespace

Error::Error(std::string message) : message_(std::move(message)) {
  replace_zeros(message_);
}

void Error::add_context(std::string_view context) {
  message_.insert(0, ": ");
  message_.insert(0, context);
  replace_zeros(message_);
}

void ContextPart::append_to(std::string& text) const {
  if (number_) {
    text += std::to_string(*number_);
  } else {
    text += text_;
  }
}

void rethrow_with_context(std::initializer_list<ContextPart> context) {
  const auto add_to = [context](Error& error) {
    std::string text;
    for (const ContextPart& part : context) part.append_to(text);
    error.add_context(text);
  };
  try {
    throw;
  } catch (Error& error) {
    add_to(error);
    throw;
  } catch (const std::bad_alloc&) {
    OutOfMemory error;
    add_to(error);
    throw error;
  } catch (const std::exception& exception) {
    Error error(exception.what());
    add_to(error);
    throw error;
  }
}

}  // namespace zarrcore
