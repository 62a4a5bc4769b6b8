#include "zarrcore/hierarchy/stored_documents.h"

#include <memory>
#include <utility>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

void collect(const DocumentSource& stored, const Format& format, const std::string& path,
             const std::function<void(const std::string&)>& on_problem, DocumentMap& documents) {
  DocumentMap own;
  for (const std::string& key : format.node_keys(path)) {
    try {
      if (auto document = stored.document(key)) own.emplace(key, std::move(*document));
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      on_problem(std::string(error.what()) + "; consolidated metadata is without it");
    }
  }
  bool is_group = false;
  try {
    const auto node = format.read_node(documents_in(own), path);
    is_group = node && std::holds_alternative<GroupMetadata>(*node);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error&) {
    // Its documents are collected as they are.
  }
  documents.merge(own);
  if (!is_group) return;
  for (const std::string& name : format.child_names(stored, path)) {
    collect(stored, format, join_path(path, name), on_problem, documents);
  }
}

}  // namespace

DocumentSource documents_with_text(
    Store& store, std::function<std::shared_ptr<const Buffer>(const std::string& key)> text) {
  const auto named = [text = std::move(text)](const std::string& key) {
    return with_context([&] { return key; }, [&] { return text(key); });
  };
  const auto document = [named](const std::string& key) -> std::optional<Json> {
    const auto found = named(key);
    if (!found) return std::nullopt;
    return with_context([&] { return key; },
                        [&] { return std::make_optional(parse_json(found->text())); });
  };
  return {document, named, [&store](const std::string& key) { return store.has(key); },
          [&store](const std::string& prefix) { return store.list(prefix); }};
}

DocumentSource stored_documents(Store& store) {
  return documents_with_text(store, [&store](const std::string& key) {
    auto value = store.get(key, kMaxDocumentBytes);
    return value ? std::make_shared<const Buffer>(std::move(*value)) : nullptr;
  });
}

DocumentSource documents_in(const DocumentMap& documents) {
  const auto document = [&documents](const std::string& key) -> std::optional<Json> {
    const auto it = documents.find(key);
    return it == documents.end() ? std::nullopt : std::optional(it->second);
  };
  return {document, [](const std::string& /*key*/) { return nullptr; },
          [&documents](const std::string& key) { return documents.contains(key); },
          [&documents](const std::string& prefix) { return list_sorted(prefix, documents); }};
}

DocumentMap collect_documents(Store& store, const Format& format, const std::string& path,
                              const std::function<void(const std::string&)>& on_problem) {
  DocumentMap documents;
  collect(stored_documents(store), format, path, on_problem, documents);
  return documents;
}

DocumentMap documents_of_node(Store& store, const Format& format, const std::string& path) {
  const DocumentSource stored = stored_documents(store);
  DocumentMap documents;
  for (const std::string& key : format.node_keys(path)) {
    if (auto document = stored.document(key)) documents.emplace(key, std::move(*document));
  }
  return documents;
}

std::optional<DirectoryListing> list_for_changes(Store& store) {
  store.use_listings();
  try {
    return store.list_at_once("");
  } catch (const Error&) {
    return std::nullopt;  // requests show what exists
  }
}

void put_document(Store& store, const Format& format, const Document& document) {
  const std::string text = format.document_text(document.content);
  store.put(document.key, std::as_bytes(std::span(text)));
}

}  // namespace zarrcore
