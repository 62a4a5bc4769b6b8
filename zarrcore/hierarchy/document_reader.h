// The metadata documents of a hierarchy as its nodes are read from them. What several nodes ask for
// is remembered, and what is needed together is requested at once.
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

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/document_requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Safe to use from several threads at once.
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

  // Whether requests wait for answers, and several can wait at the same time.
  bool is_slow() const { return run_together_ && store_.traits().parallel_requests > 1; }
  // Requests documents at once, as far as they are not known, if that saves waiting.
  DocumentRequests::Kept request(std::vector<std::string> keys) const;
  // Whether a document at the root has been requested, and is missing.
  bool is_missing_at_root(const std::string& key) const;

  // While the returned object exists, the names of nodes are not listed twice.
  std::shared_ptr<void> keep_listings();
  // While they are kept, the root has this listing.
  void set_root_listing(DirectoryListing listing);

  // Why the store did not give a document of the node at `path`, or of any node if it is "", so
  // that it was taken for absent; empty if there was none.
  std::string denied(std::string_view path) const;
  // The keys of the documents read or put so far, sorted.
  std::vector<std::string> documents_read() const;
  bool has_read(const std::string& key) const;

  // A document has been put.
  void note_put(const std::string& key);
  // All at or below these paths has been removed, or may have been.
  void forget(std::span<const std::string> paths);
  // From now on, documents at the root are requested again.
  void forget_root();

 private:
  DocumentText stored_text(const std::string& key) const;
  DocumentText request_text(const std::string& key) const;
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
  // Listed prefixes, while they are kept.
  mutable std::map<std::string, DirectoryListing, std::less<>> listings_;
  int listing_keepers_ = 0;
  mutable std::set<std::string> documents_read_;
  // Keys of documents that may exist and were taken for absent, and why.
  mutable std::vector<std::pair<std::string, std::string>> denied_;
  mutable bool is_page_reported_ = false;  // the first one that was no value
};

}  // namespace zarrcore
