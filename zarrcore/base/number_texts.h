// How numbers of a JSON list or object were spelled where no number of the Json type is spelled so:
// 1.10, 1e400, integers of 30 digits. Documents are written with these texts, so that a program
// that changes one member leaves the others as they are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"

namespace zarrcore {

// The texts of some items, by the place of the item in its list or object.
class ZARRCORE_API NumberTexts {
 public:
  NumberTexts() = default;
  NumberTexts(const NumberTexts& other)
      : texts_(other.texts_ ? std::make_unique<Texts>(*other.texts_) : nullptr) {}
  NumberTexts(NumberTexts&&) noexcept = default;
  NumberTexts& operator=(NumberTexts other) noexcept {
    texts_ = std::move(other.texts_);
    return *this;
  }
  ~NumberTexts() = default;

  bool is_empty() const { return texts_ == nullptr; }
  // Replaces the text of the item.
  void add(std::size_t place, std::string_view text);
  // Empty if the item has none. Valid until the next change.
  std::string_view find(std::size_t place) const;
  // Follows the removal of `count` items.
  void erase(std::size_t place, std::size_t count);
  void clear() { texts_.reset(); }

 private:
  struct Entry {
    std::size_t place;
    std::size_t start;  // of the text, which a zero byte ends
  };
  struct Texts {
    std::vector<Entry> entries;  // sorted by place
    std::string characters;
  };

  static std::vector<Entry>::iterator lower_bound(Texts& texts, std::size_t place);

  std::unique_ptr<Texts> texts_;  // most lists and objects need none
};

}  // namespace zarrcore
