#include "zarrcore/base/json_value.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <new>
#include <thread>

namespace zarrcore {
namespace {

// Unlike std::mutex, constant-initialized on all systems. Held for a few instructions.
class SpinLock {
 public:
  void lock() noexcept {
    while (is_locked_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { is_locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag is_locked_;
};

// Pieces are taken one after the other, and all are free again as soon as none is in use. Most are
// in use for no longer than a destructor runs; those of a document that is read while memory runs
// out are freed with it.
class Reserve {
 public:
  void* take(std::size_t bytes) noexcept {
    const std::lock_guard guard(lock_);
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > sizeof(memory_) || rounded > sizeof(memory_) - used_) return nullptr;
    void* piece = memory_ + used_;
    used_ += rounded;
    ++pieces_;
    return piece;
  }

  bool give_back(const void* memory) noexcept {
    const std::less<const void*> is_before;
    if (is_before(memory, memory_) || !is_before(memory, memory_ + sizeof(memory_))) return false;
    const std::lock_guard guard(lock_);
    if (--pieces_ == 0) used_ = 0;
    return true;
  }

 private:
  static constexpr std::size_t kAlignment = alignof(std::max_align_t);

  SpinLock lock_;
  std::size_t used_ = 0;
  std::size_t pieces_ = 0;
  alignas(kAlignment) std::byte memory_[std::size_t{1} << 20] = {};
};

// Never destroyed: other objects of the process may be destroyed later.
constinit Reserve reserve;

}  // namespace

void* allocate_json(std::size_t bytes) {
  if (void* memory = ::operator new(bytes, std::nothrow)) return memory;
  if (void* memory = reserve.take(bytes)) return memory;
  throw std::bad_alloc();
}

void free_json(void* memory) noexcept {
  if (!reserve.give_back(memory)) ::operator delete(memory);
}

}  // namespace zarrcore
