#include "zarrcore/icechunk/object_id.h"

#include <algorithm>
#include <cstdint>

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kIdAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kObjectIdLetters = 20;

}  // namespace

std::string id_text(ByteSpan id) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::byte byte : id) {
    bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
    for (count += 8; count >= 5; count -= 5) text += kIdAlphabet[bits >> (count - 5) & 31];
  }
  if (count > 0) text += kIdAlphabet[bits << (5 - count) & 31];
  return text;
}

bool is_object_id(std::string_view text) {
  return text.size() == kObjectIdLetters && std::ranges::all_of(text, [](char c) {
           return kIdAlphabet.find(c) != std::string_view::npos;
         });
}

}  // namespace zarrcore::icechunk
