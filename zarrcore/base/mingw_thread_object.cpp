#include <windows.h>

#include <memory>
#include <new>

#include "zarrcore/base/thread_object.h"

namespace zarrcore {

struct ThreadSlot::Held {
  void* object;
  void (*destroy)(void*);

  static void CALLBACK release(void* value) {
    const std::unique_ptr<Held> held(static_cast<Held*>(value));
    held->destroy(held->object);
  }
};

ThreadSlot::ThreadSlot(void (*destroy)(void*))
    : destroy_(destroy), index_(::FlsAlloc(&Held::release)) {
  if (index_ == FLS_OUT_OF_INDEXES) throw std::bad_alloc();
}

ThreadSlot::~ThreadSlot() {
  ::FlsFree(index_);
}

void* ThreadSlot::get() const {
  const auto* held = static_cast<const Held*>(::FlsGetValue(index_));
  return held == nullptr ? nullptr : held->object;
}

void ThreadSlot::set(void* object) {
  auto* const held = new (std::nothrow) Held{object, destroy_};
  if (held != nullptr && ::FlsSetValue(index_, held) != 0) return;
  delete held;
  destroy_(object);
  throw std::bad_alloc();
}

}  // namespace zarrcore
