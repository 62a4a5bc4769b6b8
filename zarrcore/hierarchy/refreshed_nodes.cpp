// Attributes that other programs have changed while a hierarchy is open.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {

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

// Throws Error if another program has replaced an array that is about to be opened. If its folder
// was not known before, consolidated metadata has other documents for it now.
void Hierarchy::check_is_current(const std::string& path, const ArrayMetadata& array) const {
  store_->check_node(array.chunk_prefix);
  if (!is_consolidated() || nodes_.has_changes(path)) return;
  refresh_copies();
  if (changes_ == 0) return;
  const auto now = format_->read_node(documents(), path, NodeKind::array);
  if (!now || !std::holds_alternative<ArrayMetadata>(*now)) return;  // its chunks are gone as well
  ArrayMetadata current = std::get<ArrayMetadata>(*now);
  current.attributes = array.attributes;
  const std::vector<Document> was = format_->array_documents(array, path);
  const std::vector<Document> is = format_->array_documents(current, path);
  if (!std::equal(was.begin(), was.end(), is.begin(), is.end(), [](auto& a, auto& b) {
        return a.key == b.key && is_same_text(a.content, b.content);
      })) {
    throw Error("another program has replaced it; open the store again");
  }
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
