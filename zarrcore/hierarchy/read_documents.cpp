// Reading documents of a hierarchy from its store, and requesting those that are needed together at
// once.
#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {
namespace {

bool is_at_root(std::string_view key) {
  return key.find('/') == std::string_view::npos;
}

}  // namespace

// Whether requests for documents wait for answers, and several can wait at the same time.
bool Hierarchy::is_slow() const {
  return !is_consolidated() && options_.run_together && store_->traits().parallel_requests > 1;
}

// Requests documents at once, as far as they are not known.
DocumentRequests::Kept Hierarchy::request(std::vector<std::string> keys) const {
  if (!is_slow()) return {};
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(keys, [this](const std::string& key) { return root_texts_.contains(key); });
  }
  if (keys.size() < 2) return {};
  return requests_.request(keys, store_->traits().parallel_requests, options_.run_together,
                           [this](const std::string& key) { return request_text(key); });
}

// The documents of the root, and those on the way to the expected array.
DocumentRequests::Kept Hierarchy::request_expected() const {
  const std::string& expected = options_.expected_array;
  const auto of_root =
      format_->keys_to_read("", expected.empty() ? std::nullopt : std::optional(NodeKind::group));
  {
    const std::lock_guard lock(mutex_);
    const auto is_missing = [this](const std::string& key) {
      const auto it = root_texts_.find(key);
      return it != root_texts_.end() && !it->second;
    };
    if (std::any_of(of_root.begin(), of_root.end(), is_missing)) return {};  // of another format
  }
  std::vector<std::string> keys = of_root;
  const auto add = [&](const std::string& path, NodeKind kind) {
    for (std::string& key : format_->keys_to_read(path, kind)) keys.push_back(std::move(key));
  };
  if (!expected.empty()) add(expected, NodeKind::array);
  for (std::string group(parent_path(expected)); !group.empty(); group = parent_path(group)) {
    add(group, NodeKind::group);
  }
  return request(std::move(keys));
}

// The nodes of these documents.
void Hierarchy::read_expected() const {
  if (options_.expected_array.empty() || !is_slow()) return;
  read_ahead(options_.expected_array, NodeKind::array);
  for (std::string group(parent_path(options_.expected_array)); !group.empty();
       group = parent_path(group)) {
    read_ahead(group, NodeKind::group);
  }
}

void Hierarchy::end_opening() {
  is_new_ = false;
  kept_until_opened_.reset();
}

std::shared_ptr<void> Hierarchy::keep_listings() {
  const std::lock_guard lock(mutex_);
  ++listing_keepers_;
  return {this, [](Hierarchy* hierarchy) { hierarchy->release_listings(); }};
}

void Hierarchy::release_listings() {
  const std::lock_guard lock(mutex_);
  if (--listing_keepers_ == 0) listings_.clear();
}

DirectoryListing Hierarchy::list(const std::string& prefix) const {
  if (store_->traits().parallel_requests == 1) return store_->list(prefix);
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = listings_.find(prefix); it != listings_.end()) return it->second;
  }
  DirectoryListing listing = store_->list(prefix);
  const std::lock_guard lock(mutex_);
  if (listing_keepers_ > 0) listings_.insert_or_assign(prefix, listing);
  return listing;
}

// A document that has been put.
void Hierarchy::add_to_listings(const std::string& key) {
  const std::lock_guard lock(mutex_);
  for (auto& [prefix, listing] : listings_) {
    const auto name = key_below(prefix, key);
    if (!name) continue;
    const auto slash = name->find('/');
    auto& names = slash == name->npos ? listing.keys : listing.prefixes;
    const auto place = std::lower_bound(names.begin(), names.end(), name->substr(0, slash));
    if (place == names.end() || *place != name->substr(0, slash)) {
      names.emplace(place, name->substr(0, slash));
    }
  }
}

// Documents at the root are cached: several formats ask for them, and some formats for every node.
DocumentText Hierarchy::stored_text(const std::string& key) const {
  if (is_at_root(key)) {
    const std::lock_guard lock(mutex_);
    if (const auto it = root_texts_.find(key); it != root_texts_.end()) return it->second;
  }
  DocumentText text;
  try {
    const auto requested = requests_.find(key);
    text = requested ? *requested : request_text(key);
  } catch (const AccessDenied& error) {
    // Stores that do not list say so of absent documents. The root has one that can be read.
    note_denied(key, error);
  }
  const std::lock_guard lock(mutex_);
  if (text) documents_read_.insert(key);
  if (is_at_root(key)) root_texts_.emplace(key, text);
  return text;
}

void Hierarchy::note_denied(const std::string& key, const AccessDenied& error) const {
  const bool is_page = dynamic_cast<const NotAValue*>(&error) != nullptr;
  bool is_first_page = false;
  {
    constexpr std::size_t kMaxNoted = 1000;
    const std::lock_guard lock(mutex_);
    if (denied_.size() < kMaxNoted) denied_.emplace_back(key, error.what());
    is_first_page = is_page && !std::exchange(is_page_reported_, true);
  }
  if (is_first_page) options_.on_problem(std::string(error.what()) + "; it counts as missing");
}

std::string Hierarchy::denied(std::string_view path) const {
  const std::string node = normalize_path(path);
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(denied_.begin(), denied_.end(), [&](const auto& document) {
    return node.empty() || parent_path(document.first) == node;
  });
  return it != denied_.end() ? it->second : std::string();
}

void Hierarchy::check_not_denied(std::string_view path) const {
  const std::string reason = denied(path);
  if (reason.empty()) return;
  throw Error(store_->description() + ": there is no node at /" + normalize_path(path) + ": " +
              reason);
}

DocumentText Hierarchy::request_text(const std::string& key) const {
  auto value = store_->get(key, kMaxDocumentBytes);
  return value ? std::make_shared<const Buffer>(std::move(*value)) : nullptr;
}

}  // namespace zarrcore
