// Memory for bytes that a codec or a store fills. Large buffers are mapped by themselves, in huge
// pages where the system has them; a few that have been freed are reused. The system clears memory
// that is new to a process page by page, which can take as long as decoding a chunk into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/checked_math.h"

namespace zarrcore {

// Memory that is not initialized. Throws std::bad_alloc.
ZARRCORE_API std::byte* allocate_buffer(std::size_t size);
// Null if there is not enough memory.
ZARRCORE_API std::byte* try_to_allocate_buffer(std::size_t size) noexcept;
// Frees memory that was allocated with this size.
ZARRCORE_API void free_buffer(std::byte* memory, std::size_t size) noexcept;

struct BufferDeleter {
  std::size_t size = 0;  // that was allocated
  void operator()(std::byte* memory) const noexcept { free_buffer(memory, size); }
};

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

// A number of bytes in memory. Throws std::bad_alloc when no memory can be so large.
inline std::size_t memory_size(std::uint64_t size) {
  if (size > static_cast<std::size_t>(PTRDIFF_MAX)) throw std::bad_alloc();
  return static_cast<std::size_t>(size);
}

// Owned bytes that are not initialized. Move-only.
class Buffer {
 public:
  Buffer() = default;
  // Throws std::bad_alloc when there is not enough memory, and on 32-bit systems also when a file
  // states a size that memory cannot have.
  explicit Buffer(std::uint64_t size)
      : size_(memory_size(size)), data_(allocate_buffer(size_), BufferDeleter{size_}) {}

  // A new buffer with the same bytes.
  static Buffer copy_of(ByteSpan bytes) {
    Buffer buffer(bytes.size());
    if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }
  static Buffer copy_of(std::string_view text) { return copy_of(std::as_bytes(std::span(text))); }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  MutableByteSpan span() { return {data_.get(), size_}; }
  ByteSpan span() const { return {data_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }

  // Drops the bytes past `size`, which must not be larger than the current size. Their memory is
  // not freed: a buffer that lives long should be shrunk to fit.
  void truncate(std::size_t size) { size_ = size; }
  // Does nothing if there is not enough memory for a copy.
  void shrink_to_fit() noexcept {
    if (capacity() == size_) return;
    Memory smaller(try_to_allocate_buffer(size_), BufferDeleter{size_});
    if (!smaller) return;
    std::memcpy(smaller.get(), data(), size_);
    data_.swap(smaller);
  }
  // In bytes of memory.
  std::size_t capacity() const { return data_.get_deleter().size; }

 private:
  using Memory = std::unique_ptr<std::byte[], BufferDeleter>;

  std::size_t size_ = 0;
  Memory data_;
};

// An element of variable length in memory: a reference to bytes elsewhere. All zero is the empty
// one.
struct VariableElement {
  const char* data = nullptr;
  std::uint64_t size = 0;

  std::string_view text() const { return {data, memory_size(size)}; }

  // The element at `index` of a dense chunk.
  static VariableElement load(ByteSpan elements, std::uint64_t index) {
    VariableElement element;
    std::memcpy(&element, elements.data() + index * sizeof(element), sizeof(element));
    return element;
  }
  void store(MutableByteSpan elements, std::uint64_t index) const {
    std::memcpy(elements.data() + index * sizeof(*this), this, sizeof(*this));
  }
};

// More bytes than any sensible stored chunk of `count` such elements has. Each element could have
// 4 GiB; a page of text in each, or a few huge ones, are allowed.
inline std::uint64_t max_stored_size(std::uint64_t count) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 32;
  const auto pages = checked_multiply(count, kPage);
  return pages ? checked_add(*pages, kHuge).value_or(UINT64_MAX) : UINT64_MAX;
}

// Memory for the bytes that elements of variable length point to. Code that decodes a chunk of such
// elements holds the arena as long as the chunk.
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
  // Stores the parts of a copy of `text` to `elements`: the one at index i ends at `ends[i]`, where
  // the next one begins. All parts share one allocation.
  void keep(std::string_view text, std::span<const std::size_t> ends, MutableByteSpan elements) {
    VariableElement element{keep(text).data};
    for (std::size_t i = 0; i < ends.size(); ++i) {
      element.size = ends[i] - (i == 0 ? 0 : ends[i - 1]);
      element.store(elements, i);
      element.data += element.size;
    }
  }

  std::uint64_t byte_count() const { return byte_count_; }

 private:
  std::vector<Buffer> buffers_;
  std::uint64_t byte_count_ = 0;
};

// Returns free heap memory to the system, if the allocator supports it. Buffers of many sizes that
// are freed between others that stay leave holes, which together can become as large as everything
// that stays. Memory that is allocated afterwards is cleared by the system, at about the cost of a
// copy: call this after freeing tens of megabytes that are not needed again soon.
void return_free_memory();

// Prepares the allocator, for the rest of the process, for large buffers that are allocated and
// freed in turn, also by the codecs' libraries. Until it has seen this pattern, glibc returns each
// buffer to the system when it is freed and has the next one cleared again. Does nothing when there
// is too little memory.
ZARRCORE_API void expect_large_buffers();

}  // namespace zarrcore
