#include "zarrcore/hierarchy/document_reader.h"

#include <algorithm>

#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {
namespace {

bool is_at_root(std::string_view key) {
  return key.find('/') == std::string_view::npos;
}

}  // namespace

DocumentSource DocumentReader::source() const {
  auto source =
      documents_with_text(store_, [this](const std::string& key) { return stored_text(key); });
  source.list = [this](const std::string& prefix) { return list(prefix); };
  return source;
}

DocumentRequests::Kept DocumentReader::request(std::vector<std::string> keys) const {
  if (!is_slow()) return {};
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(keys, [this](const std::string& key) { return root_texts_.contains(key); });
  }
  if (keys.size() < 2) return {};
  return requests_.request(keys, store_.traits().parallel_requests, run_together_,
                           [this](const std::string& key) { return request_text(key); });
}

bool DocumentReader::is_missing_at_root(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = root_texts_.find(key);
  return it != root_texts_.end() && !it->second;
}

std::shared_ptr<void> DocumentReader::keep_listings() {
  const std::lock_guard lock(mutex_);
  ++listing_keepers_;
  return {this, [](DocumentReader* reader) { reader->release_listings(); }};
}

void DocumentReader::release_listings() {
  const std::lock_guard lock(mutex_);
  if (--listing_keepers_ == 0) listings_.clear();
}

void DocumentReader::set_root_listing(DirectoryListing listing) {
  const std::lock_guard lock(mutex_);
  listings_.insert_or_assign("", std::move(listing));
}

DirectoryListing DocumentReader::list(const std::string& prefix) const {
  if (store_.traits().parallel_requests == 1) return store_.list(prefix);
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = listings_.find(prefix); it != listings_.end()) return it->second;
  }
  DirectoryListing listing = store_.list(prefix);
  const std::lock_guard lock(mutex_);
  if (listing_keepers_ > 0) listings_.insert_or_assign(prefix, listing);
  return listing;
}

// Documents at the root are cached: several formats ask for them, and some formats for every node.
DocumentText DocumentReader::stored_text(const std::string& key) const {
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

DocumentText DocumentReader::request_text(const std::string& key) const {
  auto value = store_.get(key, kMaxDocumentBytes);
  return value ? std::make_shared<const Buffer>(std::move(*value)) : nullptr;
}

void DocumentReader::note_denied(const std::string& key, const AccessDenied& error) const {
  const bool is_page = dynamic_cast<const NotAValue*>(&error) != nullptr;
  bool is_first_page = false;
  {
    constexpr std::size_t kMaxNoted = 1000;
    const std::lock_guard lock(mutex_);
    if (denied_.size() < kMaxNoted) denied_.emplace_back(key, error.what());
    is_first_page = is_page && !std::exchange(is_page_reported_, true);
  }
  if (is_first_page) on_problem_(std::string(error.what()) + "; it counts as missing");
}

std::string DocumentReader::denied(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(denied_.begin(), denied_.end(), [&](const auto& document) {
    return path.empty() || parent_path(document.first) == path;
  });
  return it != denied_.end() ? it->second : std::string();
}

std::vector<std::string> DocumentReader::documents_read() const {
  const std::lock_guard lock(mutex_);
  return {documents_read_.begin(), documents_read_.end()};
}

bool DocumentReader::has_read(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return documents_read_.contains(key);
}

void DocumentReader::note_put(const std::string& key) {
  const std::lock_guard lock(mutex_);
  documents_read_.insert(key);
  root_texts_.erase(key);
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

void DocumentReader::forget(std::span<const std::string> paths) {
  const std::lock_guard lock(mutex_);
  std::erase_if(documents_read_, [&](const std::string& document) {
    return std::ranges::any_of(
        paths, [&](const std::string& path) { return is_at_or_below(document, path); });
  });
  root_texts_.clear();
  listings_.clear();
}

void DocumentReader::forget_root() {
  const std::lock_guard lock(mutex_);
  root_texts_.clear();
}

}  // namespace zarrcore
