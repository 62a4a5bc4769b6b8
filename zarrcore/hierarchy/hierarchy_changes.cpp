// Changes of the nodes of a store.
#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {
namespace {

bool is_at_or_below(std::string_view path, std::string_view node) {
  return path == node || key_below(node, path).has_value();
}

ByteSpan bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::unique_ptr<Hierarchy> Hierarchy::create(std::shared_ptr<Store> store, const Format& format,
                                             const NodeMetadata& root, HierarchyOptions options) {
  std::unique_ptr<Hierarchy> hierarchy(new Hierarchy(std::move(store), std::move(options), format));
  with_context([&] { return hierarchy->store_->description(); },
               [&] {
    for (const Format* other : formats()) {
      if (other->read_node(hierarchy->stored_documents(), "")) {
        throw Error("there is a Zarr already");
      }
    }
    hierarchy->root_texts_.clear();
    // An array alone has no use for it.
    if (hierarchy->options_.use_consolidated && std::holds_alternative<GroupMetadata>(root)) {
      hierarchy->consolidated_.emplace();
      hierarchy->must_consolidate_ = hierarchy->has_changed_ = true;
    }
    hierarchy->put_documents(hierarchy->documents_of(root, ""));
  });
  hierarchy->nodes_[""] = std::make_shared<const NodeMetadata>(root);
  return hierarchy;
}

void Hierarchy::create_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard change(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
    check_is_new(path);
    const auto documents = documents_of(metadata, path);
    begin_change(path);
    put_documents(documents);
  });
  const std::lock_guard lock(mutex_);
  nodes_[path] = std::make_shared<const NodeMetadata>(std::move(metadata));
}

void Hierarchy::check_is_new(const std::string& path) const {
  check_key(path);
  const std::string_view name = last_segment(path);
  if (format_->is_document(name)) throw Error("a document of the format has this name");
  const auto parent = node(parent_path(path));
  if (!parent || !std::holds_alternative<GroupMetadata>(*parent)) {
    throw Error("there is no group /" + std::string(parent_path(path)) + " for it");
  }
  if (node(path)) throw Error("there is a node of this name already");
  const DirectoryListing found = store_->list(path);
  if (!found.keys.empty() || !found.prefixes.empty()) {
    throw Error("there is something at this place that is no node");
  }
}

void Hierarchy::update_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard change(change_mutex_);
  // What cannot be expressed shows now.
  with_context([&] { return store_->description() + ": /" + path; },
               [&] { return documents_of(metadata, path); });
  updated_.insert(path);
  const std::lock_guard lock(mutex_);
  nodes_[path] = std::make_shared<const NodeMetadata>(std::move(metadata));
}

void Hierarchy::erase_node(const std::string& path) {
  const std::lock_guard change(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
    check_key(path);
    begin_change(path);
    std::erase_if(updated_, [&](const auto& node) { return is_at_or_below(node, path); });
    // Without its documents there is no node, whatever becomes of the rest.
    for (const std::string& key : format_->node_keys(path)) store_->erase(key);
    forget(path);
    store_->erase_prefix(path);
  });
}

void Hierarchy::rename_node(const std::string& path, const std::string& name) {
  const std::lock_guard change(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
    check_key(path);
    if (!is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
    const std::string target = join_path(parent_path(path), name);
    with_context([&] { return "renaming to " + name; }, [&] { check_is_new(target); });
    begin_change(path);
    const auto updated = updated_;
    for (const std::string& node : updated) {
      if (is_at_or_below(node, path)) put_updated(node);
    }
    store_->rename_prefix(path, target);
    decltype(consolidated_->documents) moved;
    if (consolidated_) {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, document] : consolidated_->documents) {
        if (const auto below = key_below(path, key)) {
          moved.emplace(join_path(target, *below), document);
        }
      }
    }
    forget(path);
    const std::lock_guard lock(mutex_);
    if (consolidated_) consolidated_->documents.merge(moved);
  });
}

void Hierarchy::flush_node(const std::string& path) {
  const std::lock_guard change(change_mutex_);
  if (updated_.contains(path)) put_updated(path);
}

void Hierarchy::put_updated(const std::string& path) {
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
    begin_change(path);
    put_documents(documents_of(*node(path), path));
  });
  updated_.erase(path);
}

