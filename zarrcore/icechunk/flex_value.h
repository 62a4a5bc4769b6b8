// Checked access to FlexBuffers, as far as the configuration of a repository needs it: maps and
// strings. The buffer must outlive what is taken from it. Values of other types are seen as
// neither. Error is thrown where the buffer contradicts itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "zarrcore/base/buffer.h"

namespace zarrcore::icechunk {

class FlexMap;

class FlexValue {
 public:
  static FlexValue root(ByteSpan buffer);

  // A value at `place`, where it or its offset has `width` bytes, of the type that `packed` says.
  FlexValue(ByteSpan buffer, std::uint64_t place, unsigned width, unsigned packed)
      : buffer_(buffer), place_(place), width_(width), packed_(packed) {}

  std::optional<std::string_view> text() const;
  std::optional<FlexMap> map() const;

 private:
  ByteSpan buffer_;
  std::uint64_t place_;
  unsigned width_;
  unsigned packed_;
};

class FlexMap {
 public:
  // The values begin at `start` and have `width` bytes each.
  FlexMap(ByteSpan buffer, std::uint64_t start, unsigned width);

  std::uint64_t size() const { return size_; }
  std::string_view key(std::uint64_t i) const;
  FlexValue value(std::uint64_t i) const;
  std::optional<FlexValue> find(std::string_view key) const;

 private:
  ByteSpan buffer_;
  std::uint64_t start_;
  unsigned width_;
  std::uint64_t size_ = 0;
  std::uint64_t keys_ = 0;
  unsigned key_width_ = 0;
};

}  // namespace zarrcore::icechunk
