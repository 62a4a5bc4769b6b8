// Creating, removing and renaming nodes.
//
// A change is made with the lock of the hierarchy held. The consolidated metadata that contains the
// changed documents is removed first, and put again by flush().
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {
namespace {

void check_makes_nodes(const Format& format) {
  if (format.new_array_rules() != nullptr) return;
  throw Error("new nodes cannot be written in the format " + std::string(format.name()));
}

}  // namespace

// Restores consolidated metadata that another program has left out of date. If that fails, the
// next program tries it. Where each request waits, groups around the store are left to the first
// change of a node.
void Hierarchy::restore_at_opening() {
  if (!store_->traits().read_only_reason.empty() || !format_->read_only_reason().empty()) return;
  try {
    const bool has_note =
        is_slow() ? ConsolidatedCopies::has_note_in(*store_) : consolidated_copies().has_note();
    if (!has_note) return;
    const auto lock = consolidated_copies().lock();
    consolidated_copies().restore();
  } catch (const Error& error) {
    options_.on_problem(std::string("consolidated metadata: ") + error.what());
  }
}

ConsolidatedCopies& Hierarchy::consolidated_copies() {
  if (!options_.is_writable) throw Error("it was opened for reading only");
  if (!consolidated_copies_) {
    consolidated_copies_ = std::make_unique<ConsolidatedCopies>(
        store_, *format_, options_.on_problem, options_.run_together,
        [this](const std::string& key) { return reader_.has_read(key); });
  }
  return *consolidated_copies_;
}

// Called with the lock of the copies, before documents in these groups change.
void Hierarchy::remove_copies(const std::vector<std::string>& groups) {
  lacks_copies_ = true;
  consolidated_copies_->remove(groups);
  copied_.drop();
}

// The same for one change. If it fails, the copies are restored.
void Hierarchy::change_documents(const std::vector<std::string>& groups,
                                 const std::function<void()>& change) {
  remove_copies(groups);
  try {
    change();
  } catch (...) {
    try {
      consolidated_copies_->restore();
      lacks_copies_ = false;
    } catch (const Error&) {
      // flush() tries again; the first error is the cause.
    }
    throw;
  }
}

std::vector<Document> Hierarchy::documents_of(const NodeMetadata& metadata,
                                              const std::string& path) const {
  if (const auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    return format_->array_documents(*array, path);
  }
  return format_->group_documents(std::get<GroupMetadata>(metadata), path);
}

// The first document makes the node exist, so it is put last.
void Hierarchy::put_documents(const std::vector<Document>& documents) {
  for (auto document = documents.rbegin(); document != documents.rend(); ++document) {
    try {
      put_document(*store_, *format_, *document);
    } catch (...) {
      consolidated_copies_->forget_content();
      throw;
    }
    consolidated_copies_->note_put(*document);
    reader_.note_put(document->key);
  }
}

bool Hierarchy::has_documents(const std::string& path) const {
  const auto keys = format_->node_keys(path);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return store_->has(key); });
}

// Forgets a node that no longer exists, and all nodes below it.
void Hierarchy::forget(const std::string& path) {
  nodes_.forget(path);
  copied_.forget(path);
  std::vector<std::string> paths = format_->node_keys(path);
  for (std::string& prefix : format_->node_prefixes(path)) paths.push_back(std::move(prefix));
  reader_.forget(paths);
}

void Hierarchy::create_root(const NodeMetadata& root) {
  with_context(store_->description(), [&] {
    check_makes_nodes(*format_);
    is_new_ = is_new_store();
    const auto documents = new_documents_of(root, "");
    const auto lock = consolidated_copies().lock();
    const bool is_empty = is_new_ && !consolidated_copies_->has_groups_around();
    if (!is_empty) remove_copies({""});
    put_documents(documents);
    // A single array does not need it.
    const bool is_group = std::holds_alternative<GroupMetadata>(root);
    if (!options_.use_consolidated || !is_group) return;
    lacks_copies_ = true;
    consolidated_copies_->want_root(is_empty ? documents : std::vector<Document>());
  });
  nodes_.replace("", root);
}

