#include "zarrcore/store/listed_store.h"

#include <utility>

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

ListedStore::ListedStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}

bool ListedStore::is_present(std::string_view key) {
  return know_folder(parent_path(key),
                     [&](const Folder& folder) { return folder.keys.contains(last_segment(key)); });
}

// Folders are listed from the root down, so that missing folders need not be listed.
bool ListedStore::know_folder(std::string_view prefix,
                              const std::function<bool(const Folder&)>& ask) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = folders_.find(prefix); it != folders_.end()) return ask(it->second);
  }
  const bool exists = prefix.empty() || know_folder(parent_path(prefix), [&](const Folder& parent) {
                        return parent.prefixes.contains(last_segment(prefix));
                      });
  Folder folder;
  if (exists) {
    const DirectoryListing listing = store_->list(prefix);
    folder.keys.insert(listing.keys.begin(), listing.keys.end());
    folder.prefixes.insert(listing.prefixes.begin(), listing.prefixes.end());
  }
  const std::lock_guard lock(mutex_);
  return ask(folders_.emplace(prefix, std::move(folder)).first->second);
}

std::optional<Buffer> ListedStore::get(std::string_view key, std::uint64_t max_size) {
  return is_present(key) ? store_->get(key, max_size) : std::nullopt;
}

bool ListedStore::has(std::string_view key) {
  return is_present(key) && store_->has(key);
}

std::optional<std::vector<Buffer>> ListedStore::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  return is_present(key) ? store_->get_ranges(key, ranges) : std::nullopt;
}

std::shared_ptr<OpenValue> ListedStore::open(std::string_view key) {
  return is_present(key) ? store_->open(key) : std::make_shared<AbsentValue>();
}

ValueVersion ListedStore::current_version(std::string_view key) {
  return is_present(key) ? store_->current_version(key) : ValueVersion::absent();
}

void ListedStore::refresh() {
  store_->refresh();
  forget_folders();
}

void ListedStore::forget_folders() {
  const std::lock_guard lock(mutex_);
  folders_.clear();
}

// A value that has been put exists, and so do the folders around it.
void ListedStore::add(std::string_view key) {
  const std::lock_guard lock(mutex_);
  if (const auto it = folders_.find(parent_path(key)); it != folders_.end()) {
    it->second.keys.emplace(last_segment(key));
  }
  for (std::string_view prefix = parent_path(key); !prefix.empty(); prefix = parent_path(prefix)) {
    if (const auto it = folders_.find(parent_path(prefix)); it != folders_.end()) {
      it->second.prefixes.emplace(last_segment(prefix));
    }
  }
}

void ListedStore::remove(std::string_view key) {
  const std::lock_guard lock(mutex_);
  if (const auto it = folders_.find(parent_path(key)); it != folders_.end()) {
    std::erase_if(it->second.keys,
                  [&](const std::string& name) { return name == last_segment(key); });
  }
}

void ListedStore::put_parts(std::string_view key, std::span<const ValuePart> parts) {
  store_->put_parts(key, parts);
  add(key);
}

// If another program has written here, the listing is out of date.
bool ListedStore::put_if(std::string_view key, const ValueVersion& expected,
                         std::span<const ValuePart> parts) {
  const bool is_put = store_->put_if(key, expected, parts);
  is_put ? add(key) : forget_folders();
  return is_put;
}

bool ListedStore::erase(std::string_view key) {
  const bool existed = store_->erase(key);
  remove(key);
  return existed;
}

bool ListedStore::erase_if(std::string_view key, const ValueVersion& expected) {
  const bool is_erased = store_->erase_if(key, expected);
  is_erased ? remove(key) : forget_folders();
  return is_erased;
}

DirectoryListing ListedStore::list(std::string_view prefix) {
  return store_->list(prefix);
}

// Folders change rarely, so all of them are listed again.
void ListedStore::erase_prefix(std::string_view prefix) {
  store_->erase_prefix(prefix);
  forget_folders();
}

void ListedStore::rename_prefix(std::string_view from, std::string_view to) {
  store_->rename_prefix(from, to);
  forget_folders();
}

}  // namespace zarrcore
