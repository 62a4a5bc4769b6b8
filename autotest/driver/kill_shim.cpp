// Preloaded into a program, ends it with SIGKILL before its n-th change of a file or folder from
// kill_at() on: renames, links and removals; from kill_at_any() on also what makes and fills files.
// The environment variables KILL_AT and KILL_AT_ANY are n for a whole program, which says at its
// end how many changes were left. With NO_EXCHANGE, names cannot be exchanged, as on many systems.
// A program stops before it renames something from or to a name that ends with STOP_BEFORE.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

std::atomic<std::uint64_t> left{0};  // 0: it continues
std::atomic<bool> counts_all{false};

[[gnu::constructor]] void read_environment() {
  if (const char* n = std::getenv("KILL_AT")) left = std::strtoull(n, nullptr, 10);
  if (const char* n = std::getenv("KILL_AT_ANY")) {
    left = std::strtoull(n, nullptr, 10);
    counts_all = true;
  }
}

[[gnu::destructor]] void say_left() {
  if (counts_all) dprintf(STDERR_FILENO, "%llu left\n", static_cast<unsigned long long>(left));
}

void count() {
  if (left != 0 && --left == 0) kill(getpid(), SIGKILL);
}

void count_rename(const char* from, const char* to) {
  count();
  const char* end = std::getenv("STOP_BEFORE");
  const auto ends_so = [&](std::string_view name) {
    return name.size() >= std::strlen(end) && name.substr(name.size() - std::strlen(end)) == end;
  };
  if (end != nullptr && (ends_so(from) || ends_so(to))) raise(SIGSTOP);
}

void count_contents() {
  if (counts_all) count();
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Open = int(const char*, int, ...);

int open_file(const char* function, const char* path, int flags, va_list words) {
  if ((flags & O_CREAT) == 0) return next<Open>(function)(path, flags);
  count_contents();
  return next<Open>(function)(path, flags, va_arg(words, mode_t));
}

}  // namespace

extern "C" {

void kill_at(std::uint64_t n) {
  left = n;
}
void kill_at_any(std::uint64_t n) {
  counts_all = true;
  left = n;
}

int open(const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const int file = open_file("open", path, flags, words);
  va_end(words);
  return file;
}
int open64(const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const int file = open_file("open64", path, flags, words);
  va_end(words);
  return file;
}
ssize_t write(int file, const void* bytes, size_t size) {
  count_contents();
  return next<ssize_t(int, const void*, size_t)>("write")(file, bytes, size);
}
int syncfs(int file) noexcept {
  count_contents();
  return next<int(int)>("syncfs")(file);
}
int fsync(int file) {
  count_contents();
  return next<int(int)>("fsync")(file);
}
int mkdir(const char* path, mode_t mode) noexcept {
  count_contents();
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}

int rmdir(const char* path) noexcept {
  count_contents();
  return next<int(const char*)>("rmdir")(path);
}

int rename(const char* from, const char* to) noexcept {
  count_rename(from, to);
  return next<int(const char*, const char*)>("rename")(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  count_rename(from, to);
  return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder,
                                                                   to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (std::getenv("NO_EXCHANGE") && (flags & RENAME_EXCHANGE) != 0) {
    errno = EINVAL;
    return -1;
  }
  count_rename(from, to);
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
