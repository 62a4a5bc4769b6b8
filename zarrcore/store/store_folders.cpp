// The folders of a store in the file system: StoreFolders of local_files.h.
#include <deque>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/local_files.h"

namespace zarrcore {
namespace {

// More folders than this are not remembered as entered or synced.
constexpr std::size_t kMaxKnownFolders = 1 << 16;
// How many files of a folder are checked for being abandoned, in about 50 ms.
constexpr std::size_t kMaxFiles = 100'000;
// The same for all folders when a store is opened. Opening a folder takes as long as checking some
// files.
constexpr std::size_t kMaxFilesAtOpening = 10'000;
constexpr std::size_t kFilesPerFolder = 20;

void remember(std::unordered_set<std::string>& folders, const std::string& folder) {
  if (folders.size() >= kMaxKnownFolders) folders.clear();
  folders.insert(folder);
}

// Removes abandoned files in a folder, and adds its subfolders to `found` unless that is null.
// Reduces `max_files` by the entries; false when there are more.
bool remove_abandoned_in(const std::string& folder, std::size_t& max_files,
                         std::deque<std::string>* found) {
  bool is_complete = true;
  visit_folder(folder, [&](const FolderEntry& entry) {
    const auto& [name, kind, size] = entry;
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

bool StoreFolders::is_at_its_path(const Known& known) {
  const auto id = folder_id(known.folder);
  return id && (known.id == FolderId() || *id == known.id);
}

StoreFolders::StoreFolders(std::string root, bool is_durable)
    : root_(root.empty() ? "." : std::move(root)), is_durable_(is_durable) {
  while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
  register_folder(root_, folder_id(root_));
}

std::optional<FolderId> StoreFolders::unknown_id(const std::string& folder) const {
  {
    const std::lock_guard lock(mutex_);
    if (known_.contains(folder)) return std::nullopt;
  }
  return folder_id(folder);
}

void StoreFolders::register_folder(const std::string& folder, const std::optional<FolderId>& id) {
  if (!id) return;
  const std::lock_guard lock(mutex_);
  if (!device_ || device_->number != id->device)
    device_ = Device{id->device, has_lasting_ids(folder)};
  known_.emplace(folder, device_->has_lasting_ids ? *id : FolderId());
}

void StoreFolders::check_or_register(const std::string& folder) {
  std::optional<FolderId> known;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = known_.find(folder); it != known_.end()) known = it->second;
  }
  if (known == FolderId()) return;  // ids do not last, and asking for one may take a request
  const auto id = folder_id(folder);
  if (!known) {
    register_folder(folder, id);
  } else if (id && id != known) {
    fail_without({folder, *known});
  }
}

void StoreFolders::check(const std::string& path) const {
  const auto known = find_known(path);
  if (known && !is_at_its_path(*known)) fail_without(*known);
}

void StoreFolders::check_exists(const std::string& path) const {
  const auto known = find_known(path);
  if (known && !is_folder(known->folder)) fail_without(*known);
}

void StoreFolders::fail_without(Known folder) const {
  // The cause is the outermost one.
  while (folder.folder.size() > root_.size()) {
    auto around = find_known(folder_of(folder.folder));
    if (!around || is_at_its_path(*around)) break;
    folder = *std::move(around);
  }
  throw Error("the folder " + folder.folder +
              " has been removed, renamed or replaced by another program; open the store again");
}

std::optional<StoreFolders::Known> StoreFolders::find_known(std::string folder) const {
  const std::lock_guard lock(mutex_);
  auto found = known_.find(folder);
  while (found == known_.end() && folder.size() > root_.size()) {
    folder = folder_of(folder);
    found = known_.find(folder);
  }
  if (found == known_.end()) return std::nullopt;
  return Known{std::move(folder), found->second};
}

void StoreFolders::make(const std::string& folder) {
  check(folder);
  make_root();
  if (folder != root_) make_below(folder);
}

void StoreFolders::make_root() {
  {
    const std::lock_guard lock(mutex_);
    if (known_.contains(root_)) return;
  }
  std::vector<std::string> missing;
  for (std::string folder = root_; !is_folder(folder); folder = folder_of(folder)) {
    missing.push_back(folder);
    if (folder == folder_of(folder)) break;
  }
  make_folders(root_);
  if (is_durable_) {
    for (const std::string& folder : missing) sync_folder(folder_of(folder));
  }
  register_folder(root_, folder_id(root_));
}

void StoreFolders::make_below(const std::string& folder) {
  FolderCreation creation = make_folder(folder);
  if (creation == FolderCreation::impossible) {
    check(folder);
    make_below(folder_of(folder));
    creation = make_folder(folder);
    if (creation == FolderCreation::impossible)
      throw Error(folder + ": the folder around it has been removed");
  }
  if (creation == FolderCreation::existing) return;
  const std::lock_guard lock(mutex_);
  remember(entered_, folder);
}

void StoreFolders::forget(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto& item) { return is_at_or_below(item.first, folder); });
  std::erase_if(durable_, [&](const auto& path) { return is_at_or_below(path, folder); });
}

void StoreFolders::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, FolderId>> moved;
  for (const auto& [folder, id] : known_) {
    if (is_at_or_below(folder, from)) moved.emplace_back(to + folder.substr(from.size()), id);
  }
  std::erase_if(known_, [&](const auto& item) { return is_at_or_below(item.first, from); });
  std::erase_if(durable_, [&](const auto& path) { return is_at_or_below(path, from); });
  for (auto& item : moved) known_.insert(std::move(item));
}

void StoreFolders::remove_leftovers_once(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    if (entered_.contains(folder)) return;
    remember(entered_, folder);
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
        remember(entered_, folders.front());
      }
      folders.pop_front();
    }
  } catch (const std::exception&) {
    // Leftovers do no harm.
  }
}

void StoreFolders::sync(const std::string& folder) {
  sync_folder(folder);
  // Includes folders that another thread or process has just created.
  std::vector<std::string> unknown;
  {
    const std::lock_guard lock(mutex_);
    for (std::string above = folder; above.size() > root_.size(); above = folder_of(above)) {
      if (!durable_.contains(above)) unknown.push_back(above);
    }
  }
  for (const std::string& above : unknown) sync_folder(folder_of(above));
  const std::lock_guard lock(mutex_);
  for (const std::string& above : unknown) remember(durable_, above);
}

}  // namespace zarrcore
