// Memory for the bytes that elements of variable length point to. Code that decodes a chunk of such
// elements keeps the arena as long as the chunk.
#pragma once

#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"

namespace zarrcore {

// An element of variable length in memory: a reference to bytes elsewhere. All zero is the empty
// one.
struct VariableElement {
  const char* data = nullptr;
  std::uint64_t size = 0;

  std::string_view text() const { return {data, memory_size(size)}; }
};

// More bytes than any sensible stored chunk of `count` such elements has. Each element could have
// 4 GiB; a page of text in each, or a few huge ones, are allowed.
inline std::uint64_t max_stored_size(std::uint64_t count) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 32;
  const auto pages = checked_multiply(count, kPage);
  return pages ? checked_add(*pages, kHuge).value_or(UINT64_MAX) : UINT64_MAX;
}

class Arena {
 public:
  // Returns a copy of `bytes` that lives as long as the arena.
  ByteSpan keep(ByteSpan bytes) {
    buffers_.push_back(Buffer::copy_of(bytes));
    byte_count_ += bytes.size();
    return buffers_.back().span();
  }
  VariableElement keep(std::string_view text) {
    const ByteSpan bytes = keep(std::as_bytes(std::span(text)));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::uint64_t byte_count() const { return byte_count_; }

 private:
  std::vector<Buffer> buffers_;
  std::uint64_t byte_count_ = 0;
};

}  // namespace zarrcore
