#include "zarrcore/store/folder_watch.h"

#ifdef __linux__
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/local_files.h"

namespace zarrcore {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxFolders = 64;
// A folder is watched after this many requests for it, or more if it has changed soon after that.
constexpr std::uint64_t kFirstRequests = 8;
constexpr std::uint64_t kMostRequests = 1 << 12;
constexpr std::uint64_t kSoon = 16;  // times the requests before

constexpr std::uint32_t kChanges = IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE |
                                   IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// How often this process has forked, counted in both processes: they share what inotify reports.
std::atomic<std::uint64_t> forks{0};

std::uint64_t fork_count() {
  [[maybe_unused]] static const bool is_counting = [] {
    at_fork([] {}, [] { ++forks; });
    return true;
  }();
  return forks;
}

// The last query of this thread: usually, the next chunk is in the same folder.
struct LastAnswer {
  std::uint64_t moment = 0;
  std::uint64_t stamp = 0;
  std::string root;
  std::string below;
};

// Moments and stamps are unique in the process: a last answer can be of another watch.
std::atomic<std::uint64_t> last_moment{0};
std::atomic<std::uint64_t> last_stamp{0};

// The watched folders of all stores of a process, because the system limits their number per user.
class FolderWatch {
 public:
  static std::shared_ptr<FolderWatch> of_process() {
    static auto& mutex = *new ForkMutex;
    static auto& current = *new std::weak_ptr<FolderWatch>;
    const std::lock_guard lock(mutex);
    auto watch = current.lock();
    if (!watch) {
      watch = std::make_shared<FolderWatch>();
      current = watch;
    }
    return watch;
  }

  FolderWatch() = default;
  ~FolderWatch() { stop(); }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // As ValueWatch::stamp(), of all files in the folder `root`/`below`.
  std::uint64_t stamp(const std::string& root, std::string_view below, std::uint64_t moment) {
    // Another thread may hold it for a while, and in a forked child forever.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return 0;
    if (forks_ != fork_count()) stop();
    Folder& folder = find(root, below);
    if (folder.checked >= moment) return folder.stamp;
    const std::uint64_t now = last_moment;  // before what follows
    if (folder.watch >= 0) {
      take_reports();
      check_place(folder);
    }
    ++folder.requests;
    if (folder.watch < 0 && folder.requests >= folder.needed) {
      folder.requests = 0;
      if (!start(folder)) folder.needed = kMostRequests;
    }
    if (folder.watch >= 0 && Clock::now() >= folder.expiry) renew(folder);
    folder.checked = now;
    return folder.stamp;
  }

 private:
  struct Folder {
    std::string root;
    std::string below;
    std::uint64_t requests = 0;  // since the last change, or the last try to watch it
    std::uint64_t needed = kFirstRequests;
    std::uint64_t checked = 0;  // the moment for which `stamp` holds
    std::uint64_t stamp = 0;
    int watch = -1;
    FolderId identity = {};
    Clock::time_point expiry;  // of the stamp

    std::string path() const { return below.empty() ? root : root + '/' + below; }
  };

  // The most recently used one is first.
  Folder& find(const std::string& root, std::string_view below) {
    const auto found = std::ranges::find_if(folders_, [&](const Folder& folder) {
      return folder.below == below && folder.root == root;
    });
    if (found == folders_.end()) {
      Folder added;
      added.root = root;
      added.below = below;
      folders_.push_front(std::move(added));
      if (folders_.size() > kMaxFolders) {
        forget(folders_.back().watch);
        folders_.pop_back();
      }
    } else {
      folders_.splice(folders_.begin(), folders_, found);
    }
    return folders_.front();
  }

  // False when the folder cannot be watched.
  bool start(Folder& folder) {
    const std::string path = folder.path();
    if (!is_changed_here_alone(path)) return false;
    if (inotify_ < 0) {
      inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
      if (inotify_ < 0) return false;
    }
    // The path can come to lead to another folder meanwhile.
    const auto before = folder_id(path);
    const int watch = ::inotify_add_watch(inotify_, path.c_str(), kChanges);
    if (watch < 0) return false;
    const auto after = folder_id(path);
    folder.watch = watch;
    if (before && before == after) {
      folder.identity = *before;
      renew(folder);
    } else {
      forget(watch);
    }
    return true;
  }

  static void renew(Folder& folder) {
    folder.stamp = ++last_stamp;
    folder.expiry = Clock::now() + std::chrono::milliseconds(kWatchMilliseconds);
  }

  void check_place(const Folder& folder) {
    if (folder.watch >= 0 && folder_id(folder.path()) != folder.identity) forget(folder.watch);
  }

  void take_reports() {
    alignas(inotify_event) std::array<char, 4096> reports;
    while (true) {
      const ssize_t size = ::read(inotify_, reports.data(), reports.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return;
      if (size <= 0) return stop();
      for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
        inotify_event report;
        std::memcpy(&report, reports.data() + at, sizeof(report));
        // Some are missing.
        if ((report.mask & IN_Q_OVERFLOW) != 0) return stop();
        forget(report.wd);
        at += sizeof(report) + report.len;
      }
    }
  }

  // Paths can lead to the same folder, which then has one watch.
  void forget(int watch) {
    if (watch < 0) return;
    bool is_watched = false;
    for (Folder& folder : folders_) {
      if (folder.watch != watch) continue;
      is_watched = true;
      end(folder);
    }
    if (is_watched) ::inotify_rm_watch(inotify_, watch);
  }

  static void end(Folder& folder) {
    if (folder.watch < 0) return;
    const bool is_soon = folder.requests < kSoon * folder.needed;
    folder.needed = is_soon ? std::min(4 * folder.needed, kMostRequests) : kFirstRequests;
    folder.watch = -1;
    folder.stamp = 0;
    folder.requests = 0;
  }

  void stop() {
    for (Folder& folder : folders_) end(folder);
    if (inotify_ >= 0) ::close(inotify_);
    inotify_ = -1;
    forks_ = fork_count();
  }

  ForkMutex mutex_;
  std::list<Folder> folders_;
  int inotify_ = -1;
  std::uint64_t forks_ = fork_count();
};

class WatchedFiles final : public ValueWatch {
 public:
  explicit WatchedFiles(std::string root) : root_(std::move(root)) {}

  std::uint64_t moment() override { return ++last_moment; }

  std::uint64_t stamp(std::string_view key, std::uint64_t moment) override {
    const std::string_view below = parent_path(key);
    auto& last = thread_object<LastAnswer>();
    if (last.moment < moment || last.below != below || last.root != root_) {
      const std::uint64_t stamp = folders_->stamp(root_, below, moment);
      last = {moment, stamp, root_, std::string(below)};
    }
    return last.stamp;
  }

  bool is_stamped(std::string_view key) override {
    const std::string path = root_ + '/' + std::string(key);
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
  }

 private:
  std::string root_;
  std::shared_ptr<FolderWatch> folders_ = FolderWatch::of_process();
};

}  // namespace

std::unique_ptr<ValueWatch> watch_files(std::string root) {
  return std::make_unique<WatchedFiles>(std::move(root));
}

}  // namespace zarrcore

#else

namespace zarrcore {

std::unique_ptr<ValueWatch> watch_files(std::string /*root*/) {
  return nullptr;
}

}  // namespace zarrcore

#endif
