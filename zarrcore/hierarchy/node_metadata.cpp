// The metadata of nodes: changing it, merging the changes into the stored documents, and putting
// them together with the consolidated metadata; and attributes that other programs have changed
// while a hierarchy is open.
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/document_writer.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {
namespace {

// The configuration of a codec as text; empty without one.
std::string configuration_text(const Json& codec) {
  const Json* const configuration = find_member(codec, "configuration");
  return configuration == nullptr ? std::string() : dump_json(*configuration);
}

// Returns true if both are lists of codecs with the same configurations: only names differ.
bool are_other_names(const Json& codecs, const Json& own) {
  return codecs.is_array() && own.is_array() &&
         std::ranges::equal(codecs, own, [](const Json& codec, const Json& same) {
           return configuration_text(codec) == configuration_text(same);
         });
}

// The stored document in the spelling of the format, which writes it as `own`. Its order stays, and
// so do members that need no other spelling, or are unknown; also names of the specification that
// the format has others for: chunk grids, data types with their fill values, and codecs. Without
// codecs, it stays without them. Consolidated metadata is put apart.
Json respelled(Json stored, const Json& own) {
  if (!stored.is_object()) return own;
  stored.erase("consolidated_metadata");
  const auto is_same = [&](const std::string& key, const Json& value) {
    const Json* const old = find_member(stored, key);
    return old != nullptr && is_same_text(*old, value);
  };
  const Json* const type = find_member(own, "data_type");
  const bool has_other_type = type != nullptr && !is_same("data_type", *type);
  for (const auto& [key, value] : own.items()) {
    const Json* old = find_member(stored, key);
    if (old == nullptr) {
      if (key != "codecs") copy_member(own, key, stored, key);
      continue;
    }
    const bool has_other_name = key == "chunk_grid" || key == "chunk_key_encoding" ||
                                key == "data_type" || (key == "fill_value" && has_other_type) ||
                                (key == "codecs" && are_other_names(*old, value));
    const bool are_numbers = old->is_number() && value.is_number();
    if (!has_other_name && !are_numbers && !is_same_text(*old, value)) {
      copy_member(own, key, stored, key);
    }
  }
  return stored;
}

// The draft of 2020 has filters among its attributes.
bool has_same_codecs(const NodeMetadata& a, const NodeMetadata& b) {
  const auto* array = std::get_if<ArrayMetadata>(&a);
  const auto* other = std::get_if<ArrayMetadata>(&b);
  return array == nullptr || other == nullptr ||
         std::ranges::equal(array->codecs, other->codecs, [](const auto& codec, const auto& same) {
           return codec.name == same.name && codec.configuration == same.configuration;
         });
}

const Json& member_or_null(const Json& object, const std::string& key) {
  static const Json& null = *new Json;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

// Applies the difference between `base` and `changed` to `current`: to each member of objects and
// each element of lists by itself. Lists of different lengths change as a whole.
Json merge_elements(const Json& base, const Json& changed, Json current) {
  if (is_same_text(base, changed)) return current;
  if (base.is_object() && changed.is_object() && current.is_object()) {
    erase_members(current, [&](const std::string& key) {
      return base.contains(key) && !changed.contains(key);
    });
    for (const auto& [key, value] : changed.items()) {
      const Json& old = member_or_null(base, key);
      if (base.contains(key) && is_same_text(old, value)) continue;
      current[key] = merge_elements(old, value, member_or_null(current, key));
    }
    return current;
  }
  const auto is_as_long = [&](const Json& value) {
    return value.is_array() && value.size() == changed.size();
  };
  if (!changed.is_array() || !is_as_long(base) || !is_as_long(current)) return changed;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (!is_same_text(base[i], changed[i])) current[i] = changed[i];
  }
  return current;
}

// Applies the difference between `base` and `changed`, two states of a document or of its
// attributes, to `current`. Each member of the document and each attribute, with few exceptions,
// changes as a whole or not at all.
class DocumentMerge {
 public:
  explicit DocumentMerge(const std::set<std::string>& by_element) : by_element_(by_element) {}

  Json merge(const Json& base, const Json& changed, Json current) const {
    if (!base.is_object() || !changed.is_object() || !current.is_object()) return changed;
    return merge_members(base, changed, std::move(current), true);
  }

 private:
  Json merge_members(const Json& base, const Json& changed, Json current, bool is_document) const {
    erase_members(current, [&](const std::string& key) {
      return base.contains(key) && !changed.contains(key);
    });
    for (const auto& [key, value] : changed.items()) {
      const Json& old = member_or_null(base, key);
      if (base.contains(key) && is_same_text(old, value)) continue;
      const Json& now = member_or_null(current, key);
      const bool are_merged = is_document && key == "attributes" && value.is_object() &&
                              (old.is_object() || old.is_null()) && now.is_object();
      if (are_merged) {
        current[key] = merge_members(old.is_object() ? old : Json::object(), value, now, false);
      } else if (by_element_.contains(key)) {
        current[key] = merge_elements(old, value, now);
      } else {
        copy_member(changed, key, current, key);
      }
    }
    return current;
  }

  const std::set<std::string>& by_element_;
};

}  // namespace

void Hierarchy::update_node(const std::string& path, const std::function<void(NodeMetadata&)>& edit,
                            std::optional<NodeKind> wanted) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const auto old = node(path);
  with_context(name_of(path), [&] {
    writer();
    if (!old) throw Error("the node does not exist");
    if (wanted == NodeKind::array && std::holds_alternative<GroupMetadata>(*old)) {
      throw Error("the metadata of an array that is also a group cannot be changed");
    }
    NodeMetadata metadata = *old;
    edit(metadata);
    // Throws now if the format cannot express it. One attribute stands for all, of which there may
    // be thousands.
    std::visit(
        [&](auto& node) {
          Json all = std::exchange(node.attributes, Json::object());
          if (!all.empty()) node.attributes[all.begin().key()] = all.begin().value();
          documents_of(*format_, metadata, path);
          node.attributes = std::move(all);
        },
        metadata);
    updated_.emplace(path, old);
    nodes_.set_has_changes(path, true);
    nodes_.replace(path, std::move(metadata));
  });
}