void Hierarchy::flush() {
  const std::lock_guard change(change_mutex_);
  const auto updated = updated_;
  for (const std::string& path : updated) put_updated(path);
  if (!has_changed_) return;
  if (must_consolidate_) {
    with_context([&] { return store_->description() + ": consolidated metadata"; },
                 [&] {
      DocumentMap documents;
      if (consolidated_) {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, document] : consolidated_->documents) {
          try {
            documents.emplace(key, document.get());
          } catch (const Error& error) {
            options_.on_problem(key + ": " + error.what() +
                                "; consolidated metadata is without it");
          }
        }
      } else {
        collect_documents("", documents);
      }
      const Document document = format_->consolidated_document(documents, "");
      const std::string text = format_->document_text(document.content);
      store_->put(document.key, bytes_of(text));
    });
  }
  has_changed_ = false;
}

// To be called before a node at `path` changes. Groups around it may hold consolidated metadata,
// too: the root's is written again later, that of others is of little use and is dropped.
void Hierarchy::begin_change(const std::string& path) {
  if (!must_consolidate_ && !known_as_plain_.contains("")) {
    must_consolidate_ = consolidated_ || has_consolidated("");
    known_as_plain_.insert("");
  }
  if (must_consolidate_ && !has_changed_) drop_consolidated("");
  has_changed_ = true;
  for (std::string group = path; !group.empty(); group = parent_path(group)) {
    if (!known_as_plain_.insert(group).second) continue;
    const auto metadata = node(group);
    if (!metadata || !std::holds_alternative<GroupMetadata>(*metadata)) continue;
    if (has_consolidated(group)) drop_consolidated(group);
  }
}

bool Hierarchy::has_consolidated(const std::string& group) const {
  try {
    return format_->read_consolidated(stored_documents(), group).has_value();
  } catch (const Error&) {
    return true;  // it is there, but not right
  }
}

void Hierarchy::drop_consolidated(const std::string& group) {
  const auto metadata = node(group);
  if (!metadata || !std::holds_alternative<GroupMetadata>(*metadata)) return;
  std::vector<Document> documents = documents_of(*metadata, group);
  DocumentMap map;
  for (const Document& document : documents) map.emplace(document.key, document.content);
  const std::string key = format_->consolidated_document(map, group).key;
  // The group's own documents are without it. They may not have been there.
  put_documents(std::move(documents));
  if (!map.contains(key)) store_->erase(key);
}

std::vector<Document> Hierarchy::documents_of(const NodeMetadata& metadata,
                                              const std::string& path) const {
  if (const auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    return format_->array_documents(*array, path);
  }
  return format_->group_documents(std::get<GroupMetadata>(metadata), path);
}

// The first document is the one that makes the node; it comes when all others are there.
void Hierarchy::put_documents(std::vector<Document> documents) {
  for (auto document = documents.rbegin(); document != documents.rend(); ++document) {
    const std::string text = format_->document_text(document->content);
    store_->put(document->key, bytes_of(text));
    const std::lock_guard lock(mutex_);
    documents_read_.insert(document->key);
    root_texts_.erase(document->key);
    if (consolidated_) {
      consolidated_->documents.insert_or_assign(document->key, std::move(document->content));
    }
  }
}

// A node that is not there any more, and all below it.
void Hierarchy::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto is_gone = [&](const auto& item) { return is_at_or_below(item.first, path); };
  std::erase_if(nodes_, is_gone);
  if (consolidated_) std::erase_if(consolidated_->documents, is_gone);
  std::erase_if(documents_read_, [&](const auto& key) { return is_at_or_below(key, path); });
  for (auto* paths : {&known_as_plain_, &known_groups_}) {
    std::erase_if(*paths, [&](const auto& group) { return is_at_or_below(group, path); });
  }
  root_texts_.clear();
}

void Hierarchy::collect_documents(const std::string& path, DocumentMap& documents) const {
  const DocumentSource stored = stored_documents();
  for (const std::string& key : format_->node_keys(path)) {
    try {
      if (auto document = stored.document(key)) documents.emplace(key, std::move(*document));
    } catch (const Error& error) {
      options_.on_problem(std::string(error.what()) + "; consolidated metadata is without it");
    }
  }
  for (const Child& child : children(path)) {
    const std::string below = join_path(path, child.name);
    collect_documents(below, documents);
  }
}

}  // namespace zarrcore
