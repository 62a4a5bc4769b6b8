// Reads the members of a JSON object one by one from its text, without making values of them:
// documents of references and consolidated metadata have up to millions of members, of which a
// reader needs few. A value is only examined as far as it takes to find its end; a caller that uses
// it parses it (base/json.h).
#pragma once

#include <string_view>

#include "zarrcore/base/json_scanner.h"

namespace zarrcore {

// Whether a comma may follow the last member.
enum class TrailingComma : bool { refused, accepted };

class JsonMembers {
 public:
  // Whether `text` begins as an object does.
  static bool is_object(std::string_view text) { return JsonScanner(text).peek() == '{'; }

  // `text` begins with the object, or white space before it, and must outlive this and all it
  // returns. Throws Error when it does not begin with an object.
  explicit JsonMembers(std::string_view text,
                       TrailingComma trailing_comma = TrailingComma::refused);

  // Moves to the next member; returns false after the last. Throws Error where the text is not
  // right, or ends.
  bool next();

  // The name of the member, as it is written between its quotation marks; see unescape_json().
  std::string_view raw_key() const { return key_; }
  // All text from the member's value on.
  std::string_view rest() const { return scanner_.rest(); }
  // The text of the value. Throws Error when it does not end.
  std::string_view value();

 private:
  JsonScanner scanner_;
  TrailingComma trailing_comma_;
  std::string_view key_;
  bool is_at_value_ = false;
  bool is_first_ = true;
};

}  // namespace zarrcore
