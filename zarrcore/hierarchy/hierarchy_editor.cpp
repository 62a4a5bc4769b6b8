#include "zarrcore/hierarchy/hierarchy_editor.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {

HierarchyEditor::HierarchyEditor(Hierarchy& hierarchy)
    : hierarchy_(hierarchy), store_(*hierarchy.store_), format_(*hierarchy.format_) {}

// Where each request waits, that of groups around the store is left to the first change of a node.
void HierarchyEditor::start() {
  if (!store_.traits().read_only_reason.empty()) return;
  try {
    const bool is_owed =
        hierarchy_.is_slow() ? ConsolidatedCopies::is_owed_in(store_) : copies().is_owed();
    if (!is_owed) return;
    const auto lock = copies().lock();
    copies().restore();
  } catch (const Error& error) {
    hierarchy_.options_.on_problem(std::string("consolidated metadata: ") + error.what());
  }
}

ConsolidatedCopies& HierarchyEditor::copies() {
  const HierarchyOptions& options = hierarchy_.options_;
  if (!options.is_writable) throw Error("it was opened for reading only");
  if (!copies_) {
    const auto has_read = [&reader = hierarchy_.reader_](const std::string& key) {
      return reader.has_read(key);
    };
    copies_ = std::make_unique<ConsolidatedCopies>(hierarchy_.store_, format_, options.on_problem,
                                                   options.run_together, has_read);
  }
  return *copies_;
}

// Called with the lock of the copies, before documents in these groups change.
void HierarchyEditor::remove_copies(const std::vector<std::string>& groups) {
  lacks_copies_ = true;
  copies_->remove(groups);
  hierarchy_.copied_.drop();
}

// The same for one change. If it fails, the copies are restored.
void HierarchyEditor::change_documents(const std::vector<std::string>& groups,
                                       const std::function<void()>& change) {
  remove_copies(groups);
  try {
    change();
  } catch (...) {
    try {
      copies_->restore();
      lacks_copies_ = false;
    } catch (const Error&) {
      // flush() tries again; the first error is the cause.
    }
    throw;
  }
}

std::vector<Document> HierarchyEditor::documents_of(const NodeMetadata& metadata,
                                                    const std::string& path) const {
  if (const auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    return format_.array_documents(*array, path);
  }
  return format_.group_documents(std::get<GroupMetadata>(metadata), path);
}

// The first document is the one that makes the node, so it is put last.
void HierarchyEditor::put_documents(const std::vector<Document>& documents) {
  for (auto document = documents.rbegin(); document != documents.rend(); ++document) {
    try {
      put_document(store_, format_, *document);
    } catch (...) {
      copies_->note_failure();
      throw;
    }
    copies_->note_put(*document);
    hierarchy_.reader_.note_put(document->key);
  }
}

bool HierarchyEditor::has_documents(const std::string& path) const {
  const auto keys = format_.node_keys(path);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return store_.has(key); });
}

// Forgets a node that no longer exists, and all nodes below it.
void HierarchyEditor::forget(const std::string& path) {
  hierarchy_.nodes_.forget(path);
  hierarchy_.copied_.forget(path);
  std::vector<std::string> paths = format_.node_keys(path);
  for (std::string& prefix : format_.node_prefixes(path)) paths.push_back(std::move(prefix));
  hierarchy_.reader_.forget(paths);
}

}  // namespace zarrcore
