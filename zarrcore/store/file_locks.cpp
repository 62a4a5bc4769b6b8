#include "zarrcore/store/file_locks.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/local_paths.h"

namespace zarrcore {

using std::chrono::steady_clock;

// On some systems, record locks belong to the process: they do not exclude its threads, and closing
// any descriptor of the file releases the lock. So the threads of a process take turns.
class FileLocks::Turn {
 public:
  // That of a lock file. Files may share one.
  static Turn& of(const std::string& path) {
    static auto& turns = *new std::array<Turn, 64>;
    return turns[std::hash<std::string>()(path) % turns.size()];
  }

  // Throws LockTimeout.
  std::unique_ptr<Turn, EndOfTurn> begin(const LockWait& wait) {
    std::unique_lock lock(mutex_);
    // In a forked child, a turn of the parent's is none.
    const auto is_free = [this] { return !is_taken_ || process_ != process_id(); };
    if (!ended_.wait_until(lock, wait.end(), is_free)) throw LockTimeout("another thread");
    is_taken_ = true;
    process_ = process_id();
    return std::unique_ptr<Turn, EndOfTurn>(this);
  }

  // Processes that wait cannot find a lock free that this one takes again at once. So it stays free
  // for a small part of the time for which it was held.
  void leave_free(const std::string& path) {
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
  long process_ = 0;  // that has taken it
  // Of the last lock. They belong to the thread whose turn it is.
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
    return patience_.take(path, [&](std::chrono::milliseconds limit) {
      LockWait wait(limit);
      Held held{Turn::of(path).begin(wait), nullptr};
      held.turn->leave_free(path);
      make_folders(folder_of(path));
      held.file = std::make_unique<LocalFile>(path, LocalFile::Mode::lock);
      held.file->lock(wait);
      held.turn->set_locked(path);
      return held;
    });
  });
}

}  // namespace zarrcore
