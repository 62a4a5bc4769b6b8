// Preloaded into a program, makes every n-th allocation fail whose caller is the plugin: all that
// others ask for they get, GDAL too, which ends the process when it gets nothing.
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

struct Code {
  const char* name;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

Code plugin{"gdal_Zarr.so"};
Code standard_library{"libstdc++.so"};
std::atomic<std::uint64_t> every{0};  // 0: nothing fails
std::atomic<std::uint64_t> count{0};
thread_local bool is_walking __attribute__((tls_model("initial-exec"))) = false;

int find_code(dl_phdr_info* info, std::size_t, void*) {
  for (Code* code : {&plugin, &standard_library}) {
    if (std::strstr(info->dlpi_name, code->name) == nullptr) continue;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      code->begin = info->dlpi_addr + header.p_vaddr;
      code->end = code->begin + header.p_memsz;
    }
  }
  return 0;
}

// The first caller that is neither this file nor the standard library, which allocates for others.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* found) {
  const std::uintptr_t address = _Unwind_GetIP(context);
  static const auto own = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&visit), &info);
    return info.dli_fbase;
  }();
  Dl_info info;
  const bool is_known = dladdr(reinterpret_cast<void*>(address), &info) != 0;
  if (standard_library.holds(address)) return _URC_NO_REASON;
  if (is_known && info.dli_fbase == own) return _URC_NO_REASON;
  *static_cast<std::uintptr_t*>(found) = address;
  return _URC_END_OF_STACK;
}

bool fails(void* caller) {
  const std::uint64_t n = every.load(std::memory_order_relaxed);
  if (n == 0 || is_walking) return false;
  auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (standard_library.holds(address)) {
    is_walking = true;
    _Unwind_Backtrace(visit, &address);
    is_walking = false;
  }
  return plugin.holds(address) && ++count % n == 0;
}

void* allocate(std::size_t size, std::size_t alignment, void* caller) {
  if (fails(caller)) return nullptr;
  return alignment == 0 ? __libc_malloc(size) : __libc_memalign(alignment, size);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment, void* caller) {
  void* memory = allocate(size == 0 ? 1 : size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

extern "C" {

void fail_every(std::uint64_t n) {
  every = 0;
  dl_iterate_phdr(find_code, nullptr);
  count = 0;
  every = n;
}

std::uint64_t allocation_count() {
  return count;
}

void* malloc(std::size_t size) {
  return allocate(size, 0, CALLER);
}
void* calloc(std::size_t number, std::size_t size) {
  return fails(CALLER) ? nullptr : __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  return fails(CALLER) ? nullptr : __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocate(size, alignment, CALLER);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = allocate(size, alignment, CALLER);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"

void* operator new(std::size_t size) {
  return allocate_or_throw(size, 0, CALLER);
}
void* operator new[](std::size_t size) {
  return allocate_or_throw(size, 0, CALLER);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment), CALLER);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment), CALLER);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0, CALLER);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0, CALLER);
}
void operator delete(void* memory) noexcept {
  __libc_free(memory);
}
void operator delete[](void* memory) noexcept {
  __libc_free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  __libc_free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  __libc_free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  __libc_free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  __libc_free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  __libc_free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  __libc_free(memory);
}
