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

LocalFolder::Lock::Lock(LocalFolder& folder, LockMode mode)
    : folder_(folder), is_held_(folder_.lock(mode)) {}

LocalFolder::Lock::~Lock() {
  folder_.unlock();
}

bool LocalFolder::lock(LockMode mode) {
  const bool is_shared = mode == LockMode::shared;
  std::unique_lock turn(mutex_);
  unlocked_.wait(turn, [&] {
    const bool is_joined = is_shared && sharers_ > 0 && sharers_ < kMaxSharers;
    return holders_ == 0 || is_joined;
  });
  if (holders_++ == 0) {
    sharers_ = 0;
    is_locked_ = lock_system(mode);
  }
  if (is_shared) ++sharers_;
  return is_locked_;
}

void LocalFolder::unlock() {
  const std::lock_guard turn(mutex_);
  if (--holders_ > 0) return;
  unlock_system();
  unlocked_.notify_all();
}

}  // namespace zarrcore
