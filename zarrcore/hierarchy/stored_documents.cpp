#include "zarrcore/hierarchy/stored_documents.h"

#include <memory>
#include <utility>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

using OnProblem = std::function<void(const std::string&)>;

// The documents of a node that cannot be read as a whole, as far as they are JSON.
DocumentMap documents_of_broken_node(const DocumentSource& stored, const Format& format,
                                     const std::string& path, const OnProblem& on_problem) {
  DocumentMap documents;
  for (const std::string& key : format.node_keys(path)) {
    try {
      if (auto document = stored.document(key)) documents.emplace(key, std::move(*document));
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      on_problem(std::string(error.what()) + "; consolidated metadata is without it");
    }
  }
  return documents;
}

// Calls `use` with the documents of the node at `path`, and of all nodes below it.
void visit_nodes(const DocumentSource& stored, const Format& format, const std::string& path,
                 const OnProblem& on_problem,
                 const std::function<void(const std::string& path, DocumentMap documents)>& use) {
  try {
    StoredNode node = read_stored_node(stored, format, path);
    use(path, std::move(node.documents));
    if (!node.metadata || !std::holds_alternative<GroupMetadata>(*node.metadata)) return;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error&) {
    use(path, documents_of_broken_node(stored, format, path, on_problem));
    return;
  }
  for (const std::string& name : format.child_names(stored, path)) {
    visit_nodes(stored, format, join_path(path, name), on_problem, use);
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
  visit_nodes(stored_documents(store), format, path, on_problem,
              [&](const std::string& /*node*/, DocumentMap own) { documents.merge(own); });
  return documents;
}

StoredNode read_stored_node(const DocumentSource& stored, const Format& format,
                            const std::string& path) {
  StoredNode node;
  DocumentSource noted = stored;
  noted.document = [&](const std::string& key) {
    auto document = stored.document(key);
    if (document) node.documents.emplace(key, *document);
    return document;
  };
  node.metadata = format.read_node(noted, path);
  return node;
}

std::vector<std::string> document_keys_below(Store& store, const Format& format,
                                             const std::string& path) {
  std::vector<std::string> keys;
  visit_nodes(
      stored_documents(store), format, path, [](const std::string& /*problem*/) {},
      [&](const std::string& node, const DocumentMap& /*documents*/) {
        for (std::string& key : format.node_keys(node)) keys.push_back(std::move(key));
      });
  return keys;
}

std::optional<DirectoryListing> list_for_changes(Store& store) {
  constexpr std::size_t kMaxNames = 900;  // less than a page of any server
  store.use_listings();
  if (!store.traits().lists_all_at_once) return std::nullopt;
  try {
    auto listing = store.list("", {.max_names = kMaxNames + 1});
    return listing.size() <= kMaxNames ? std::optional(std::move(listing)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // requests show what exists
  }
}

void put_document(Store& store, const Format& format, const Document& document) {
  const std::string text = format.document_text(document.content);
  store.put(document.key, std::as_bytes(std::span(text)));
}

}  // namespace zarrcore
