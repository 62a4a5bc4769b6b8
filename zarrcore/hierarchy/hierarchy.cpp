#include "zarrcore/hierarchy/hierarchy.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {
namespace {

std::optional<NodeKind> kind_of(const std::shared_ptr<const NodeMetadata>& node) {
  if (node == nullptr) return std::nullopt;
  return std::holds_alternative<ArrayMetadata>(*node) ? NodeKind::array : NodeKind::group;
}

// Those of the root in all formats.
std::vector<std::string> consolidated_keys() {
  std::vector<std::string> keys;
  for (const Format* format : formats()) {
    if (auto key = format->consolidated_key("")) keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace

Hierarchy::Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      root_texts_(std::exchange(options_.root_documents, {})) {
  const DocumentSource documents = own_documents();
  auto root_listing = std::exchange(options_.root_listing, {});
  if (options_.is_writable && options_.lists_root && !root_listing) {
    root_listing = list_for_changes(*store_);
  }
  const bool reads_copies = options_.use_consolidated && !(options_.is_writable && root_listing);
  if (root_listing) {
    kept_until_opened_ = keep_listings();
    listings_.emplace("", std::move(*root_listing));
  }
  // The documents that say most, whatever the format is.
  const auto kept_first = request(reads_copies ? consolidated_keys() : std::vector<std::string>());
  std::vector<std::string> faults;  // of consolidated metadata
  for (const Format* format : formats()) {
    own_format_ = format->for_store(documents);
    format_ = own_format_ ? own_format_.get() : format;
    root_array_.reset();
    const auto read_copies = [&] {
      try {
        consolidated_ = format_->read_consolidated(documents, "");
      } catch (const Error& error) {
        faults.emplace_back(error.what());
      }
    };
    if (reads_copies) read_copies();
    if (!consolidated_) {
      const auto kept = request_expected();
      const bool is_found = has("", NodeKind::group) || has("", NodeKind::array);
      if (is_found) read_expected();
      if (!is_found && options_.use_consolidated && !reads_copies) read_copies();
      if (!is_found && !consolidated_) continue;
    }
    reads_copies_later_ = options_.use_consolidated && !reads_copies && !consolidated_;
    if (consolidated_) {
      for (const std::string& problem : consolidated_->problems) options_.on_problem(problem);
      root_texts_.clear();  // the store is not read any more
      // A consolidated hierarchy has a root group even without a document for it.
      if (node("") == nullptr) nodes_[""] = std::make_shared<const NodeMetadata>(GroupMetadata{});
    }
    for (const std::string& fault : faults) options_.on_problem(fault + "; it is not used");
    if (options_.is_writable) start_changes();
    return;
  }
  std::string message = denied_.empty()
                            ? store_->description() + ": there is no Zarr group or array"
                            : denied_.front().second;
  for (const std::string& fault : faults) message.append("; ").append(fault);
  throw Error(std::move(message));
}

DocumentSource Hierarchy::own_documents() const {
  auto source =
      documents_with_text(*store_, [this](const std::string& key) { return stored_text(key); });
  source.list = [this](const std::string& prefix) { return list(prefix); };
  return source;
}

DocumentSource Hierarchy::copied_documents() const {
  const auto document = [this](const std::string& key) -> std::optional<Json> {
    const std::lock_guard lock(mutex_);
    const auto it = consolidated_->documents.find(key);
    if (it == consolidated_->documents.end()) return std::nullopt;
    return with_context([&] { return "consolidated metadata: " + key; },
                        [&] { return std::make_optional(it->second.get()); });
  };
  const auto no_text = [](const std::string& /*key*/) { return nullptr; };
  const auto list = [this](const std::string& prefix) {
    const std::lock_guard lock(mutex_);
    return list_sorted(prefix, consolidated_->documents);
  };
  const auto has = [this](const std::string& key) {
    const std::lock_guard lock(mutex_);
    return consolidated_->documents.contains(key);
  };
  return {document, no_text, has, list};
}

DocumentSource Hierarchy::documents() const {
  return is_consolidated() ? copied_documents() : own_documents();
}

bool Hierarchy::has_copies_for_changes() const {
  const std::lock_guard one_at_a_time(copies_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (!reads_copies_later_) return consolidated_.has_value();
  }
  std::optional<ConsolidatedDocuments> copies;
  try {
    copies = format_->read_consolidated(own_documents(), "");
  } catch (const Error& error) {
    options_.on_problem(std::string(error.what()) + "; it is not used");
  }
  const std::lock_guard lock(mutex_);
  consolidated_ = std::move(copies);
  reads_copies_later_ = false;
  return consolidated_.has_value();
}

// For changes: a node that is only described by consolidated metadata, if its path exists. That
// another program has removed the node may not show in what has been read.
std::optional<NodeMetadata> Hierarchy::read_copied_node(const std::string& path) const {
  if (is_consolidated() || store_->is_known_absent(path)) return std::nullopt;
  if (!has_copies_for_changes()) return std::nullopt;
  for (const std::string& key : format_->node_keys(path)) {
    if (key != format_->consolidated_key(path) && store_->has(key)) return std::nullopt;
  }
  if (!format_->read_node(copied_documents(), path)) return std::nullopt;
  if (store_->list(path).is_empty()) return std::nullopt;
  const auto copies = format_->read_consolidated(stored_documents(*store_), "");
  {
    const std::lock_guard lock(mutex_);
    consolidated_ = copies;
  }
  return copies ? format_->read_node(copied_documents(), path) : std::nullopt;
}

std::shared_ptr<const NodeMetadata> Hierarchy::known_node(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto it = nodes_.find(path);
  return it != nodes_.end() ? it->second : nullptr;
}

std::shared_ptr<const NodeMetadata> Hierarchy::root_array() const {
  {
    const std::lock_guard lock(mutex_);
    if (root_array_) return *root_array_;
  }
  auto found = with_context([this] { return store_->description(); },
                            [&] { return format_->read_root_array(documents()); });
  const std::lock_guard lock(mutex_);
  root_array_ = found ? std::make_shared<const NodeMetadata>(std::move(*found)) : nullptr;
  return *root_array_;
}

std::shared_ptr<const NodeMetadata> Hierarchy::node(std::string_view path,
                                                    std::optional<NodeKind> wanted) const {
  const std::string normalized = normalize_path(path);
  if (normalized.empty() && wanted == NodeKind::array) {
    if (auto array = root_array()) return array;
  }
  if (auto known = known_node(normalized)) return known;
  const auto kept = request(format_->keys_to_read(normalized, wanted));
  auto found = with_context([this] { return store_->description(); },
                            [&] {
                              auto own = format_->read_node(documents(), normalized, wanted);
                              return own ? std::move(own) : read_copied_node(normalized);
                            });
  if (!found) return nullptr;
  auto metadata = std::make_shared<const NodeMetadata>(std::move(*found));
  const std::lock_guard lock(mutex_);
  return nodes_.emplace(normalized, std::move(metadata)).first->second;
}

bool Hierarchy::has(std::string_view path, NodeKind kind) const {
  const std::string normalized = normalize_path(path);
  if (kind == NodeKind::group && known_node(normalized) == nullptr) {
    {
      const std::lock_guard lock(mutex_);
      if (known_groups_.contains(normalized)) return true;
    }
    const auto kept = request(format_->keys_to_read(normalized, NodeKind::group));
    const auto found = with_context([this] { return store_->description(); },
                                    [&] { return format_->find_group(documents(), normalized); });
    if (found == true) {
      {
        const std::lock_guard lock(mutex_);
        known_groups_.insert(normalized);
      }
      // With the attributes, which have been requested with the document that shows the group.
      if (is_slow()) read_ahead(normalized, NodeKind::group);
    }
    const auto may_be_copied = [&] {
      const std::lock_guard lock(mutex_);
      return (consolidated_ || reads_copies_later_) && !is_consolidated();
    };
    if (found && (*found || !may_be_copied())) return *found;
  }
  return kind_of(node(normalized, kind)) == kind;
}

bool Hierarchy::prefetch(std::span<const std::string> paths, std::optional<NodeKind> wanted) const {
  if (!is_slow()) return false;
  constexpr std::size_t kMaxNodes = 256;  // whose documents are in memory at once
  for (std::size_t start = 0; start < paths.size(); start += kMaxNodes) {
    const auto some = paths.subspan(start, std::min(kMaxNodes, paths.size() - start));
    const auto request_for = [&](std::optional<NodeKind> kind) {
      std::vector<std::string> keys;
      for (const std::string& path : some) {
        if (known_node(path)) continue;
        for (std::string& key : format_->keys_to_read(path, kind)) keys.push_back(std::move(key));
      }
      return request(std::move(keys));
    };
    // Most nodes are arrays. To change them, fewer requests count more than fewer round trips.
    const bool is_array_first = !wanted && options_.is_writable;
    const auto kept_first = request_for(is_array_first ? NodeKind::array : wanted);
    if (is_array_first) read_arrays_ahead(some);
    const auto kept = is_array_first ? request_for(wanted) : DocumentRequests::Kept();
    for (const std::string& path : some) read_ahead(path, wanted);
  }
  return true;
}

void Hierarchy::read_arrays_ahead(std::span<const std::string> paths) const {
  for (const std::string& path : paths) {
    if (known_node(path)) continue;
    try {
      auto found = format_->read_node(own_documents(), path, NodeKind::array);
      if (!found) continue;
      auto metadata = std::make_shared<const NodeMetadata>(std::move(*found));
      const std::lock_guard lock(mutex_);
      nodes_.emplace(path, std::move(metadata));
    } catch (const Error&) {
      // Opening the node reports the error.
    }
  }
}

// Opening the node reports errors.
void Hierarchy::read_ahead(const std::string& path, std::optional<NodeKind> wanted) const {
  try {
    node(path, wanted);
  } catch (const Error&) {
  }
}

// Without nodes that have a name that none may have, which are reported once. Other folders may
// have such names.
std::vector<std::string> Hierarchy::listed_names(const DocumentSource& source,
                                                 const std::string& group) const {
  std::vector<std::string> names = format_->child_names(source, group);
  std::erase_if(names, [&](const std::string& name) {
    const std::string_view problem = format_->name_problem(name);
    if (problem.empty()) return false;
    const std::string path = join_path(group, name);
    const auto keys = format_->node_keys(path);
    const bool is_node = std::any_of(keys.begin(), keys.end(),
                                     [&](const std::string& key) { return source.has(key); });
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      is_new = is_node && skipped_.insert(path).second;
    }
    if (is_new) {
      options_.on_problem("/" + path +
                          " is not listed because of its name: " + std::string(problem));
    }
    return true;
  });
  return names;
}

// The listed names, with their nodes read in advance where that saves waiting.
std::vector<std::string> Hierarchy::prefetched_names(const DocumentSource& source,
                                                     const std::string& group) const {
  std::vector<std::string> names = listed_names(source, group);
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(join_path(group, name));
  prefetch(paths, std::nullopt);
  return names;
}

std::vector<std::string> Hierarchy::child_names(std::string_view path, NodeKind kind) const {
  const std::string group = normalize_path(path);
  const DocumentSource source = documents();
  std::vector<std::string> names;
  if (group.empty() && kind == NodeKind::array) {
    try {
      if (root_array() != nullptr) names.emplace_back();
    } catch (const Error&) {
      names.emplace_back();  // opening it reports the error
    }
  }
  for (std::string& name : prefetched_names(source, group)) {
    const std::string child = join_path(group, name);
    std::optional<NodeKind> found = is_slow() ? kind_of(known_node(child)) : std::nullopt;
    try {
      if (!found) found = format_->find_kind(source, child);
      if (!found) found = kind_of(node(child));
    } catch (const Error&) {
      found = NodeKind::array;  // opening it reports the error
    }
    if (found == kind) names.push_back(std::move(name));
  }
  return names;
}

std::vector<Child> Hierarchy::children(std::string_view path) const {
  const std::string group = normalize_path(path);
  std::vector<Child> children;
  if (group.empty()) {
    try {
      if (root_array() != nullptr) children.push_back({{}, Child::Kind::array, {}});
    } catch (const Error& error) {
      children.push_back({{}, Child::Kind::broken, error.what()});
    }
  }
  for (std::string& name : prefetched_names(documents(), group)) {
    try {
      if (const auto metadata = node(join_path(group, name))) {
        const bool is_array = std::holds_alternative<ArrayMetadata>(*metadata);
        children.push_back(
            {std::move(name), is_array ? Child::Kind::array : Child::Kind::group, {}});
      }
    } catch (const Error& error) {
      children.push_back({std::move(name), Child::Kind::broken, error.what()});
    }
  }
  return children;
}

std::vector<std::string> Hierarchy::documents_read() const {
  const std::lock_guard lock(mutex_);
  return {documents_read_.begin(), documents_read_.end()};
}

std::shared_ptr<const Array> Hierarchy::open_array(std::string_view path,
                                                   std::shared_ptr<Context> context) const {
  auto metadata = node(path, NodeKind::array);
  if (metadata == nullptr) metadata = node(path);
  if (metadata == nullptr) {
    check_not_denied(path);
    throw Error(store_->description() + ": there is no node at /" + normalize_path(path));
  }
  const auto* array = std::get_if<ArrayMetadata>(metadata.get());
  if (array == nullptr) {
    throw Error(store_->description() + ": /" + normalize_path(path) + " is a group, not an array");
  }
  return std::make_shared<const Array>(store_, normalize_path(path), *array, std::move(context));
}

}  // namespace zarrcore
