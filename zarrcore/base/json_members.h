// Reads the members of a JSON object one by one where they stand in the text, without making values
// of them: documents of references and consolidated metadata have up to millions of members, of
// which a reader needs few. A value is only looked at as far as it takes to find its end; who uses
// it parses it (base/json.h).
#pragma once

#include <string>
#include <string_view>

namespace zarrcore {

// Whether a comma may stand behind the last member.
enum class TrailingComma : bool { refused, accepted };

class JsonMembers {
 public:
  // Whether `text` begins as an object does.
  static bool is_object(std::string_view text);

  // `text` begins with the object, or white space before it, and must outlive this and all it
  // returns. Throws Error when no object is there.
  explicit JsonMembers(std::string_view text,
                       TrailingComma trailing_comma = TrailingComma::refused);

  // Goes on to the next member, or returns false behind the last. Throws Error where the
  // text goes wrong or ends.
  bool next();

  // The name of the member, as it stands between its quotation marks.
  std::string_view raw_key() const { return key_; }
  // All text from the member's value on.
  std::string_view rest() const { return text_.substr(at_); }
  // The text of the value. Throws Error when it does not end.
  std::string_view value();

 private:
  void skip_space();
  char peek() const;
  [[noreturn]] void fail(const char* expected) const;
  std::string_view read_string();
  void skip_value();

  std::string_view text_;
  TrailingComma trailing_comma_;
  std::size_t at_ = 0;
  std::string_view key_;
  bool at_value_ = false;
  bool is_first_ = true;
};

// What the name of a member stands for.
std::string unescape_json(std::string_view raw_key);

}  // namespace zarrcore
