// The metadata documents of a store as they are now, without any cache.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// The limit for the size of a metadata document: a larger file must be something else.
inline constexpr std::uint64_t kMaxDocumentBytes = std::uint64_t{256} << 20;

// The store must outlive the source. JSON is parsed for every request.
DocumentSource stored_documents(Store& store);

// The same with texts from `text`. The errors that it throws need not name the key.
DocumentSource documents_with_text(
    Store& store, std::function<std::shared_ptr<const Buffer>(const std::string& key)> text);

// A view of `documents`, which must outlive it.
DocumentSource documents_in(const DocumentMap& documents);

// The documents of the node at `path`, and of all nodes below it. Documents that cannot be read are
// left out and reported to `on_problem`. Throws OutOfMemory.
DocumentMap collect_documents(Store& store, const Format& format, const std::string& path,
                              const std::function<void(const std::string& problem)>& on_problem);

// A node, and the documents that describe it.
struct StoredNode {
  std::optional<NodeMetadata> metadata;  // nullopt if it does not exist
  DocumentMap documents;
};
StoredNode read_stored_node(const DocumentSource& stored, const Format& format,
                            const std::string& path);

// The keys of all documents of the node at `path` and of all nodes below it, and of some that do
// not exist.
std::vector<std::string> document_keys_below(Store& store, const Format& format,
                                             const std::string& path);

// The root of a store that is about to be changed, if one request shows which documents it lacks:
// they are not requested.
std::optional<DirectoryListing> list_for_changes(Store& store);

void put_document(Store& store, const Format& format, const Document& document);

}  // namespace zarrcore
