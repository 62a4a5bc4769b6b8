#include "zarrcore/store/local_folder.h"

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// How many threads may share one lock before exclusive ones have their turn.
constexpr unsigned kMaxSharers = 32;

}  // namespace

std::shared_ptr<LocalFolder> LocalFolder::open(const std::string& path) {
  std::error_code error;
  auto folder = open(path, error);
  if (!folder && error != std::errc::no_such_file_or_directory) {
    throw Error(path + ": " + error.message());
  }
  return folder;
}

LocalFolder::Lock::Lock(LocalFolder& folder, LockMode mode, std::chrono::milliseconds limit)
    : folder_(folder), is_held_(folder_.lock(mode, limit)) {}

LocalFolder::Lock::~Lock() {
  folder_.unlock();
}

bool LocalFolder::lock(LockMode mode, std::chrono::milliseconds limit) {
  LockWait wait(limit);
  const bool is_shared = mode == LockMode::shared;
  {
    std::unique_lock turn(mutex_);
    const auto can_join = [&] { return is_shared && sharers_ > 0 && sharers_ < kMaxSharers; };
    const bool is_my_turn =
        unlocked_.wait_until(turn, wait.end(), [&] { return holders_ == 0 || can_join(); });
    if (!is_my_turn) throw LockTimeout(system_lock_holder());
    if (holders_++ > 0) {
      ++sharers_;
      return is_locked_;
    }
    sharers_ = 0;
  }
  // Meanwhile, other threads wait for `unlocked_`, which has a limit, and not for `mutex_`.
  bool is_locked = false;
  try {
    is_locked = wait_for_system(mode, wait);
  } catch (...) {
    const std::lock_guard turn(mutex_);
    --holders_;
    unlocked_.notify_all();
    throw;
  }
  const std::lock_guard turn(mutex_);
  is_locked_ = is_locked;
  if (is_shared) {
    ++sharers_;
    unlocked_.notify_all();
  }
  return is_locked;
}

bool LocalFolder::wait_for_system(LockMode mode, LockWait& wait) {
  while (true) {
    const Attempt attempt = try_lock_system(mode);
    if (attempt != Attempt::busy) return attempt == Attempt::held;
    if (!wait.pause()) throw LockTimeout(system_lock_holder());
  }
}

void LocalFolder::unlock() {
  const std::lock_guard turn(mutex_);
  if (--holders_ > 0) return;
  unlock_system();
  unlocked_.notify_all();
}

}  // namespace zarrcore
