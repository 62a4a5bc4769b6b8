// Attributes that other programs have changed while a hierarchy is open.
#include <algorithm>
#include <optional>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {

bool Hierarchy::ReadDocuments::are_good_for(const ReadDocuments& current) const {
  return expected_changes == current.expected_changes &&
         std::ranges::equal(versions, current.versions, [](const auto& version, const auto& now) {
           return version.is_valid_for(now);
         });
}

Hierarchy::ReadDocuments Hierarchy::documents_now(
    const std::function<std::vector<std::string>()>& keys) const {
  ReadDocuments now{expected_changes_, {}};
  const StoreTraits traits = store_->traits();
  if (!traits.knows_versions || traits.parallel_requests > 1) return now;
  try {
    for (const std::string& key : keys()) now.versions.push_back(store_->current_version(key));
  } catch (const Error&) {
    now.versions.clear();  // of another format, or reading the node reports it
  }
  return now;
}

Hierarchy::ReadDocuments Hierarchy::copies_now() const {
  return documents_now([this]() -> std::vector<std::string> {
    const auto key = format_->consolidated_key("");
    return key ? std::vector{*key} : std::vector<std::string>();
  });
}

Hierarchy::ReadDocuments Hierarchy::documents_now(const std::string& path) const {
  if (is_consolidated()) return copies_now();
  return documents_now([&] {
    std::vector<std::string> keys = format_->keys_to_read(path, std::nullopt);
    return keys.empty() ? format_->node_keys(path) : keys;
  });
}

// From before the documents are read, so that a change meanwhile is detected later.
Hierarchy::ReadDocuments Hierarchy::documents_to_read(const std::string& path) const {
  if (!is_consolidated()) return documents_now(path);
  {
    const std::lock_guard lock(mutex_);
    if (read_copies_) return *read_copies_;
  }
  ReadDocuments now = copies_now();
  const std::lock_guard lock(mutex_);
  if (!read_copies_) read_copies_ = std::move(now);
  return *read_copies_;
}

void Hierarchy::note_read(const std::string& path, ReadDocuments read) const {
  const std::lock_guard lock(mutex_);
  read_documents_.insert_or_assign(path, std::move(read));
}

// Consolidated metadata may be missing because a program that changes nodes has removed it and will
// write it again; until then, the nodes' own documents are used. On a server, which may not list
// nodes, the old consolidated metadata stays in use.
void Hierarchy::refresh_copies(const ReadDocuments& now) const {
  {
    const std::lock_guard lock(mutex_);
    if (read_copies_ && read_copies_->are_good_for(now)) return;
  }
  if (!copied_.read_again(*format_, reader_.source(), !reader_.is_slow())) return;
  const std::lock_guard lock(mutex_);
  read_copies_ = now;
}

void Hierarchy::refresh_node(std::string_view path) const {
  const std::string normalized = normalize_path(path);
  const auto old = nodes_.find(normalized);
  if (!old || nodes_.has_changes(normalized)) return;
  try {
    ReadDocuments now = documents_now(normalized);
    {
      const std::lock_guard lock(mutex_);
      const auto [known, is_new] = read_documents_.try_emplace(normalized, now);
      // Documents that a slow store has not been asked for again count as unchanged.
      const bool is_as_read = is_new ? now.versions.empty() && now.expected_changes == 0
                                     : known->second.are_good_for(now);
      if (is_as_read) return;
      known->second = now;
    }
    reader_.forget_root();
    if (is_consolidated()) {
      store_->refresh(format_->consolidated_key("").value_or(""));
      refresh_copies(now);
    } else {
      for (const std::string& key : format_->node_keys(normalized)) store_->refresh(key);
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
