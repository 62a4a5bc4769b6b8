// The nodes of a store: which groups and arrays there are, and their metadata. With consolidated
// metadata the store is asked for nothing but the one document that holds it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct HierarchyOptions {
  bool use_consolidated = true;
  // Told of faults that are passed over: what is wrong with one node must not hide the others.
  std::function<void(const std::string& problem)> on_problem = [](const std::string&) {};
};

struct Child {
  enum class Kind : std::uint8_t { array, group, broken };

  std::string name;
  Kind kind;
  std::string problem;  // of a broken one: why it is neither
};

class Hierarchy {
 public:
  // Throws Error when there is neither a group nor an array at the root of the store.
  explicit Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options = {});

  const std::shared_ptr<Store>& store() const { return store_; }
  bool is_consolidated() const { return consolidated_.has_value(); }

  // The node at `path` ("" for the root, "a/b"; slashes around it do not matter), or null when
  // there is none. Throws Error, which names the document, when its metadata is not right.
  std::shared_ptr<const NodeMetadata> node(std::string_view path) const;

  // The nodes directly below the group at `path`, sorted by name.
  std::vector<Child> children(std::string_view path) const;

  // The keys of the metadata documents that have been read from the store so far, sorted.
  std::vector<std::string> documents_read() const;

  // The array at `path`. Throws Error when there is none or it cannot be used.
  std::shared_ptr<const Array> open_array(std::string_view path,
                                          std::shared_ptr<Context> context) const;

 private:
  std::optional<Json> stored_document(const std::string& key) const;
  DocumentSource stored_documents() const;
  DocumentSource documents() const;

  std::shared_ptr<Store> store_;
  HierarchyOptions options_;
  const Format* format_ = nullptr;  // the root's, which all nodes share
  std::optional<ConsolidatedDocuments> consolidated_;

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> nodes_;
  mutable std::map<std::string, std::optional<Json>> root_documents_;
  mutable std::set<std::string> documents_read_;
};

}  // namespace zarrcore