// One listing can show that the store is empty. It counts as empty until the root has been created.
// Throws Error if there is a node at the root.
bool Hierarchy::is_new_store() {
  store_->use_listings();
  if (store_->is_known_absent("")) {
    kept_until_opened_ = keep_listings();
    reader_.set_root_listing({});
    return true;
  }
  for (const Format* other : formats()) {
    if (other->read_node(reader_.source(), "")) throw Error("a Zarr already exists here");
  }
  reader_.forget_root();
  return false;
}

void Hierarchy::create_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    array->chunk_prefix = format_->node_prefixes(path).back();
  }
  with_context(name_of(path), [&] {
    check_makes_nodes(*format_);
    const auto lock = consolidated_copies().lock();
    check_is_new(path);
    const auto documents = new_documents_of(metadata, path);
    change_documents({std::string(parent_path(path))}, [&] { put_new_documents(path, documents); });
  });
  nodes_.replace(path, std::move(metadata));
}

// Where each request waits, without attributes if there are none.
std::vector<Document> Hierarchy::new_documents_of(const NodeMetadata& metadata,
                                                  const std::string& path) const {
  const auto* array = std::get_if<ArrayMetadata>(&metadata);
  std::vector<Document> documents =
      array != nullptr ? format_->new_array_documents(*array, path) : documents_of(metadata, path);
  // Names that are too common to recognize a node by count together.
  const auto is_dispensable = [this](const Document& document) {
    return document.content.is_object() && document.content.empty() &&
           format_->is_document(last_segment(document.key));
  };
  if (is_slow() && !documents.empty()) {
    documents.erase(std::remove_if(documents.begin() + 1, documents.end(), is_dispensable),
                    documents.end());
  }
  return documents;
}

// Removes those already put if one cannot be put.
void Hierarchy::put_new_documents(const std::string& path, const std::vector<Document>& documents) {
  try {
    put_documents(documents);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    consolidated_copies_->forget_content();
    try {
      store_->erase_all(format_->node_keys(path));
    } catch (const Error&) {
      // The first error is the cause.
    }
    forget(path);
    std::rethrow_exception(error);
  }
}

void Hierarchy::check_is_new(const std::string& path) const {
  check_key(path);
  const std::string_view name = last_segment(path);
  if (format_->is_document(name)) throw Error("a metadata document of the format has this name");
  if (const std::string_view problem = format_->name_problem(name); !problem.empty()) {
    throw Error("\"" + std::string(name) +
                "\" is not a valid name of a node: " + std::string(problem));
  }
  const std::string group(parent_path(path));
  const auto parent = node(group);
  if (!parent || !std::holds_alternative<GroupMetadata>(*parent)) {
    throw Error("the group /" + group + " does not exist");
  }
  // Another program may have removed a group that is known.
  if (!is_new_ && !has_documents(group) && !read_copied_node(group) &&
      !read_stored_node(stored_documents(*store_), *format_, group).metadata) {
    throw Error("the group /" + group + " has been removed");
  }
  const bool is_known = nodes_.find(path) != nullptr;
  // Most formats have the documents of a node below its path.
  const std::vector<std::string> prefixes = format_->node_prefixes(path);
  const auto is_taken = [&] {
    return std::ranges::any_of(prefixes,
                               [&](const auto& prefix) { return store_->has_prefix(prefix); }) ||
           (prefixes.size() > 1 && has_documents(path));
  };
  if (!is_known && (is_new_ || !is_taken())) return;
  for (const std::string& key : format_->node_keys(path)) store_->refresh(key);
  if (is_known || node(path)) throw Error("a node of this name already exists");
  throw Error("something else than a node exists here");
}

void Hierarchy::erase_documents() {
  store_->erase_all(document_keys_below(*store_, *format_, ""));
}

