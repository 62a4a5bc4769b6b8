// A list of a few values, one for each dimension, without memory of its own for up to eight. For
// what is made for each chunk.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace zarrcore {

template <typename Value>
class RankList {
 public:
  // Room for `most` values, of which none exists yet.
  explicit RankList(std::size_t most) : many_(most > kFew ? most : 0) {}

  void push_back(const Value& value) { data()[size_++] = value; }
  // To fewer values, or, within the room, to more: these are empty ones.
  void resize(std::size_t size) {
    while (size_ < size) push_back(Value{});
    size_ = size;
  }
  void erase(std::size_t i) {
    for (; i + 1 < size_; ++i) data()[i] = data()[i + 1];
    --size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Value& operator[](std::size_t i) { return data()[i]; }
  const Value& operator[](std::size_t i) const { return data()[i]; }
  Value* begin() { return data(); }
  Value* end() { return data() + size_; }
  const Value* begin() const { return data(); }
  const Value* end() const { return data() + size_; }

 private:
  static constexpr std::size_t kFew = 8;

  Value* data() { return many_.empty() ? few_.data() : many_.data(); }
  const Value* data() const { return many_.empty() ? few_.data() : many_.data(); }

  std::array<Value, kFew> few_;
  std::vector<Value> many_;
  std::size_t size_ = 0;
};

}  // namespace zarrcore
