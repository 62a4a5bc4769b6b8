#include "zarrcore/store/store_folders.h"

#include <deque>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/local_paths.h"
#include "zarrcore/store/temporary_file.h"

namespace zarrcore {
namespace {

constexpr std::size_t kMaxOpenFolders = 8;
// If more folders are known, they are forgotten.
constexpr std::size_t kMaxKnownFolders = 1 << 16;
// How many files of a folder are checked for being abandoned, in about 50 ms.
constexpr std::size_t kMaxFiles = 100'000;
// The same for all folders when a store is opened. Opening a folder takes as long as checking some
// files.
constexpr std::size_t kMaxFilesAtOpening = 10'000;
constexpr std::size_t kFilesPerFolder = 20;

[[noreturn]] void fail_with_removed_store() {
  throw Error("the store has been removed since it was opened; it is not created again");
}

void add_known(std::unordered_set<std::string>& folders, const std::string& folder) {
  if (folders.size() >= kMaxKnownFolders) folders.clear();
  folders.insert(folder);
}

// Removes abandoned files in a folder, and adds its subfolders to `found` unless that is null.
// Reduces `max_files` by the entries; false when there are more.
bool remove_abandoned_in(const std::string& folder, std::size_t& max_files,
                         std::deque<std::string>* found) {
  bool is_complete = true;
  visit_folder(folder, [&](std::string_view name, EntryKind kind) {
    is_complete = max_files > 0;
    if (!is_complete) return false;
    --max_files;
    if (kind == EntryKind::folder) {
      if (found != nullptr) found->push_back(folder + '/' + std::string(name));
    } else if (is_temporary_file(name)) {
      remove_abandoned_file(folder + '/' + std::string(name));
    }
    return true;
  });
  return is_complete;
}

}  // namespace

StoreFolders::StoreFolders(std::string root, bool is_durable)
    : root_(root.empty() ? "." : std::move(root)), is_durable_(is_durable), process_(process_id()) {
  while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
  has_existed_ = is_folder(root_);
}

std::shared_ptr<const LocalFolder> StoreFolders::held_root() const {
  const std::lock_guard lock(mutex_);
  return held_root_;
}

void StoreFolders::check_root() const {
  if (const auto root = held_root()) {
    if (!root->is_at(root_)) fail_with_removed_store();
  } else if (has_existed_ && !is_folder(root_)) {
    fail_with_removed_store();
  }
}

void StoreFolders::make_root() {
  if (held_root() != nullptr) {
    check_root();
    return;
  }
  if (has_existed_) {
    if (!is_folder(root_)) fail_with_removed_store();
  } else {
    std::vector<std::string> missing;
    for (std::string folder = root_; !is_folder(folder); folder = folder_of(folder)) {
      missing.push_back(folder);
      if (folder == folder_of(folder)) break;
    }
    make_folders(root_);
    if (is_durable_) {
      for (const std::string& folder : missing) LocalFolder::sync(folder_of(folder));
    }
  }
  has_existed_ = true;
  std::shared_ptr<const LocalFolder> root = LocalFolder::open(root_);
  if (!root) fail_with_removed_store();
  const std::lock_guard lock(mutex_);
  if (!held_root_) held_root_ = std::move(root);
}

void StoreFolders::make(const std::string& folder) {
  make_root();
  if (folder == root_) return;
  Made made = make_folder(folder);
  if (made == Made::impossible) {
    make(folder_of(folder));
    made = make_folder(folder);
    if (made == Made::impossible) throw Error(folder + ": the folder around it has been removed");
  }
  if (made == Made::before) return;
  const std::lock_guard lock(mutex_);
  add_known(entered_, folder);
}

std::shared_ptr<LocalFolder> StoreFolders::open(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    // A forked process shares the locks of its parent.
    if (process_ != process_id()) open_.clear();
    process_ = process_id();
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (it->path != folder) continue;
      open_.splice(open_.begin(), open_, it);
      return it->folder;
    }
  }
  return open_again(folder);
}

std::shared_ptr<LocalFolder> StoreFolders::open_again(const std::string& folder) {
  make_root();
  auto opened = LocalFolder::open(folder);
  if (!opened) {
    make(folder);
    opened = LocalFolder::open(folder);
    if (!opened) throw Error("its folder has been removed");
  }
  enter(folder);
  const std::lock_guard lock(mutex_);
  open_.remove_if([&](const OpenFolder& other) { return other.path == folder; });
  if (open_.size() >= kMaxOpenFolders) open_.pop_back();
  open_.push_front({folder, opened});
  return opened;
}

void StoreFolders::forget_open() {
  const std::lock_guard lock(mutex_);
  open_.clear();
}

void StoreFolders::enter(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    if (entered_.contains(folder)) return;
    add_known(entered_, folder);
  }
  try {
    std::size_t max_files = kMaxFiles;
    remove_abandoned_in(folder, max_files, nullptr);
  } catch (const Error&) {
    // A folder that cannot be listed can still be written to.
  }
}

void StoreFolders::remove_leftovers() noexcept {
  try {
    std::deque<std::string> folders{root_};
    std::size_t max_files = kMaxFilesAtOpening;
    while (!folders.empty() && max_files > kFilesPerFolder) {
      max_files -= kFilesPerFolder;
      if (!remove_abandoned_in(folders.front(), max_files, &folders)) return;
      {
        const std::lock_guard lock(mutex_);
        add_known(entered_, folders.front());
      }
      folders.pop_front();
    }
  } catch (const std::exception&) {
    // Leftovers do no harm.
  }
}

void StoreFolders::sync(const std::string& folder) {
  if (!is_durable_) return;
  LocalFolder::sync(folder);
  // Includes folders that another thread or process has just created.
  std::vector<std::string> unknown;
  {
    const std::lock_guard lock(mutex_);
    for (std::string above = folder; above.size() > root_.size(); above = folder_of(above)) {
      if (!durable_.contains(above)) unknown.push_back(above);
    }
  }
  for (const std::string& above : unknown) LocalFolder::sync(folder_of(above));
  const std::lock_guard lock(mutex_);
  for (const std::string& above : unknown) add_known(durable_, above);
}

}  // namespace zarrcore