void Hierarchy::erase_nodes(std::span<const std::string> paths) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const auto is_erased = [&](const std::string& node) {
    return std::ranges::any_of(paths,
                               [&](const std::string& path) { return is_at_or_below(node, path); });
  };
  with_context(paths.size() == 1 ? name_of(paths.front()) : store_->description(), [&] {
    std::ranges::for_each(paths, check_key);
    const auto lock = consolidated_copies().lock();
    std::erase_if(updated_, [&](const auto& node) { return is_erased(node.first); });
    std::vector<std::string> groups;
    for (const std::string& path : paths) groups.emplace_back(parent_path(path));
    change_documents(groups, [&] {
      std::exception_ptr first_error;
      for (const std::string& path : paths) {
        try {
          forget_after(path, [&] { erase_values(path); });
          consolidated_copies_->note_erased(path);
        } catch (const Error&) {
          if (!first_error) first_error = std::current_exception();
        }
      }
      if (first_error) std::rethrow_exception(first_error);
    });
  });
}

// Calls a function that removes a node, and forgets the node; if it throws, only if the node no
// longer exists.
void Hierarchy::forget_after(const std::string& path, const std::function<void()>& remove) {
  try {
    remove();
  } catch (...) {
    consolidated_copies_->forget_content();
    if (!has_documents(path)) forget(path);
    throw;
  }
  forget(path);
}

// Erases documents first, also the documents of all nodes below: without documents, no node exists
// or seems to have lost chunks, even if the rest fails or the process is killed.
void Hierarchy::erase_values(const std::string& path) {
  std::vector<std::string> first = store_->traits().lists_all_at_once
                                       ? format_->node_keys(path)
                                       : document_keys_below(*store_, *format_, path);
  for (const std::string& prefix : format_->node_prefixes(path)) {
    store_->erase_prefix(prefix, first);
    first.clear();
  }
}

void Hierarchy::rename_node(const std::string& path, const std::string& name) {
  const std::lock_guard one_at_a_time(change_mutex_);
  with_context(name_of(path), [&] {
    check_key(path);
    if (!is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
    const std::string target = join_path(parent_path(path), name);
    const auto lock = consolidated_copies().lock();
    with_context("renaming to " + name, [&] { check_is_new(target); });
    std::vector<std::string> updated;
    std::vector<std::string> groups{std::string(parent_path(path))};
    for (const auto& [node, base] : updated_) {
      if (!is_at_or_below(node, path)) continue;
      updated.push_back(node);
      groups.push_back(group_of(node));
    }
    change_documents(groups, [&] {
      for (const std::string& node : updated) put_updated(node);
      forget_after(path, [&] { rename_values(path, target); });
      consolidated_copies_->note_renamed(path, target);
    });
  });
}

bool Hierarchy::exchange_nodes(const std::string& path, const std::string& other) {
  // Documents and chunks would be two operations.
  if (format_->node_prefixes(path) != std::vector{path}) return false;
  const std::lock_guard one_at_a_time(change_mutex_);
  return with_context(name_of(path), [&] {
    const auto lock = consolidated_copies().lock();
    bool are_exchanged = false;
    change_documents({std::string(parent_path(path))}, [&] {
      are_exchanged = store_->rename_prefix(path, other, {.exchanges = true});
      consolidated_copies_->forget_content();
      forget(path);
      forget(other);
    });
    return are_exchanged;
  });
}

// Where documents and chunks are apart, both names exist for a moment: a program that is killed
// loses nothing.
void Hierarchy::rename_values(const std::string& path, const std::string& target) {
  const std::vector<std::string> from = format_->node_prefixes(path);
  if (from == std::vector{path}) {
    store_->rename_prefix(path, target);
    return;
  }
  const std::vector<std::string> to = format_->node_prefixes(target);
  const DocumentSource stored = stored_documents(*store_);
  std::vector<std::string> old_keys;
  std::vector<std::string> new_keys;
  for (const std::string& key : document_keys_below(*store_, *format_, path)) {
    if (!store_->has(key)) continue;
    old_keys.push_back(key);
    new_keys.push_back(to.front() + key.substr(from.front().size()));
  }
  try {
    for (std::size_t i = 0; i < old_keys.size(); ++i) {
      if (const auto text = stored.text(old_keys[i])) store_->put(new_keys[i], text->span());
    }
    if (store_->has_prefix(from.back())) {
      store_->rename_prefix(from.back(), to.back());
    }
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    try {
      store_->erase_all(new_keys);
    } catch (const Error&) {
      // The first error is the cause.
    }
    std::rethrow_exception(error);
  }
  store_->erase_all(old_keys);
}

}  // namespace zarrcore
