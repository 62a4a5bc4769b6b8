#include "zarrcore/base/json_members.h"

namespace zarrcore {

JsonMembers::JsonMembers(std::string_view text, TrailingComma trailing_comma)
    : scanner_(text), trailing_comma_(trailing_comma) {
  if (!scanner_.accept('{')) scanner_.fail("an object");
}

bool JsonMembers::next() {
  if (is_at_value_) value();
  scanner_.skip_space();
  if (scanner_.accept('}')) return false;
  if (!is_first_) {
    if (!scanner_.accept(',')) scanner_.fail("a comma or the end of the object");
    if (trailing_comma_ == TrailingComma::accepted && scanner_.accept('}')) return false;
  }
  is_first_ = false;
  if (scanner_.peek() != '"') scanner_.fail("the name of a member");
  key_ = scanner_.read_raw_string();
  scanner_.skip_space();
  if (!scanner_.accept(':')) scanner_.fail("a colon");
  is_at_value_ = true;
  return true;
}

std::string_view JsonMembers::value() {
  is_at_value_ = false;
  return scanner_.skip_value();
}

}  // namespace zarrcore
