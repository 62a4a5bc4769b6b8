#include "zarrcore/hierarchy/document_writer.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {

DocumentWriter::DocumentWriter(std::shared_ptr<Store> store, const Format& format,
                               DocumentReader& reader, CopiedDocuments& copied, NodeCache& nodes,
                               ConsolidatedCopies::OnProblem on_problem, RunTogether run_together)
    : store_(std::move(store)),
      format_(format),
      reader_(reader),
      copied_(copied),
      nodes_(nodes),
      copies_(store_, format_, std::move(on_problem), std::move(run_together),
              [&reader](const std::string& key) { return reader.has_read(key); }) {}

void DocumentWriter::remove_copies(const std::vector<std::string>& groups) {
  lacks_copies_ = true;
  copies_.remove(groups);
  copied_.drop();
}

void DocumentWriter::change(const std::vector<std::string>& groups,
                            const std::function<void()>& change) {
  remove_copies(groups);
  try {
    change();
  } catch (...) {
    try {
      restore();
    } catch (const Error&) {
      // flush() tries again; the first error is the cause.
    }
    throw;
  }
}

void DocumentWriter::restore() {
  copies_.restore();
  lacks_copies_ = false;
}

void DocumentWriter::want_root(const std::vector<Document>& documents) {
  lacks_copies_ = true;
  copies_.want_root(documents);
}

void DocumentWriter::consolidate(const std::vector<std::string>& groups) {
  remove_copies(groups);
  copies_.forget_content();
  if (std::ranges::find(groups, "") != groups.end()) copies_.want_root({});
}

void DocumentWriter::remove_consolidated(const std::vector<std::string>& groups) {
  remove_copies(groups);
  copies_.forget(groups);
}

std::vector<Document> DocumentWriter::new_documents(const NodeMetadata& metadata,
                                                    const std::string& path) const {
  const auto* array = std::get_if<ArrayMetadata>(&metadata);
  std::vector<Document> documents = array != nullptr ? format_.new_array_documents(*array, path)
                                                     : documents_of(format_, metadata, path);
  // Names that are too common to recognize a node by count together.
  const auto is_dispensable = [this](const Document& document) {
    return document.content.is_object() && document.content.empty() &&
           format_.is_document(last_segment(document.key));
  };
  if (reader_.is_slow() && !documents.empty()) {
    documents.erase(std::remove_if(documents.begin() + 1, documents.end(), is_dispensable),
                    documents.end());
  }
  return documents;
}

void DocumentWriter::put(const std::vector<Document>& documents) {
  for (auto document = documents.rbegin(); document != documents.rend(); ++document) {
    try {
      put_document(*store_, format_, *document);
    } catch (...) {
      copies_.forget_content();
      throw;
    }
    copies_.note_put(*document);
    reader_.note_put(document->key);
  }
}

void DocumentWriter::put_new(const std::string& path, const std::vector<Document>& documents) {
  try {
    put(documents);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    copies_.forget_content();
    try {
      store_->erase_all(format_.node_keys(path));
    } catch (const Error&) {
      // The first error is the cause.
    }
    forget(path);
    std::rethrow_exception(error);
  }
}

bool DocumentWriter::has_documents(const std::string& path) const {
  const auto keys = format_.node_keys(path);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return store_->has(key); });
}

void DocumentWriter::erase(const std::string& path) {
  forget_after(path, [&] { erase_values(path); });
  copies_.note_erased(path);
}

void DocumentWriter::rename(const std::string& path, const std::string& target) {
  forget_after(path, [&] { rename_values(path, target); });
  copies_.note_renamed(path, target);
}

bool DocumentWriter::exchange(const std::string& path, const std::string& other) {
  const bool are_exchanged = store_->rename_prefix(path, other, {.exchanges = true});
  copies_.forget_content();
  forget(path);
  forget(other);
  return are_exchanged;
}

// Forgets a node that no longer exists, and all nodes below it.
void DocumentWriter::forget(const std::string& path) {
  nodes_.forget(path);
  copied_.forget(path);
  std::vector<std::string> paths = format_.node_keys(path);
  for (std::string& prefix : format_.node_prefixes(path)) paths.push_back(std::move(prefix));
  reader_.forget(paths);
}

// Calls a function that removes a node, and forgets the node; if it throws, only if the node no
// longer exists.
void DocumentWriter::forget_after(const std::string& path, const std::function<void()>& remove) {
  try {
    remove();
  } catch (...) {
    copies_.forget_content();
    if (!has_documents(path)) forget(path);
    throw;
  }
  forget(path);
}

// Erases documents first, also the documents of all nodes below: without documents, no node exists
// or seems to have lost chunks, even if the rest fails or the process is killed.
void DocumentWriter::erase_values(const std::string& path) {
  std::vector<std::string> first = store_->traits().lists_all_at_once
                                       ? format_.node_keys(path)
                                       : document_keys_below(*store_, format_, path);
  for (const std::string& prefix : format_.node_prefixes(path)) {
    store_->erase_prefix(prefix, first);
    first.clear();
  }
}

// Where documents and chunks are apart, both names exist for a moment: a program that is killed
// loses nothing.
void DocumentWriter::rename_values(const std::string& path, const std::string& target) {
  const std::vector<std::string> from = format_.node_prefixes(path);
  if (from == std::vector{path}) {
    store_->rename_prefix(path, target);
    return;
  }
  const std::vector<std::string> to = format_.node_prefixes(target);
  const DocumentSource stored = stored_documents(*store_);
  std::vector<std::string> old_keys;
  std::vector<std::string> new_keys;
  for (const std::string& key : document_keys_below(*store_, format_, path)) {
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
