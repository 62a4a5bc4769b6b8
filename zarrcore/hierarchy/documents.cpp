#include "zarrcore/hierarchy/documents.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

// The number of nodes whose documents are requested together.
constexpr std::size_t kNodesAtOnce = 32;

// The documents of a node that cannot be read as a whole, as far as they are JSON. Adds the faults
// of the others to `unreadable`.
DocumentMap documents_of_broken_node(const DocumentSource& stored, const Format& format,
                                     const std::string& path,
                                     std::vector<std::string>& unreadable) {
  DocumentMap documents;
  for (const std::string& key : format.node_keys(path)) {
    auto fault = fault_of([&] {
      if (auto document = stored.document(key)) documents.emplace(key, std::move(*document));
    });
    if (fault) unreadable.push_back(*std::move(fault));
  }
  // Other programs cannot open copies with documents of a node that lack the one that makes it.
  if (!unreadable.empty() && !format.find_kind(documents_in(documents), path)) return {};
  return documents;
}

StoredNode read_or_explain(const DocumentSource& stored, const Format& format,
                           const std::string& path) {
  StoredNode node;
  if (auto fault = fault_of([&] { node = read_stored_node(stored, format, path); })) {
    node.problem = *std::move(fault);
    node.documents = documents_of_broken_node(stored, format, path, node.unreadable);
  }
  return node;
}

void visit_from(const DocumentSource& stored, const Format& format, const std::string& path,
                StoredNode node, const UseStoredNode& use, const RunTogether& run) {
  const bool is_group = node.metadata && std::holds_alternative<GroupMetadata>(*node.metadata);
  use(path, std::move(node));
  if (!is_group) return;
  const std::vector<std::string> names = format.child_names(stored, path);
  const std::size_t at_once = run ? kNodesAtOnce : 1;
  std::vector<StoredNode> nodes;
  for (std::size_t first = 0; first < names.size(); first += nodes.size()) {
    nodes.assign(std::min(at_once, names.size() - first), {});
    const auto read = [&](std::size_t i) {
      nodes[i] = read_or_explain(stored, format, join_path(path, names[first + i]));
    };
    if (run) {
      run(nodes.size(), nodes.size(), read);
    } else {
      read(0);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      visit_from(stored, format, join_path(path, names[first + i]), std::move(nodes[i]), use, run);
    }
  }
}

bool is_at_root(std::string_view key) {
  return key.find('/') == std::string_view::npos;
}

}  // namespace

DocumentSource documents_with_text(
    Store& store, std::function<std::shared_ptr<const Buffer>(const std::string& key)> text) {
  const auto named = [text = std::move(text)](const std::string& key) {
    return with_context(key, [&] { return text(key); });
  };
  const auto document = [named](const std::string& key) -> std::optional<Json> {
    const auto found = named(key);
    if (!found) return std::nullopt;
    return with_context(key, [&] { return std::make_optional(parse_json(found->text())); });
  };
  return {document, named, [&store](const std::string& key) { return store.has(key); },
          [&store](const std::string& prefix) { return store.list(prefix); }};
}

DocumentSource stored_documents(Store& store) {
  return documents_with_text(store, [&store](const std::string& key) {
    auto value = store.get(key, kMaxDocumentBytes);
    return value ? std::make_shared<const Buffer>(std::move(*value)) : nullptr;
  });
}

DocumentSource documents_in(const DocumentMap& documents) {
  const auto document = [&documents](const std::string& key) -> std::optional<Json> {
    const auto it = documents.find(key);
    return it == documents.end() ? std::nullopt : std::optional(it->second);
  };
  return {document, [](const std::string& /*key*/) { return nullptr; },
          [&documents](const std::string& key) { return documents.contains(key); },
          [&documents](const std::string& prefix) { return list_sorted(prefix, documents); }};
}

DocumentMap collect_documents(Store& store, const Format& format, const std::string& path,
                              const std::function<void(const std::string&)>& on_problem) {
  DocumentMap documents;
  visit_stored_nodes(stored_documents(store), format, path,
                     [&](const std::string& /*path*/, StoredNode node) {
                       documents.merge(node.documents);
                       for (const std::string& problem : node.unreadable) {
                         on_problem(problem + "; consolidated metadata is without it");
                       }
                     });
  return documents;
}

