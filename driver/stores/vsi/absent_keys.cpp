#include "driver/stores/vsi/absent_keys.h"

#include <algorithm>
#include <iterator>

#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

// A metadata document, or a file about documents; names with ".z" belong to v2.
bool is_metadata_key(std::string_view key) {
  const std::string_view name = zarrcore::last_segment(key);
  return zarrcore::is_document_name(name) || name.starts_with(".z");
}

}  // namespace

bool AbsentKeys::contains(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  if (!keys_.empty() && keys_.contains(std::string(key))) return true;
  return !listings_.empty() && is_metadata_key(key) && is_unlisted(key, true);
}

bool AbsentKeys::is_known_absent(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto own = listings_.find(path);
  const bool is_empty =
      own != listings_.end() && own->second.keys.empty() && own->second.prefixes.empty();
  return is_empty || (!listings_.empty() && is_unlisted(path, false));
}

// Returns true if the listing of a folder around the path lacks the name that leads to it: in its
// own folder the name of a value if it is a key, else the name of a prefix.
bool AbsentKeys::is_unlisted(std::string_view path, bool is_key) const {
  std::string_view folder = path;
  while (!folder.empty()) {
    folder = zarrcore::parent_path(folder);
    const auto listing = listings_.find(folder);
    if (listing == listings_.end()) continue;
    const std::string_view rest = *zarrcore::key_below(folder, path);
    const auto slash = rest.find('/');
    const auto& [keys, prefixes] = listing->second;
    const bool is_listed = is_key && slash == std::string_view::npos
                               ? keys.contains(rest)
                               : prefixes.contains(rest.substr(0, slash));
    if (!is_listed) return true;
  }
  return false;
}

void AbsentKeys::add(std::string_view key) {
  if (statistics_ && !zarrcore::is_document_name(zarrcore::last_segment(key))) {
    statistics_->count_missing_chunk();
  }
  const std::lock_guard lock(mutex_);
  if (keys_.size() >= kMaxKeys) keys_.clear();
  keys_.emplace(key);
}

void AbsentKeys::remove(std::string_view key) {
  const std::lock_guard lock(mutex_);
  if (!keys_.empty()) keys_.erase(std::string(key));
  if (!uses_listings_ || !is_metadata_key(key)) return;
  ++changes_;
  // A folder that did not exist has nothing else.
  for (std::size_t start = 0;;) {
    const auto slash = key.find('/', start);
    const std::string_view name = key.substr(start, slash - start);
    const auto listing = listings_.find(key.substr(0, start == 0 ? 0 : start - 1));
    const bool is_listed = listing != listings_.end();
    if (slash == key.npos) {
      if (is_listed) listing->second.keys.emplace(name);
      return;
    }
    if (is_listed && listing->second.prefixes.emplace(name).second) {
      listings_.try_emplace(std::string(key.substr(0, slash)));
    }
    start = slash + 1;
  }
}

void AbsentKeys::clear() {
  const std::lock_guard lock(mutex_);
  clear_with_lock();
}

void AbsentKeys::clear_with_lock() {
  ++changes_;
  keys_.clear();
  listings_.clear();
  listed_names_ = 0;
}

void AbsentKeys::use_listings() {
  const std::lock_guard lock(mutex_);
  uses_listings_ = true;
}

std::uint64_t AbsentKeys::begin_listing() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void AbsentKeys::end_listing(std::uint64_t begun, std::string_view folder,
                             const zarrcore::DirectoryListing& listing) {
  Names names;
  std::ranges::copy_if(listing.keys, std::inserter(names.keys, names.keys.end()), is_metadata_key);
  names.prefixes.insert(listing.prefixes.begin(), listing.prefixes.end());
  const std::lock_guard lock(mutex_);
  if (!uses_listings_ || changes_ != begun) return;
  listed_names_ += names.keys.size() + names.prefixes.size();
  if (listed_names_ >= kMaxKeys) return clear_with_lock();
  // Forgets missing documents that may have appeared since an earlier request.
  std::erase_if(keys_, [&](const std::string& key) {
    return zarrcore::is_at_or_below(key, folder) && is_metadata_key(key);
  });
  listings_.insert_or_assign(std::string(folder), std::move(names));
}

}  // namespace gdal_zarr
