// The metadata documents of a store, past everything that is remembered of them.
#pragma once

#include <functional>
#include <string>

#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// No metadata document is larger; a file that is must be something else.
inline constexpr std::uint64_t kMaxDocumentBytes = std::uint64_t{256} << 20;

// The store must live as long. What is JSON is parsed anew for each request.
DocumentSource stored_documents(Store& store);

// As above, where the texts come from `text`, which throws Error without the key.
DocumentSource documents_with_text(
    Store& store, std::function<std::shared_ptr<const Buffer>(const std::string& key)> text);

// What stands in `documents`, which must live as long.
DocumentSource documents_in(const DocumentMap& documents);

// The documents of the node at `path`, and of all nodes below it. `on_problem` is told of those
// that cannot be read, which are left out.
DocumentMap collect_documents(Store& store, const Format& format, const std::string& path,
                              const std::function<void(const std::string& problem)>& on_problem);

// The documents of one node; none when there is no such node. Throws Error.
DocumentMap documents_of_node(Store& store, const Format& format, const std::string& path);

void put_document(Store& store, const Format& format, const Document& document);

}  // namespace zarrcore
