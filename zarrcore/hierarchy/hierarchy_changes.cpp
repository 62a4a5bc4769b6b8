// Changes of the nodes of a store.
#include <algorithm>
#include <exception>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/hierarchy/merge_document.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {

std::unique_ptr<Hierarchy> Hierarchy::create(std::shared_ptr<Store> store, const Format& format,
                                             const NodeMetadata& root, HierarchyOptions options) {
  options.is_writable = true;
  std::unique_ptr<Hierarchy> hierarchy(new Hierarchy(std::move(store), std::move(options), format));
  with_context([&] { return hierarchy->store_->description(); },
               [&] {
                 for (const Format* other : formats()) {
                   if (other->read_node(hierarchy->own_documents(), ""))
                     throw Error("there is a Zarr already");
                 }
                 hierarchy->root_texts_.clear();
                 const auto documents = hierarchy->documents_of(root, "");
                 hierarchy->copies_ = std::make_unique<ConsolidatedCopies>(
                     hierarchy->store_, format, hierarchy->options_.on_problem);
                 const auto lock = hierarchy->copies_->lock();
                 // An array alone has no use for it.
                 const bool is_group = std::holds_alternative<GroupMetadata>(root);
                 if (hierarchy->options_.use_consolidated && is_group)
                   hierarchy->copies_->want_root();
                 hierarchy->put_documents(documents);
                 hierarchy->copies_->owe("");
               });
  hierarchy->made_.insert("");
  hierarchy->nodes_[""] = std::make_shared<const NodeMetadata>(root);
  return hierarchy;
}

// Consolidated metadata that somebody owed is made; where that fails, it can wait.
void Hierarchy::start_changes() {
  copies_ = std::make_unique<ConsolidatedCopies>(store_, *format_, options_.on_problem);
  try {
    if (!store_->read_only_reason().empty() || !copies_->is_owed()) return;
    const auto lock = copies_->lock();
    copies_->make_owed();
  } catch (const Error& error) {
    options_.on_problem(std::string("consolidated metadata: ") + error.what());
  }
}

ConsolidatedCopies& Hierarchy::copies() const {
  if (!copies_) throw Error("it was opened for reading only");
  return *copies_;
}

void Hierarchy::create_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard one_at_a_time(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
                 const auto lock = copies().lock();
                 check_is_new(path);
                 auto documents = documents_of(metadata, path);
                 copies_->owe(path);
                 made_.insert(path);
                 put_documents(std::move(documents));
               });
  const std::lock_guard lock(mutex_);
  nodes_[path] = std::make_shared<const NodeMetadata>(std::move(metadata));
}

void Hierarchy::check_is_new(const std::string& path) const {
  check_key(path);
  const std::string_view name = last_segment(path);
  if (format_->is_document(name)) throw Error("a document of the format has this name");
  const std::string group(parent_path(path));
  const auto parent = node(group);
  if (!parent || !std::holds_alternative<GroupMetadata>(*parent)) {
    throw Error("there is no group /" + group + " for it");
  }
  if (!is_still_there(group)) throw Error("the group /" + group + " has been removed");
  if (node(path)) throw Error("there is a node of this name already");
  const DirectoryListing found = store_->list(path);
  if (!found.keys.empty() || !found.prefixes.empty()) {
    throw Error("there is something at this place that is no node");
  }
}

// Whether nobody has removed a node that was there.
bool Hierarchy::is_still_there(const std::string& path) const {
  {
    const std::lock_guard lock(mutex_);
    if (known_by_copy_.contains(path)) return true;
  }
  const auto keys = format_->node_keys(path);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return store_->has(key); });
}

void Hierarchy::update_node(const std::string& path,
                            const std::function<void(NodeMetadata&)>& edit) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const auto old = node(path);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
                 copies();
                 if (!old) throw Error("there is no such node");
                 NodeMetadata metadata = *old;
                 edit(metadata);
                 documents_of(metadata, path);  // what cannot be expressed shows now
                 updated_.emplace(path, old);
                 const std::lock_guard lock(mutex_);
                 nodes_[path] = std::make_shared<const NodeMetadata>(std::move(metadata));
               });
}

void Hierarchy::erase_node(const std::string& path) {
  const std::lock_guard one_at_a_time(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
                 check_key(path);
                 const auto lock = copies().lock();
                 std::erase_if(updated_,
                               [&](const auto& node) { return is_at_or_below(node.first, path); });
                 std::erase_if(made_, [&](const auto& node) { return is_at_or_below(node, path); });
                 change({.updated = {}, .replaced = {path}, .made = {}}, [&] {
                   // Without its documents there is no node, whatever becomes of the rest.
                   for (const std::string& key : format_->node_keys(path)) store_->erase(key);
                   forget(path);
                   store_->erase_prefix(path);
                 });
               });
}

