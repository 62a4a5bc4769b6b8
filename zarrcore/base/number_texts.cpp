#include "zarrcore/base/number_texts.h"

#include <algorithm>

namespace zarrcore {

std::vector<NumberTexts::Entry>::iterator NumberTexts::lower_bound(Texts& texts,
                                                                   std::size_t place) {
  return std::lower_bound(
      texts.entries.begin(), texts.entries.end(), place,
      [](const Entry& entry, std::size_t wanted) { return entry.place < wanted; });
}

void NumberTexts::add(std::size_t place, std::string_view text) {
  if (!texts_) texts_ = std::make_unique<Texts>();
  const std::size_t start = texts_->characters.size();
  texts_->characters.append(text).push_back('\0');
  const auto it = lower_bound(*texts_, place);
  if (it != texts_->entries.end() && it->place == place) {
    it->start = start;
  } else {
    texts_->entries.insert(it, {place, start});
  }
}

std::string_view NumberTexts::find(std::size_t place) const {
  if (!texts_) return {};
  const auto it = lower_bound(*texts_, place);
  if (it == texts_->entries.end() || it->place != place) return {};
  return texts_->characters.c_str() + it->start;
}

void NumberTexts::erase(std::size_t place, std::size_t count) {
  if (!texts_) return;
  const auto first = lower_bound(*texts_, place);
  const auto last = lower_bound(*texts_, place + count);
  for (auto it = texts_->entries.erase(first, last); it != texts_->entries.end(); ++it) {
    it->place -= count;
  }
}

}  // namespace zarrcore
