// Walks through JSON text token by token without making values of it. parse_json() builds its
// values with it (json.h), and JsonMembers skips over the values that nobody needs
// (json_members.h). Accepts what Python's reader accepts beyond RFC 8259: the bare words NaN,
// Infinity and -Infinity, and lone surrogates.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zarrcore {

// Deeper documents are refused, so that no document can exhaust the stack.
inline constexpr int kMaxJsonDepth = 256;

class JsonScanner {
 public:
  // Starts at the first token of `text`, which must outlive the scanner and all it returns.
  explicit JsonScanner(std::string_view text);

  // The next character; NUL, with which no token begins, at the end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::size_t at() const { return at_; }  // in bytes
  std::string_view rest() const { return text_.substr(at_); }

  void skip_space();
  // Skips `c` if it is the next character, and white space after it; returns whether it was.
  bool accept(char c);

  // Each of these reads what begins at the next character and throws Error when it is something
  // else, or has no end.
  std::string_view read_raw_string();  // as it is written between its quotation marks
  std::string read_string();
  std::string_view read_word();   // a number, or a word like "true"; its spelling is not checked
  std::string_view skip_value();  // any value, whose end is looked for and no more

  // Throws the Error that says that `expected` is not at byte `at`.
  [[noreturn]] void fail(std::string_view expected, std::size_t at) const;
  [[noreturn]] void fail(std::string_view expected) const { fail(expected, at_); }

 private:
  void append_escape(std::string& result, std::size_t& at) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

// The string that is written as `raw` between quotation marks. Throws Error when `raw` is not
// right.
std::string unescape_json(std::string_view raw);

// Throws the Error for documents that are nested too deeply.
[[noreturn]] void refuse_json_depth();

}  // namespace zarrcore