void Hierarchy::update_attributes(const std::string& path, const std::function<void(Json&)>& edit,
                                  std::optional<NodeKind> wanted, long held) {
  const auto edit_node = [&](NodeMetadata& metadata) {
    std::visit([&](auto& node) { edit(node.attributes); }, metadata);
  };
  {
    const std::lock_guard one_at_a_time(change_mutex_);
    const bool is_done = updated_.contains(path) && with_context(name_of(path), [&] {
                           return nodes_.change_in_place(path, wanted, held, edit_node);
                         });
    if (is_done) return;
  }
  update_node(path, edit_node, wanted);
}

// The nearest group that may have a copy of the node.
std::string Hierarchy::group_of(const std::string& path) const {
  const auto metadata = node(path);
  const bool is_group = metadata && std::holds_alternative<GroupMetadata>(*metadata);
  return is_group ? path : std::string(parent_path(path));
}

void Hierarchy::flush_node(const std::string& path) {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (!updated_.contains(path)) return;
  with_context(store_->description(), [&] {
    const auto lock = writer().lock();
    writer_->change({group_of(path)}, [&] { put_updated(path); });
  });
}

void Hierarchy::flush() {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (updated_.empty() && !(writer_ && writer_->lacks_copies())) return;
  with_context(store_->description(), [&] {
    std::vector<std::string> paths;
    std::vector<std::string> groups;
    for (const auto& [path, base] : updated_) {
      paths.push_back(path);
      groups.push_back(group_of(path));
    }
    const auto lock = writer().lock();
    if (!groups.empty()) writer_->remove_copies(groups);
    std::exception_ptr first_error;
    const auto attempt = [&](const auto& action) {
      try {
        action();
      } catch (const Error&) {
        if (!first_error) first_error = std::current_exception();
      }
    };
    for (const std::string& path : paths) attempt([&] { put_updated(path); });
    attempt([&] { writer_->restore(); });
    if (first_error) std::rethrow_exception(first_error);
  });
}

void Hierarchy::remove_consolidated(const std::vector<std::string>& groups) {
  {
    const std::lock_guard one_at_a_time(change_mutex_);
    with_context(store_->description() + ": consolidated metadata", [&] {
      const auto lock = writer().lock();
      writer_->remove_consolidated(groups);
    });
  }
  flush();
}

void Hierarchy::consolidate(const std::vector<std::string>& groups) {
  {
    const std::lock_guard one_at_a_time(change_mutex_);
    with_context(store_->description() + ": consolidated metadata", [&] {
      writer();
      if (!has("", NodeKind::group)) throw Error("there is no group at the root");
      if (!format_->consolidated_key("")) {
        throw Error("the format " + std::string(format_->name()) + " has none");
      }
      const auto lock = writer_->lock();
      writer_->consolidate(groups);
    });
  }
  flush();
}

