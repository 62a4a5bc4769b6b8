#include "zarrcore/store/listed_store.h"

#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

class AbsentValue final : public OpenValue {
 public:
  std::optional<Buffer> get(std::uint64_t /*max_size*/) override { return std::nullopt; }
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> /*ranges*/) override {
    return std::nullopt;
  }
  ValueVersion version() const override { return ValueVersion::absent(); }
};

}  // namespace

ListedStore::ListedStore(std::shared_ptr<Store> store) : ForwardingStore(std::move(store)) {}

bool ListedStore::is_present(std::string_view key) {
  return may_have(parent_path(key), &Folder::keys, last_segment(key));
}

bool ListedStore::may_have(std::string_view prefix, Names Folder::* names, std::string_view name) {
  const auto folder = find_or_add_folder(prefix);
  const std::lock_guard lock(folder->mutex);
  if (!folder->is_known) know_folder(prefix, *folder);
  if (names == &Folder::prefixes) know_prefixes(prefix, *folder);
  return !folder->is_listed || ((*folder).*names).contains(name);
}

// Folders are listed from the root down, so that missing folders need not be listed.
void ListedStore::know_folder(std::string_view prefix, Folder& folder) {
  if (prefix.empty() || may_have(parent_path(prefix), &Folder::prefixes, last_segment(prefix))) {
    DirectoryListing listing;
    try {
      listing = inner().list(prefix);
    } catch (const Error&) {
      // Part of a listing does not show which keys are missing.
    }
    folder.keys.insert(listing.keys.begin(), listing.keys.end());
    folder.prefixes.insert(listing.prefixes.begin(), listing.prefixes.end());
    // Servers that have no listings, or deny them, show existing folders as empty.
    folder.is_listed = !listing.keys.empty() || !listing.prefixes.empty();
  } else {
    folder.is_listed = true;
  }
  folder.is_known = true;
}

// Some servers do not list a folder that holds nothing but folders. If the request for all keys
// fails, the next read repeats it: nothing is missing because of that.
void ListedStore::know_prefixes(std::string_view prefix, Folder& folder) {
  if (folder.has_all_prefixes || !folder.is_listed) return;
  if (!folder.keys.empty() && folder.prefixes.empty() && inner().traits().lists_all_at_once) {
    Names prefixes;
    for (const std::string& key : inner().list_all(prefix)) {
      const auto rest = key_below(prefix, key);
      const auto slash = rest ? rest->find('/') : std::string_view::npos;
      if (slash != std::string_view::npos) prefixes.emplace(rest->substr(0, slash));
    }
    folder.prefixes = std::move(prefixes);
  }
  folder.has_all_prefixes = true;
}

std::shared_ptr<ListedStore::Folder> ListedStore::find_folder(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  const auto it = folders_.find(prefix);
  return it == folders_.end() ? nullptr : it->second;
}

std::shared_ptr<ListedStore::Folder> ListedStore::find_or_add_folder(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  const auto it = folders_.find(prefix);
  if (it != folders_.end()) return it->second;
  return folders_.emplace(prefix, std::make_shared<Folder>()).first->second;
}

std::optional<Buffer> ListedStore::get(std::string_view key, std::uint64_t max_size) {
  return is_present(key) ? inner().get(key, max_size) : std::nullopt;
}

std::optional<std::vector<Buffer>> ListedStore::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  return is_present(key) ? inner().get_ranges(key, ranges) : std::nullopt;
}

std::shared_ptr<OpenValue> ListedStore::open(std::string_view key) {
  return is_present(key) ? inner().open(key) : std::make_shared<AbsentValue>();
}

ValueVersion ListedStore::current_version(std::string_view key) {
  return is_present(key) ? inner().current_version(key) : ValueVersion::absent();
}

void ListedStore::refresh(std::optional<std::string_view> key) {
  inner().refresh(key);
  key ? add(*key) : forget_folders();
}

void ListedStore::forget_folders() {
  const std::lock_guard lock(mutex_);
  folders_.clear();
}

// A value that has been put exists, and so do the folders around it. From the root down, because a
// folder that another thread adds meanwhile depends on what its parent has.
void ListedStore::add(std::string_view key) {
  add_folder(parent_path(key));
  add_name(parent_path(key), &Folder::keys, last_segment(key));
}

void ListedStore::add_folder(std::string_view prefix) {
  if (prefix.empty()) return;
  add_folder(parent_path(prefix));
  add_name(parent_path(prefix), &Folder::prefixes, last_segment(prefix));
}

void ListedStore::add_name(std::string_view prefix, Names Folder::* names, std::string_view name) {
  const auto folder = find_folder(prefix);
  if (folder == nullptr) return;
  const std::lock_guard lock(folder->mutex);
  ((*folder).*names).emplace(name);
}

void ListedStore::remove(std::string_view key) {
  const auto folder = find_folder(parent_path(key));
  if (folder == nullptr) return;
  const std::lock_guard lock(folder->mutex);
  const auto it = folder->keys.find(last_segment(key));
  if (it != folder->keys.end()) folder->keys.erase(it);
}

// If another program has written here, the listing is out of date.
bool ListedStore::put_parts(std::string_view key, std::span<const ValuePart> parts,
                            const PutOptions& options) {
  const bool is_put = inner().put_parts(key, parts, options);
  is_put ? add(key) : forget_folders();
  return is_put;
}

bool ListedStore::erase(std::string_view key, const EraseOptions& options) {
  const bool is_erased = inner().erase(key, options);
  is_erased ? remove(key) : forget_folders();
  return is_erased;
}

// Some are removed even if others cannot be.
void ListedStore::erase_all(std::span<const std::string> keys) {
  forget_folders();
  inner().erase_all(keys);
}

// Folders change rarely, so all of them are listed again.
void ListedStore::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  forget_folders();
  inner().erase_prefix(prefix, first);
  forget_folders();
}

bool ListedStore::rename_prefix(std::string_view from, std::string_view to,
                                const RenameOptions& options) {
  forget_folders();
  const bool is_done = inner().rename_prefix(from, to, options);
  forget_folders();
  return is_done;
}

}  // namespace zarrcore
