#include "zarrcore/base/buffer.h"

#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// Sanitizers know their own memory only.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ZARRCORE_MAPS_BUFFERS 1
#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

#include "zarrcore/base/process.h"
#else
#define ZARRCORE_MAPS_BUFFERS 0
#endif

namespace zarrcore {

#if ZARRCORE_MAPS_BUFFERS
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMaxFreeBytes = std::size_t{32} << 20;

// Lengths in eight steps between powers of two, so that compressed chunks, which differ in size,
// get the memory of those before. What a buffer does not use of it takes no memory.
std::size_t mapped_length(std::size_t size) {
  const std::size_t step = std::bit_floor(size) / 8;
  return (size + step - 1) / step * step;
}

std::byte* map(std::size_t length) noexcept {
  // Extra room, so that the buffer can begin at a huge page.
  const std::size_t room = length >= kHugePage ? kHugePage : 0;
  void* const mapped =
      ::mmap(nullptr, length + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(mapped);
  if (room == 0) return start;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(start) % kHugePage;
  if (before > 0) ::munmap(start, before);
  if (before < room) ::munmap(start + before + length, room - before);
  ::madvise(start + before, length / kHugePage * kHugePage, MADV_HUGEPAGE);
  return start + before;
}

// Freed buffers, the oldest first.
class FreeBuffers {
 public:
  static FreeBuffers& of_process() {
    static FreeBuffers& buffers = *new FreeBuffers;
    return buffers;
  }

  std::byte* take(std::size_t length) noexcept {
    const std::lock_guard lock(mutex_);
    // The newest one is most likely in the processor's cache.
    for (std::size_t i = count_; i-- > 0;) {
      if (buffers_[i].second == length) return remove(i);
    }
    return nullptr;
  }

  void keep(std::byte* memory, std::size_t length) noexcept {
    if (length > kMaxFreeBytes) {
      ::munmap(memory, length);
      return;
    }
    const std::lock_guard lock(mutex_);
    while (count_ == buffers_.size() || bytes_ + length > kMaxFreeBytes) unmap_oldest();
    buffers_[count_++] = {memory, length};
    bytes_ += length;
  }

  void unmap_all() noexcept {
    const std::lock_guard lock(mutex_);
    while (count_ > 0) unmap_oldest();
  }

 private:
  std::byte* remove(std::size_t at) noexcept {
    const auto [memory, length] = buffers_[at];
    for (std::size_t i = at + 1; i < count_; ++i) buffers_[i - 1] = buffers_[i];
    --count_;
    bytes_ -= length;
    return memory;
  }
  void unmap_oldest() noexcept {
    const std::size_t length = buffers_[0].second;
    ::munmap(remove(0), length);
  }

  ForkMutex mutex_;
  std::array<std::pair<std::byte*, std::size_t>, 32> buffers_ = {};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

// Made when the library is loaded: what another thread is making while the process forks is never
// completed in the child, where each use of it would hang.
[[maybe_unused]] const FreeBuffers& made_at_start = FreeBuffers::of_process();

}  // namespace
#endif

std::byte* try_to_allocate_buffer(std::size_t size) noexcept {
#if ZARRCORE_MAPS_BUFFERS
  if (size >= kLarge) {
    const std::size_t length = mapped_length(size);
    std::byte* const reused = FreeBuffers::of_process().take(length);
    return reused != nullptr ? reused : map(length);
  }
#endif
  return new (std::nothrow) std::byte[size];
}

std::byte* allocate_buffer(std::size_t size) {
  std::byte* const memory = try_to_allocate_buffer(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_buffer(std::byte* memory, [[maybe_unused]] std::size_t size) noexcept {
#if ZARRCORE_MAPS_BUFFERS
  if (memory != nullptr && size >= kLarge) {
    return FreeBuffers::of_process().keep(memory, mapped_length(size));
  }
#endif
  delete[] memory;
}

void return_free_memory() {
#if ZARRCORE_MAPS_BUFFERS
  FreeBuffers::of_process().unmap_all();
#endif
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void expect_large_buffers() {
#ifdef __GLIBC__
  // glibc allocates a buffer by mmap only if it is larger than the largest such buffer freed so
  // far, and retains up to twice that size of free memory. See M_MMAP_THRESHOLD in mallopt(3).
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  [[maybe_unused]] static const bool has_seen = [] {
    ::operator delete(::operator new(kLarge, std::nothrow));
    return true;
  }();
#endif
}

}  // namespace zarrcore