StoredNode read_stored_node(const DocumentSource& stored, const Format& format,
                            const std::string& path) {
  StoredNode node;
  DocumentSource noted = stored;
  noted.document = [&](const std::string& key) {
    auto document = stored.document(key);
    if (document) node.documents.emplace(key, *document);
    return document;
  };
  node.metadata = format.read_node(noted, path);
  return node;
}

void visit_stored_nodes(const DocumentSource& stored, const Format& format, const std::string& path,
                        const UseStoredNode& use, const RunTogether& run) {
  visit_from(stored, format, path, read_or_explain(stored, format, path), use, run);
}

std::vector<std::string> document_keys_below(Store& store, const Format& format,
                                             const std::string& path) {
  std::vector<std::string> keys;
  visit_stored_nodes(stored_documents(store), format, path,
                     [&](const std::string& node, const StoredNode& /*read*/) {
                       for (std::string& key : format.node_keys(node)) {
                         keys.push_back(std::move(key));
                       }
                     });
  return keys;
}

std::optional<DirectoryListing> list_for_changes(Store& store) {
  constexpr std::size_t kMaxNames = 900;  // less than a page of any server
  store.use_listings();
  if (!store.traits().lists_all_at_once) return std::nullopt;
  try {
    auto listing = store.list("", {.max_names = kMaxNames + 1});
    return listing.size() <= kMaxNames ? std::optional(std::move(listing)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // requests show what exists
  }
}

std::vector<Document> documents_of(const Format& format, const NodeMetadata& metadata,
                                   const std::string& path) {
  if (const auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    return format.array_documents(*array, path);
  }
  return format.group_documents(std::get<GroupMetadata>(metadata), path);
}

void put_document(Store& store, const Format& format, const Document& document) {
  const std::string text = format.document_text(document.content);
  store.put(document.key, std::as_bytes(std::span(text)));
}

DocumentSource DocumentReader::source() const {
  auto source =
      documents_with_text(store_, [this](const std::string& key) { return stored_text(key); });
  source.list = [this](const std::string& prefix) { return list(prefix); };
  return source;
}

DocumentRequests::AnswerScope DocumentReader::request(std::vector<std::string> keys) const {
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
  ValueVersion version;
  try {
    const auto requested = requests_.find(key);
    text = requested ? *requested : request_text(key, &version);
  } catch (const AccessDenied& error) {
    // Stores that cannot list answer so for missing documents. But a document of the root can be
    // read.
    note_denied(key, error);
  }
  const std::lock_guard lock(mutex_);
  if (text) documents_read_.try_emplace(key, version);
  if (is_at_root(key)) root_texts_.emplace(key, text);
  return text;
}

DocumentText DocumentReader::request_text(const std::string& key, ValueVersion* version) const {
  const auto opened = version != nullptr && knows_versions() ? store_.open(key) : nullptr;
  auto value = opened ? opened->get(kMaxDocumentBytes) : store_.get(key, kMaxDocumentBytes);
  if (opened) *version = opened->version();
  return value ? std::make_shared<const Buffer>(std::move(*value)) : nullptr;
}

// They are not asked for where that may take a request.
bool DocumentReader::knows_versions() const {
  const StoreTraits traits = store_.traits();
  return traits.knows_versions && traits.parallel_requests == 1;
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
  std::vector<std::string> keys;
  keys.reserve(documents_read_.size());
  for (const auto& [key, version] : documents_read_) keys.push_back(key);
  return keys;
}

bool DocumentReader::has_read(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return documents_read_.contains(key);
}

bool DocumentReader::are_as_read(std::span<const std::string> keys) const {
  if (!knows_versions()) return true;
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const ValueVersion now = store_.current_version(key);
    const std::lock_guard lock(mutex_);
    const auto it = documents_read_.find(key);
    const auto read = it != documents_read_.end() ? it->second : ValueVersion::absent();
    return read.is_valid_for(now);
  });
}

void DocumentReader::note_put(const std::string& key) {
  const std::lock_guard lock(mutex_);
  documents_read_.insert_or_assign(key, ValueVersion({}, false));  // to be read when it is needed
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
  std::erase_if(documents_read_, [&](const auto& document) {
    return std::ranges::any_of(
        paths, [&](const std::string& path) { return is_at_or_below(document.first, path); });
  });
  root_texts_.clear();
  listings_.clear();
}

void DocumentReader::forget_root() {
  const std::lock_guard lock(mutex_);
  root_texts_.clear();
}

void DocumentReader::forget_read(std::span<const std::string> keys) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys) {
    documents_read_.erase(key);
    root_texts_.erase(key);
  }
}

}  // namespace zarrcore
