#include "zarrcore/hierarchy/consolidated_copies.h"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"

namespace zarrcore {
namespace {

bool is_group_or_consolidated(Store& store, const Format& format) {
  const DocumentSource documents = stored_documents(store);
  bool result = false;
  fault_of<OutOfMemory>([&] {
    const auto node = format.read_node(documents, "", NodeKind::group);
    result = (node && std::holds_alternative<GroupMetadata>(*node)) ||
             format.read_consolidated(documents, "");
  });
  return result;
}

bool is_group(const DocumentMap& documents, const Format& format, const std::string& path) {
  bool result = true;  // also if it is broken: its documents are copied as they are
  fault_of<OutOfMemory>([&] {
    const auto node = format.read_node(documents_in(documents), path);
    result = node && std::holds_alternative<GroupMetadata>(*node);
  });
  return result;
}

std::string random_name() {
  std::random_device random;
  return std::to_string(random()) + '-' + std::to_string(random());
}

}  // namespace

ConsolidatedCopies::ConsolidatedCopies(std::shared_ptr<Store> store, const Format& format,
                                       OnProblem on_problem, RunTogether run_together,
                                       HasRead has_read)
    : top_(std::move(store)),
      format_(format),
      on_problem_(std::move(on_problem)),
      run_together_(std::move(run_together)),
      has_read_(std::move(has_read)),
      writer_(random_name()) {
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

bool ConsolidatedCopies::has_note_in(Store& store) {
  return store.has(kNoteKey);
}

// A file whose content is invalid counts as naming the topmost group.
std::optional<ConsolidatedCopies::Note> ConsolidatedCopies::read_note() const {
  top_->refresh(kNoteKey);
  const auto text = stored_documents(*top_).text(std::string(kNoteKey));
  if (!text) return std::nullopt;
  Note note;
  try {
    const Json content = parse_json(text->text());
    for (const Json& group : content.at("groups")) {
      note.groups.insert(normalize_path(group.get<std::string>()));
    }
    note.writer = content.value("writer", std::string());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    note.groups.emplace();
  }
  return note;
}

void ConsolidatedCopies::put_note(const std::set<std::string>& groups) {
  const std::string text = dump_json({{"groups", groups}, {"writer", writer_}});
  top_->put(kNoteKey, std::as_bytes(std::span(text)));
}

std::optional<ConsolidatedDocuments> ConsolidatedCopies::find(const std::string& group) const {
  const std::string key = *format_.consolidated_key(group);
  top_->refresh(key);
  DocumentText text;
  try {
    text = stored_documents(*top_).text(key);
  } catch (const AccessDenied&) {
    // Stores that cannot list answer so for missing documents.
  }
  if (!text) return std::nullopt;
  const DocumentSource documents =
      documents_with_text(*top_, [&](const std::string& /*key*/) { return text; });
  std::optional<ConsolidatedDocuments> copy;
  if (fault_of<OutOfMemory>([&] { copy = format_.read_consolidated(documents, group); })) {
    return ConsolidatedDocuments();  // it exists, but is broken
  }
  return copy;
}

void ConsolidatedCopies::remove(std::span<const std::string> paths) {
  if (!format_.consolidated_key("")) return;
  std::set<std::string> groups;
  for (const std::string& path : paths) {
    std::string group = in_top(path);
    while (groups.insert(group).second && !group.empty()) group = parent_path(group);
  }
  const bool knows_versions = top_->traits().knows_versions;
  const bool has_removed = !knows_versions && !removed_.empty();
  std::optional<Note> note;
  if (has_removed) {
    note = read_note();
    std::erase_if(groups, [&](const std::string& group) {
      return note && note->writer == writer_ &&
             (without_.contains(group) ||
              (note->groups.contains(group) && removed_.contains(group)));
    });
  }
  std::map<std::string, ConsolidatedDocuments> copies;
  for (const std::string& group : groups) {
    if (auto copy = find(group)) {
      copies.emplace(group, std::move(*copy));
    } else {
      without_.insert(group);
    }
  }
  // The copy of the topmost group is removed first and restored last: while it exists, no other
  // copy is missing.
  const bool may_have_note = !copies.contains("") && !(knows_versions && copies.empty());
  if (!has_removed && may_have_note) note = read_note();
  if (!note || note->writer != writer_) changed_copies_.clear();
  // No other writer has changed documents since the copies were removed.
  const bool is_alone = !knows_versions && (!note || note->writer == writer_);
  if (copies.empty() && (!note || is_alone)) return;
  for (auto& [group, copy] : copies) put_missing_documents(group, copy);
  std::set<std::string> missing = note ? std::move(note->groups) : std::set<std::string>();
  for (const auto& [group, copy] : copies) missing.insert(group);
  put_note(missing);
  for (const auto& [group, copy] : copies) {
    erase_copy(group, copy);
    if (!is_alone || copy.documents.empty()) continue;
    DocumentMap& changed = changed_copies_[group];
    for (const auto& [key, document] : copy.documents) {
      if (auto content = parse(key, document)) changed.emplace(key, std::move(*content));
    }
  }
  for (const std::string& group : groups) {
    if (missing.contains(group)) removed_.insert(group);
  }
}

// Reports a document that is not JSON, and returns nullopt.
std::optional<Json> ConsolidatedCopies::parse(const std::string& key,
                                              const LazyDocument& document) const {
  std::optional<Json> content;
  const auto fault = fault_of<OutOfMemory>([&] { content.emplace(document.get()); });
  if (fault) on_problem_(key + ": " + *fault + "; consolidated metadata is without it");
  return content;
}

// The document that makes a node is put last. A node with nothing below its path has been removed:
// the copy is then without it.
void ConsolidatedCopies::put_missing_documents(const std::string& group,
                                               ConsolidatedDocuments& copy) {
  std::map<std::string, std::vector<std::string>> found{{group, {}}};  // keys by node
  for (const auto& [key, document] : copy.documents) found[std::string(parent_path(key))];
  for (auto& [node, keys] : found) {
    keys = format_.node_keys(node);
    std::erase_if(keys, [&](const std::string& key) { return !copy.documents.contains(key); });
  }
  // The copy is in the group's own document.
  if (format_.without_consolidated(Json::object())) found.erase(group);
  std::erase_if(found, [&](const auto& node) {
    if (node.second.empty()) return false;
    const std::string& first = node.second.front();
    const auto in_store = key_below(place_, first);
    return own_.contains(first) || (in_store && has_read_(std::string(*in_store)));
  });
  std::vector<std::pair<std::string, std::vector<std::string>>> nodes(found.begin(), found.end());
  std::vector<char> has_own(nodes.size());
  const auto check = [&](std::size_t i) {
    const auto& [node, keys] = nodes[i];
    has_own[i] = (!keys.empty() && top_->has(keys.front())) ||
                 format_.find_kind(stored_documents(*top_), node).has_value();
  };
  if (run_together_) {
    run_together_(nodes.size(), top_->traits().parallel_requests, check);
  } else {
    for (std::size_t i = 0; i < nodes.size(); ++i) check(i);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& [node, keys] = nodes[i];
    if (has_own[i]) {
      if (!keys.empty()) own_.insert(keys.front());
    } else if (node != group && !top_->has_prefix(node)) {
      for (const std::string& key : keys) copy.documents.erase(key);
    } else {
      for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
        if (top_->has(*key)) continue;
        auto content = parse(*key, copy.documents.at(*key));
        if (content) put_document(*top_, format_, {*key, std::move(*content)});
      }
      if (node != group || format_.find_kind(stored_documents(*top_), node)) continue;
      const Document document = format_.group_documents(GroupMetadata(), group).front();
      put_document(*top_, format_, document);
      copy.documents.insert_or_assign(document.key, document.content);
    }
  }
}

void ConsolidatedCopies::erase_copy(const std::string& group, const ConsolidatedDocuments& copy) {
  const std::string key = *format_.consolidated_key(group);
  // The group's own document stays, because it contains more.
  if (format_.without_consolidated(Json::object())) {
    const auto own = copy.documents.find(key);
    std::optional<Json> rest = own != copy.documents.end() ? std::optional(own->second.get())
                                                           : stored_documents(*top_).document(key);
    if (rest) put_document(*top_, format_, {key, *format_.without_consolidated(*rest)});
  } else {
    top_->erase(key);
  }
}

void ConsolidatedCopies::note_put(const Document& document) {
  const std::string key = in_top(document.key);
  own_.insert(key);
  for (auto& [group, documents] : changed_copies_) {
    if (is_at_or_below(key, group)) documents.insert_or_assign(key, document.content);
  }
}

void ConsolidatedCopies::note_erased(const std::string& path) {
  const std::string erased = in_top(path);
  const auto is_gone = [&](const std::string& key) { return is_at_or_below(key, erased); };
  std::erase_if(own_, is_gone);
  for (auto& [group, documents] : changed_copies_) {
    std::erase_if(documents, [&](const auto& item) { return is_gone(item.first); });
  }
}

void ConsolidatedCopies::note_renamed(const std::string& path, const std::string& new_path) {
  const std::string from = in_top(path);
  const auto renamed = [&](const std::string& at) {
    return moved_path(at, from, in_top(new_path));
  };
  std::map<std::string, DocumentMap> changed;
  for (auto& [group, documents] : changed_copies_) {
    DocumentMap& moved = changed[renamed(group)];
    for (auto& [key, document] : documents) moved.emplace(renamed(key), std::move(document));
  }
  changed_copies_ = std::move(changed);
  const auto is_gone = [&](const std::string& at) { return is_at_or_below(at, from); };
  std::erase_if(own_, is_gone);
  std::erase_if(without_, is_gone);
  if (std::ranges::none_of(removed_, is_gone)) return;
  // Copies that the groups had under their old paths are restored under the new ones.
  std::set<std::string> moved;
  for (const std::string& group : removed_) moved.insert(renamed(group));
  removed_ = std::move(moved);
  if (auto note = read_note()) {
    note->groups.insert(removed_.begin(), removed_.end());
    put_note(note->groups);
  }
}

void ConsolidatedCopies::want_root(std::span<const Document> documents) {
  if (!format_.consolidated_key("")) return;
  const bool is_new = !documents.empty() && !has_groups_around();
  const auto note = is_new ? std::nullopt : read_note();
  std::set<std::string> groups = note ? note->groups : std::set<std::string>();
  const std::string root = in_top("");
  groups.insert(root);
  put_note(groups);
  removed_.insert(root);
  if (note && note->writer != writer_) changed_copies_.clear();
  if (!is_new || top_->traits().knows_versions) return;
  changed_copies_[root];
  for (const Document& document : documents) note_put(document);
}

void ConsolidatedCopies::forget(std::span<const std::string> paths) {
  auto note = read_note();
  if (!note) return;
  for (const std::string& path : paths) {
    note->groups.erase(in_top(path));
    removed_.erase(in_top(path));
  }
  put_note(note->groups);
}

void ConsolidatedCopies::restore() {
  if (!format_.consolidated_key("")) return;
  const auto note = read_note();
  // Where there are no locks, another writer that has restored the copies may have missed a change.
  const bool is_uncertain = !note && !top_->traits().knows_versions;
  if (!note && (!is_uncertain || removed_.empty())) return;
  if (!note || note->writer != writer_) changed_copies_.clear();
  const std::set<std::string> groups = note ? note->groups : removed_;
  // The topmost group last: see remove().
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    with_context("consolidated metadata", [&] { put_copy(*group); });
    removed_.erase(*group);
  }
  top_->erase(kNoteKey);
  removed_.clear();
  without_.clear();
  changed_copies_.clear();
}

void ConsolidatedCopies::put_copy(const std::string& group) {
  const auto changed = changed_copies_.find(group);
  DocumentMap documents;
  if (changed == changed_copies_.end()) {
    documents = collect_documents(*top_, format_, group, on_problem_);
  } else {
    documents = changed->second;
    // The group's own document, which contains the copy, is put with it, in its present state.
    const std::string key = *format_.consolidated_key(group);
    if (format_.without_consolidated(Json::object())) {
      documents.erase(key);
      top_->refresh(key);
      if (auto own = stored_documents(*top_).document(key)) documents.emplace(key, std::move(*own));
    }
  }
  // The group may have been removed, or replaced by an array.
  if (documents.empty() || !is_group(documents, format_, group)) return;
  put_document(*top_, format_, format_.consolidated_document(documents, group));
}

}  // namespace zarrcore
