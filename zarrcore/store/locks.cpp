#include "zarrcore/store/locks.h"

#ifdef __linux__
#include <sys/stat.h>
#include <sys/sysmacros.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"

namespace zarrcore {
namespace {

using std::chrono::steady_clock;

// Between a half and the whole of `longest`. Two processes seldom draw the same numbers: clocks
// count nanoseconds.
std::chrono::microseconds random_part(std::chrono::microseconds longest) {
  static std::atomic<std::uint64_t> draws{0};
  const auto now = static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count());
  std::uint64_t bits = now + 0x9e3779b97f4a7c15 * ++draws;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  const auto half = static_cast<std::uint64_t>(longest.count()) / 2;
  return std::chrono::microseconds(half + (bits >> 32) % (half + 1));
}

}  // namespace

#ifdef __linux__
// The lines of /proc/locks are "1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF", with the process
// and the file; an arrow after the first number means that the process still waits. For the locks
// of open files (OFDLCK) the process is -1.
std::string lock_holder(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return {};
  char file[64];
  std::snprintf(file, sizeof(file), "%02x:%02x:%llu", ::major(status.st_dev),
                ::minor(status.st_dev), static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number;
    std::string kind;
    std::string is_binding;
    std::string mode;
    long process = 0;
    std::string locked;
    if (!(words >> number >> kind >> is_binding >> mode >> process >> locked)) continue;
    if (locked != file || process <= 0) continue;
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
    return "process " + std::to_string(process) + (name.empty() ? name : " (" + name + ")");
  }
  return {};
}
#else
std::string lock_holder(int /*descriptor*/) {
  return {};
}
#endif

bool LockWait::pause() {
  constexpr std::chrono::microseconds kLongest{20'000};
  const auto now = steady_clock::now();
  if (now >= end_) return false;
  const steady_clock::duration left = end_ - now;
  std::this_thread::sleep_for(std::min<steady_clock::duration>(random_part(pause_), left));
  pause_ = std::min(2 * pause_, kLongest);
  return true;
}

std::chrono::milliseconds LockTimeouts::limit_of(const std::string& path) {
  constexpr std::chrono::milliseconds kShort{100};
  const std::lock_guard lock(mutex_);
  const auto it = held_.find(path);
  if (it == held_.end()) return limit_;
  if (it->second > steady_clock::now()) return std::min(kShort, limit_);
  held_.erase(it);
  return limit_;
}

void LockTimeouts::set_held(const std::string& path) {
  const std::lock_guard lock(mutex_);
  held_[path] = steady_clock::now() + limit_;
}

std::unique_ptr<StoreLock> lock_folder(const std::string& path, LockMode mode,
                                       std::chrono::milliseconds limit) {
  using Attempt = SystemFolderLock::Attempt;
  LockWait wait(limit);
  while (true) {
    std::error_code error;
    auto lock = std::make_unique<SystemFolderLock>(path, error);
    if (error) {
      // A folder without permission to list it can still be written to.
      if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
          error == std::errc::permission_denied) {
        return nullptr;
      }
      throw Error(path + ": " + error.message());
    }
    Attempt attempt = lock->try_lock(mode);
    while (attempt == Attempt::busy) {
      if (!wait.pause()) throw LockTimeout(lock->holder());
      attempt = lock->try_lock(mode);
    }
    if (attempt == Attempt::impossible) return nullptr;
    // Before this thread had the lock, another folder may have replaced this one.
    if (lock->is_at(path)) return lock;
    if (!wait.pause()) throw LockTimeout(lock->holder());
  }
}

// On some systems, record locks belong to the process: they do not exclude its threads, and closing
// any descriptor of the file releases the lock. So the threads of a process take turns.
class FileLocks::Turn {
 public:
  // The turn of a lock file. Several files may share one.
  static Turn& of(const std::string& path) {
    static auto& turns = *new std::array<Turn, 64>;
    return turns[std::hash<std::string>()(path) % turns.size()];
  }

  // Throws LockTimeout.
  std::unique_ptr<Turn, EndOfTurn> begin(const LockWait& wait) {
    std::unique_lock lock(mutex_);
    // In a forked child, a turn held by the parent counts as free.
    const auto is_free = [this] { return !is_taken_ || process_ != process_id(); };
    if (!ended_.wait_until(lock, wait.end(), is_free)) throw LockTimeout("another thread");
    is_taken_ = true;
    process_ = process_id();
    return std::unique_ptr<Turn, EndOfTurn>(this);
  }

  // Processes that wait cannot find a lock free that this one takes again at once. So it stays free
  // for a small part of the time for which it was held.
  void yield(const std::string& path) {
    if (path == path_) std::this_thread::sleep_until(free_until_);
  }

  void set_locked(const std::string& path) {
    path_ = path;
    locked_at_ = steady_clock::now();
  }

  void end() noexcept {
    constexpr steady_clock::duration kLongest = std::chrono::milliseconds(25);
    const std::lock_guard lock(mutex_);
    const auto now = steady_clock::now();
    free_until_ = now + std::min((now - locked_at_) / 16, kLongest);
    is_taken_ = false;
    ended_.notify_one();
  }

 private:
  std::mutex mutex_;  // guards is_taken_ and process_
  std::condition_variable ended_;
  bool is_taken_ = false;
  long process_ = 0;  // the process that holds the turn
  // State of the last lock. It belongs to the thread whose turn it is.
  std::string path_;
  steady_clock::time_point locked_at_;
  steady_clock::time_point free_until_;
};

void FileLocks::EndOfTurn::operator()(Turn* turn) const noexcept {
  turn->end();
}

FileLocks::Held FileLocks::lock(std::string_view key) const {
  check_key(key);
  const std::string path = join_path(utf8_of(folder_), key);
  return with_context({"lock ", path}, [&] {
    return timeouts_.take(path, [&](std::chrono::milliseconds limit) {
      LockWait wait(limit);
      Held held{Turn::of(path).begin(wait), nullptr};
      held.turn->yield(path);
      make_folders(folder_of(path));
      held.file = std::make_unique<LocalFile>(path, LocalFile::Mode::lock);
      held.file->lock(wait);
      held.turn->set_locked(path);
      return held;
    });
  });
}

}  // namespace zarrcore
