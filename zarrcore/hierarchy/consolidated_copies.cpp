#include "zarrcore/hierarchy/consolidated_copies.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json_members.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {
namespace {

// The owed copies: {"groups": {path: {key of a document: document}}}.
constexpr std::string_view kOwedKey = ".zarr-consolidation-owed";

bool is_group_or_consolidated(Store& store, const Format& format) {
  const DocumentSource documents = stored_documents(store);
  try {
    const auto node = format.read_node(documents, "", NodeKind::group);
    if (node && std::holds_alternative<GroupMetadata>(*node)) return true;
    return format.read_consolidated(documents, "").has_value();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

// New nodes have no copies themselves; the root may be one.
std::vector<std::string> groups_around(std::span<const std::string> paths) {
  std::vector<std::string> groups;
  for (const std::string& path : paths) groups.emplace_back(parent_path(path));
  return groups;
}

}  // namespace

ConsolidatedCopies::ConsolidatedCopies(std::shared_ptr<Store> store, const Format& format,
                                       OnProblem on_problem)
    : top_(std::move(store)), format_(format), on_problem_(std::move(on_problem)) {
  if (!format_.consolidated_key("")) return;
  for (std::size_t depth = 0; depth < kMaxNodeDepth; ++depth) {
    const auto around = top_->parent();
    if (!around || !is_group_or_consolidated(*around->store, format_)) return;
    top_ = around->store;
    place_ = join_path(around->name, place_);
  }
}

std::string ConsolidatedCopies::in_top(std::string_view path) const {
  return join_path(place_, path);
}

bool ConsolidatedCopies::is_owed() const {
  return format_.consolidated_key("") && is_owed_in(*top_);
}

bool ConsolidatedCopies::is_owed_in(Store& store) {
  return store.has(kOwedKey);
}

ConsolidatedCopies::Copy ConsolidatedCopies::collect(const std::string& group) const {
  Copy copy;
  for (auto& [key, document] : collect_documents(*top_, format_, group, on_problem_)) {
    copy.emplace(key, std::move(document));
  }
  return copy;
}

// The copies in the groups at and above these nodes, except those that are known to be removed.
ConsolidatedCopies::Copies ConsolidatedCopies::find(const std::vector<std::string>& paths,
                                                    const Copies& owed) const {
  const DocumentSource documents = stored_documents(*top_);
  std::set<std::string> groups;
  for (const std::string& path : paths) {
    std::string group = in_top(path);
    while (groups.insert(group).second && !group.empty()) group = parent_path(group);
  }
  if (is_new_) groups.erase(in_top(""));
  std::erase_if(groups, [&](const std::string& group) {
    return owed.contains(group) && taken_.contains(group);
  });
  Copies found;
  for (const std::string& group : groups) {
    top_->refresh_value(*format_.consolidated_key(group));
    try {
      if (auto copy = format_.read_consolidated(documents, group)) {
        found.emplace(group, std::move(copy->documents));
      }
    } catch (const Error&) {
      found.emplace(group, collect(group));  // it exists, but is broken
    }
  }
  return found;
}

// Removes the copies above these nodes and notes them, with those that are already owed.
ConsolidatedCopies::Copies ConsolidatedCopies::take(const std::vector<std::string>& paths) {
  Copies owed;
  if (owes_) {
    owed = read_owed();
    is_note_lost_ = owed.empty();
  } else {
    make_owed();
  }
  Copies copies = find(paths, owed);
  std::vector<std::string> groups;
  for (const auto& [group, copy] : copies) groups.push_back(group);
  copies.merge(owed);
  const std::string root = in_top("");
  const bool needs_root = wants_root_ && !copies.contains(root);
  if (needs_root) copies.emplace(root, is_new_ ? Copy() : collect(root));
  is_new_ = false;
  if (needs_root || !groups.empty()) note(copies);
  for (const std::string& group : groups) take_away(group);
  taken_.insert(groups.begin(), groups.end());
  if (needs_root) taken_.insert(root);
  return copies;
}

void ConsolidatedCopies::note(const Copies& owed) {
  const auto key_text = [](const std::string& key) { return dump_json(Json(key)) + ':'; };
  std::string text = "{\"groups\":{";
  for (const auto& [group, copy] : owed) {
    text += key_text(group) + '{';
    for (const auto& [key, document] : copy) text += key_text(key) + document.text() + ',';
    if (text.back() == ',') text.pop_back();
    text += "},";
  }
  text.back() = '}';
  text += '}';
  top_->put(kOwedKey, std::as_bytes(std::span(text)));
}

ConsolidatedCopies::Copies ConsolidatedCopies::read_owed() const {
  Copies owed;
  top_->refresh_value(kOwedKey);
  const auto text = stored_documents(*top_).text(std::string(kOwedKey));
  if (!text) return owed;
  with_context([] { return kOwedKey; },
               [&] {
                 for (JsonMembers members(text->text()); members.next();) {
                   if (members.raw_key() != "groups") continue;
                   for (JsonMembers groups(members.value()); groups.next();) {
                     Copy& copy = owed[normalize_path(unescape_json(groups.raw_key()))];
                     for (JsonMembers documents(groups.value()); documents.next();) {
                       const std::string key = unescape_json(documents.raw_key());
                       check_key(key);
                       copy.emplace(key, LazyDocument(text, documents.value()));
                     }
                   }
                 }
               });
  return owed;
}

void ConsolidatedCopies::owe(const std::string& path) {
  if (!format_.consolidated_key("")) return;
  // Another program may have made the owed copies.
  if (owes_ && (!top_->knows_versions() || is_owed())) return;
  owes_ = false;
  owes_ = !take(groups_around({&path, 1})).empty();
}

void ConsolidatedCopies::make_owed() {
  if (!is_owed()) return;
  for (const auto& [group, copy] : read_owed()) {
    const DocumentMap documents = rebuild(group, copy);
    if (!documents.empty()) put_copy(group, documents);
  }
  top_->erase(kOwedKey);
  taken_.clear();
}

void ConsolidatedCopies::add_copied(DocumentMap& documents, const std::string& key,
                                    const LazyDocument& document) const {
  try {
    documents.emplace(key, document.get());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    on_problem_(key + ": " + error.what() + "; consolidated metadata is without it");
  }
}

// The existing documents, and from the copy those of nodes that have no other documents. A node
// with nothing below its path has been removed.
DocumentMap ConsolidatedCopies::rebuild(const std::string& group, const Copy& copy) const {
  DocumentMap documents = collect_documents(*top_, format_, group, on_problem_);
  std::map<std::string, bool, std::less<>> is_copied;  // by node path
  for (const auto& [key, document] : copy) {
    const std::string node(parent_path(key));
    auto it = is_copied.find(node);
    if (it == is_copied.end()) {
      const auto keys = format_.node_keys(node);
      const bool has_own = std::any_of(keys.begin(), keys.end(), [&](const std::string& own) {
        return documents.contains(own);
      });
      it = is_copied.emplace(node, !has_own && has_anything_below(node)).first;
    }
    if (it->second) add_copied(documents, key, document);
  }
  return documents;
}

bool ConsolidatedCopies::has_anything_below(const std::string& path) const {
  return top_->has_prefix(path);
}

void ConsolidatedCopies::take_away(const std::string& group) {
  const std::string key = *format_.consolidated_key(group);
  std::optional<Json> rest;
  try {
    if (const auto document = stored_documents(*top_).document(key)) {
      rest = format_.without_consolidated(*document);
    }
  } catch (const Error&) {
    // The group's own document stays, because it contains more.
    if (format_.without_consolidated(Json::object())) throw;
  }
  if (rest) {
    put_document(*top_, format_, {key, std::move(*rest)});
  } else {
    top_->erase(key);
  }
}

void ConsolidatedCopies::put_copy(const std::string& group, const DocumentMap& documents) {
  with_context(
      [] { return "consolidated metadata"; },
      [&] { put_document(*top_, format_, format_.consolidated_document(documents, group)); });
}

// The copy with the changes applied, for stores where reading all documents again takes requests.
DocumentMap ConsolidatedCopies::update(const std::string& group, const Copy& copy,
                                       const Changes& changes, const DocumentMap& stored) const {
  DocumentMap documents;
  for (const auto& [key, document] : copy) add_copied(documents, key, document);
  for (const std::string& path : changes.replaced) {
    const std::string node = in_top(path);
    if (!is_at_or_below(node, group)) continue;
    std::erase_if(documents, [&](const auto& item) { return is_at_or_below(item.first, node); });
    documents.merge(collect_documents(*top_, format_, node, on_problem_));
  }
  std::set<std::string> nodes;
  // Its own document may contain the copy, and is put with it: as it is now.
  const bool contains_copy = format_.without_consolidated(Json::object()).has_value();
  if (contains_copy) nodes.insert(group);
  for (const auto* paths : {&changes.updated, &changes.made}) {
    for (const std::string& path : *paths) nodes.insert(in_top(path));
  }
  for (const std::string& node : nodes) {
    if (!is_at_or_below(node, group)) continue;
    const auto keys = format_.node_keys(node);
    DocumentMap now;
    for (const std::string& key : keys) {
      const auto it = contains_copy && node == group ? stored.end() : stored.find(key);
      if (it != stored.end()) now.insert(*it);
    }
    if (now.empty()) now = documents_of_node(*top_, format_, node);
    if (now.empty()) continue;
    for (const std::string& key : keys) documents.erase(key);
    documents.merge(now);
  }
  return documents;
}

void ConsolidatedCopies::put(const std::string& group, const Copy& copy, const Changes& changes,
                             const DocumentMap& stored) {
  const bool rebuilds = top_->knows_versions() || is_behind_;
  const DocumentMap documents =
      rebuilds ? rebuild(group, copy) : update(group, copy, changes, stored);
  if (documents.empty()) return;
  // The group may have been removed. Where the note was, nobody has removed the store.
  if (!rebuilds && !is_note_lost_) return put_copy(group, documents);
  if (has_anything_below(group)) put_copy(group, documents);
}

void ConsolidatedCopies::change(const Changes& changes,
                                const std::function<void(DocumentMap& stored)>& change) {
  DocumentMap in_store;
  if (!format_.consolidated_key("")) {
    change(in_store);
    return;
  }
  std::vector<std::string> paths;
  for (const auto& some : {changes.updated, changes.replaced, groups_around(changes.made)}) {
    paths.insert(paths.end(), some.begin(), some.end());
  }
  const Copies copies = take(paths);
  if (copies.empty()) {
    change(in_store);
    return;
  }
  owes_ = false;  // if this process ends, the next program to make changes owes them
  std::exception_ptr error;
  try {
    change(in_store);
  } catch (...) {
    error = std::current_exception();
  }
  try {
    DocumentMap stored;  // by their keys in top_
    if (!is_note_lost_) {
      for (auto& [key, document] : in_store) stored.emplace(in_top(key), std::move(document));
    }
    for (const auto& [group, copy] : copies) put(group, copy, changes, stored);
    top_->erase(kOwedKey);
    taken_.clear();
    wants_root_ = is_note_lost_ = is_behind_ = false;
  } catch (...) {
    owes_ = true;
    is_behind_ = true;
    if (!error) error = std::current_exception();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace zarrcore
