// The metadata documents of a store: as they are now, and as the nodes of a hierarchy are read from
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/requests.h"
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
// left out and reported to `on_problem`. Throws AccessFailure.
DocumentMap collect_documents(Store& store, const Format& format, const std::string& path,
                              const std::function<void(const std::string& problem)>& on_problem);

// Returns the message of an Error that `body` throws. An AccessFailure passes, because it shows no
// fault; or only errors of the type `Passed`.
template <typename Passed = AccessFailure, typename Body>
std::optional<std::string> fault_of(const Body& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Passed&) {
    throw;
  } catch (const Error& error) {
    return error.what();
  }
}

// A node, and the documents that describe it.
struct StoredNode {
  std::optional<NodeMetadata> metadata;  // nullopt if it does not exist
  DocumentMap documents;
  // For nodes that visit_stored_nodes() cannot read: the reason, and the fault of each document
  // that is not JSON, and is not among `documents`.
  std::string problem = {};
  std::vector<std::string> unreadable = {};
};
StoredNode read_stored_node(const DocumentSource& stored, const Format& format,
                            const std::string& path);

// Calls `use` with the node at `path`, and with all nodes below it, each after its group. With
// `run`, the nodes of a group are read together. Throws Error when the store cannot be listed, and
// AccessFailure.
using UseStoredNode = std::function<void(const std::string& path, StoredNode node)>;
void visit_stored_nodes(const DocumentSource& stored, const Format& format, const std::string& path,
                        const UseStoredNode& use, const RunTogether& run = {});

// The keys of all documents of the node at `path` and of all nodes below it, and of some that do
// not exist.
std::vector<std::string> document_keys_below(Store& store, const Format& format,
                                             const std::string& path);

// The root of a store that is about to be changed, if one request shows which documents it lacks:
// they are not requested.
std::optional<DirectoryListing> list_for_changes(Store& store);

// The documents of an existing node.
std::vector<Document> documents_of(const Format& format, const NodeMetadata& metadata,
                                   const std::string& path);
void put_document(Store& store, const Format& format, const Document& document);

// Reads the documents for the nodes of a hierarchy. Documents that several nodes need are cached,
// and documents that are needed together are requested at once. Safe to use from several threads at
// once.
class DocumentReader {
 public:
  using OnProblem = std::function<void(const std::string& problem)>;

  // `root_documents`: documents at the root that have just been requested from the store, by key.
  DocumentReader(Store& store, OnProblem on_problem, RunTogether run_together,
                 std::map<std::string, DocumentText> root_documents)
      : store_(store),
        on_problem_(std::move(on_problem)),
        run_together_(std::move(run_together)),
        root_texts_(std::move(root_documents)) {}

  // Its documents. The reader must outlive the source.
  DocumentSource source() const;

  // Returns true if requests wait for answers, and several can wait at the same time.
  bool is_slow() const { return run_together_ && store_.traits().parallel_requests > 1; }
  // Requests documents at once, as far as they are not known, if that saves waiting.
  DocumentRequests::AnswerScope request(std::vector<std::string> keys) const;
  // Returns true if a document at the root has been requested, and is missing.
  bool is_missing_at_root(const std::string& key) const;

  // While the returned object exists, the names of nodes are not listed twice.
  std::shared_ptr<void> keep_listings();
  // The listing of the root, while listings are cached (keep_listings()).
  void set_root_listing(DirectoryListing listing);

  // Why the store did not give a document of the node at `path`, or of any node if it is "", so
  // that it was treated as missing; empty if there was none.
  std::string denied(std::string_view path) const;
  // The keys of the documents read or put so far, sorted.
  std::vector<std::string> documents_read() const;
  bool has_read(const std::string& key) const;
  // Returns false if these documents may have changed since they were read, or been missing then.
  // True if it would take a request to find out.
  bool are_as_read(std::span<const std::string> keys) const;

  // A document has been put.
  void note_put(const std::string& key);
  // All at or below these paths has been removed, or may have been.
  void forget(std::span<const std::string> paths);
  // From now on, documents at the root are requested again.
  void forget_root();
  // These documents are about to be requested again.
  void forget_read(std::span<const std::string> keys);

 private:
  DocumentText stored_text(const std::string& key) const;
  DocumentText request_text(const std::string& key, ValueVersion* version = nullptr) const;
  bool knows_versions() const;
  void note_denied(const std::string& key, const AccessDenied& error) const;
  DirectoryListing list(const std::string& prefix) const;
  void release_listings();

  Store& store_;
  OnProblem on_problem_;
  RunTogether run_together_;
  mutable DocumentRequests requests_;

  mutable std::mutex mutex_;  // guards the following
  // Documents at the root, which are needed more than once.
  mutable std::map<std::string, DocumentText> root_texts_;
  // Listed prefixes, cached while an object of keep_listings() exists.
  mutable std::map<std::string, DirectoryListing, std::less<>> listings_;
  int listing_keepers_ = 0;
  mutable std::map<std::string, ValueVersion> documents_read_;  // the first versions read
  // Keys of documents that may exist and were treated as missing, and why.
  mutable std::vector<std::pair<std::string, std::string>> denied_;
  // true after the first value that is a web page instead of a document
  mutable bool is_page_reported_ = false;
};

}  // namespace zarrcore
