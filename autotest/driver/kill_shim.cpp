// Preloaded into a program, ends it with SIGKILL before its n-th change of a file or folder from
// kill_at() on.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<std::uint64_t> left{0};  // 0: it goes on

void count() {
  if (left != 0 && --left == 0) kill(getpid(), SIGKILL);
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void kill_at(std::uint64_t n) {
  left = n;
}

int rename(const char* from, const char* to) noexcept {
  count();
  return next<int(const char*, const char*)>("rename")(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  count();
  return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder,
                                                                   to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  count();
  return next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from,
                                                                              to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
  count();
  return next<int(const char*, const char*)>("link")(from, to);
}
int remove(const char* path) noexcept {
  count();
  return next<int(const char*)>("remove")(path);
}
int unlink(const char* path) noexcept {
  count();
  return next<int(const char*)>("unlink")(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  count();
  return next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}

}  // extern "C"