// Applies the changes of a node to its documents as they are now.
void Hierarchy::put_updated(const std::string& path) {
  with_context('/' + path, [&] {
    const auto changed = node(path);
    const auto before = documents_of(*format_, *updated_.at(path), path);
    const auto after = documents_of(*format_, *changed, path);
    // Other programs may have put those that did not exist.
    for (const Document& document : before) store_->refresh(document.key);
    const StoredNode in_store = read_stored_node(stored_documents(*store_), *format_, path);
    const DocumentMap& stored = in_store.documents;
    const auto& current = in_store.metadata;
    if (!current) throw Error(after.front().key + " is missing: another program has removed it");
    if (current->index() != changed->index()) throw Error("another program has replaced it");
    std::vector<Document> documents = documents_of(*format_, *current, path);
    const bool is_whole = format_->has_whole_documents();
    const DocumentMerge merge(options_.merged_by_element);
    DocumentMap merged;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      auto& [key, content] = documents[i];
      if (const auto it = stored.find(key); it != stored.end()) {
        content = is_whole ? respelled(it->second, content) : it->second;
      }
      content = merge.merge(before[i].content, after[i].content, std::move(content));
      merged.emplace(key, content);
    }
    auto result = format_->read_node(documents_in(merged), path);
    if (!result) throw Error("it conflicts with changes of another program");
    if (!is_whole && !has_same_codecs(*current, *result)) {
      throw Error("the attributes would change the codecs of the array");
    }
    std::erase_if(documents, [&](const Document& document) {
      const auto it = stored.find(document.key);
      return it != stored.end() && is_same_text(it->second, document.content);
    });
    writer_->put(documents);
    nodes_.replace(path, std::move(*result));
  });
  updated_.erase(path);
  nodes_.set_has_changes(path, false);
}

void Hierarchy::note_read(const std::string& path, std::uint64_t changes) const {
  if (changes == 0) return;
  const std::lock_guard lock(mutex_);
  read_after_.insert_or_assign(path, changes);
}

// Consolidated metadata may be missing because a program that changes nodes has removed it and will
// write it again; until then, the nodes' own documents are used. On a server, which may not list
// nodes, the old consolidated metadata stays in use.
void Hierarchy::refresh_copies() const {
  const std::vector<std::string> keys{format_->consolidated_key("").value_or("")};
  const std::uint64_t changes = changes_;
  const bool is_as_read = reader_.are_as_read(keys);
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(copies_read_after_, changes) == changes && is_as_read) return;
  }
  reader_.forget_read(keys);
  store_->refresh(keys.front());
  if (!copied_.read_again(*format_, reader_.source(), !reader_.is_slow())) return;
  const std::lock_guard lock(mutex_);
  copies_read_after_ = ++changes_;
}

void Hierarchy::refresh_node(std::string_view path) const {
  const std::string normalized = normalize_path(path);
  const auto old = nodes_.find(normalized);
  if (!old || nodes_.has_changes(normalized)) return;
  try {
    if (is_consolidated()) refresh_copies();
    const bool is_copied = is_consolidated();
    const bool is_array = std::holds_alternative<ArrayMetadata>(*old);
    std::vector<std::string> keys =
        format_->keys_to_read(normalized, is_array ? NodeKind::array : NodeKind::group);
    if (keys.empty()) keys = format_->node_keys(normalized);
    const std::uint64_t changes = changes_;
    {
      const bool is_as_read = is_copied || reader_.are_as_read(keys);
      const std::lock_guard lock(mutex_);
      const auto read_after = read_after_.find(normalized);
      if (is_as_read && (read_after != read_after_.end() ? read_after->second : 0) == changes)
        return;
    }
    note_read(normalized, changes);
    if (!is_copied) {
      reader_.forget_read(keys);
      for (const std::string& key : keys) store_->refresh(key);
    }
    const auto read = format_->read_node(documents(), normalized);
    if (!read || read->index() != old->index()) return;  // what uses the node reports it
    const auto attributes_of = [](auto& metadata) -> auto& {
      return std::visit([](auto& node) -> auto& { return node.attributes; }, metadata);
    };
    if (is_same_text(attributes_of(*read), attributes_of(*old))) return;
    NodeMetadata refreshed = *old;
    attributes_of(refreshed) = attributes_of(*read);
    nodes_.replace(normalized, old, std::move(refreshed));
  } catch (const Error& error) {
    options_.on_problem('/' + normalized +
                        ": its attributes are as they were read before: " + error.what());
  }
}

}  // namespace zarrcore