void Hierarchy::rename_node(const std::string& path, const std::string& name) {
  const std::lock_guard one_at_a_time(change_mutex_);
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
                 check_key(path);
                 if (!is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
                 const std::string target = join_path(parent_path(path), name);
                 const auto lock = copies().lock();
                 with_context([&] { return "renaming to " + name; }, [&] { check_is_new(target); });
                 std::erase_if(made_, [&](const auto& node) { return is_at_or_below(node, path); });
                 change({.updated = {}, .replaced = {path, target}, .made = {}}, [&] {
                   const auto updated = updated_;
                   for (const auto& [node, base] : updated) {
                     if (is_at_or_below(node, path)) put_updated(node);
                   }
                   store_->rename_prefix(path, target);
                   forget(path);
                 });
               });
}

void Hierarchy::flush_node(const std::string& path) {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (!updated_.contains(path)) return;
  with_context([&] { return store_->description(); },
               [&] {
                 const auto lock = copies().lock();
                 if (made_.contains(path)) {
                   put_updated(path);  // nobody has a copy
                 } else {
                   change({.updated = {path}, .replaced = {}, .made = {}},
                          [&] { put_updated(path); });
                 }
               });
}

void Hierarchy::flush() {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (updated_.empty() && made_.empty() && !is_unfinished_) return;
  with_context([&] { return store_->description(); },
               [&] {
                 const auto updated = updated_;
                 ConsolidatedCopies::Changes changes;
                 for (const auto& [path, base] : updated) {
                   if (!made_.contains(path)) changes.updated.push_back(path);
                 }
                 const auto lock = copies().lock();
                 change(std::move(changes), [&] {
                   std::exception_ptr first_error;
                   for (const auto& [path, base] : updated) {
                     try {
                       put_updated(path);
                     } catch (const Error&) {
                       if (!first_error) first_error = std::current_exception();
                     }
                   }
                   if (first_error) std::rethrow_exception(first_error);
                 });
               });
}

// With what consolidated metadata misses.
void Hierarchy::change(ConsolidatedCopies::Changes changes, const std::function<void()>& change) {
  changes.made.assign(made_.begin(), made_.end());
  is_unfinished_ = true;
  copies_->change(changes, change);
  is_unfinished_ = false;
  made_.clear();
}

// Puts what has changed of a node into the documents that there are now.
void Hierarchy::put_updated(const std::string& path) {
  with_context([&] { return '/' + path; },
               [&] {
                 const auto changed = node(path);
                 const auto before = documents_of(*updated_.at(path), path);
                 const auto after = documents_of(*changed, path);
                 const DocumentMap stored = documents_of_node(*store_, *format_, path);
                 auto current = format_->read_node(documents_in(stored), path);
                 if (!current && known_by_copy_.contains(path)) current = *updated_.at(path);
                 if (!current)
                   throw Error(after.front().key + " is not there: somebody else has removed it");
                 if (current->index() != changed->index())
                   throw Error("somebody else has replaced it");
                 std::vector<Document> documents = documents_of(*current, path);
                 DocumentMap merged;
                 for (std::size_t i = 0; i < documents.size(); ++i) {
                   Json& content = documents[i].content;
                   content =
                       merge_document(before[i].content, after[i].content, std::move(content));
                   merged.emplace(documents[i].key, content);
                 }
                 auto result = format_->read_node(documents_in(merged), path);
                 if (!result) throw Error("what somebody else has changed does not go with it");
                 std::erase_if(documents, [&](const Document& document) {
                   const auto it = stored.find(document.key);
                   return it != stored.end() && it->second == document.content;
                 });
                 put_documents(std::move(documents));
                 const std::lock_guard lock(mutex_);
                 nodes_[path] = std::make_shared<const NodeMetadata>(std::move(*result));
                 known_by_copy_.erase(path);
               });
  updated_.erase(path);
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
    put_document(*store_, *format_, *document);
    const std::lock_guard lock(mutex_);
    documents_read_.insert(document->key);
    root_texts_.erase(document->key);
  }
}

// A node that is not there any more, and all below it.
void Hierarchy::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto is_gone = [&](const auto& item) { return is_at_or_below(item.first, path); };
  std::erase_if(nodes_, is_gone);
  if (consolidated_) std::erase_if(consolidated_->documents, is_gone);
  const auto is_gone_path = [&](const auto& item) { return is_at_or_below(item, path); };
  std::erase_if(documents_read_, is_gone_path);
  std::erase_if(known_groups_, is_gone_path);
  std::erase_if(known_by_copy_, is_gone_path);
  root_texts_.clear();
}

}  // namespace zarrcore
