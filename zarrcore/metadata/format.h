// The formats: how each version of Zarr writes nodes down as JSON documents. The hierarchy asks
// every format in turn whether there is a node at a path; a format asks for the documents it needs
// and gives back the one model of array_metadata.h. To write, it makes documents of the model; what
// its documents cannot say is an Error, never left out. Adding a format is a new implementation
// here and a line in formats().
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/lazy_document.h"

namespace zarrcore {

// Where a format finds documents.
struct DocumentSource {
  // Gives the document under a key of the store, or nothing when there is none. Throws Error, which
  // names the key, when it cannot be read or is not JSON.
  std::function<std::optional<Json>(const std::string& key)> document;
  // Its text; null when there is none. Throws Error, which names the key, when it cannot be read.
  std::function<std::shared_ptr<const Buffer>(const std::string& key)> text;
  // Whether there is one, as far as that shows without reading it.
  std::function<bool(const std::string& key)> has;
  // Gives what stands directly below a prefix of the store ("" for its root).
  std::function<DirectoryListing(const std::string& prefix)> list;
};

// Documents by the key at which they stand, or would stand, in the store.
using DocumentMap = std::map<std::string, Json, std::less<>>;

// The consolidated metadata of a group and all nodes below it.
struct ConsolidatedDocuments {
  std::map<std::string, LazyDocument, std::less<>> documents;
  // What was left out because its name cannot be a node's, as messages.
  std::vector<std::string> problems;
};

// Puts `document` under the key that `name`, relative to the node path `group`, and `file_name`
// make, or a problem when `name` is no path.
void add_consolidated(ConsolidatedDocuments& consolidated, std::string_view group,
                      std::string_view name, std::string_view file_name, LazyDocument document);

// A document and the key of the store under which it stands.
struct Document {
  std::string key;
  Json content;
};

// What a format has room for in a new array, and where its readers look for it.
struct NewArrayRules {
  ChunkKeyEncoding key_encoding;    // by default
  bool has_shards = false;          // the codec sharding_indexed
  bool has_padded_strings = false;  // arrays of strings of fixed length
  bool has_to_have_fill_value = false;
  // Whether filters of numcodecs are array-to-array codecs, which come before the bytes codec and
  // convert the elements to their own type. Else they come after it and take bytes.
  bool filters_take_arrays = false;
  bool compressor_comes_last = false;  // there is nothing after it, as checksums would be
};

enum class NodeKind : std::uint8_t { array, group };

class Format {
 public:
  virtual ~Format() = default;

  virtual std::string_view name() const = 0;

  // The node at `path` ("" for the root), or nothing when this format has no document there; one
  // that is not `wanted` may count as none, for then its documents need not be looked for. Throws
  // Error, which names the document's key, when there is one that is not right.
  virtual std::optional<NodeMetadata> read_node(const DocumentSource& documents,
                                                const std::string& path,
                                                std::optional<NodeKind> wanted = {}) const = 0;

  // The array at a root that is a group as well: read_node() gives the group. Nothing when the root
  // is one node, as in all formats but the draft of 2020. Throws Error like read_node().
  virtual std::optional<ArrayMetadata> read_root_array(const DocumentSource& /*documents*/) const {
    return std::nullopt;
  }

  // What the node at `path` is, if that shows by which documents there are; it may turn out to be
  // not right when it is read. Nothing when only reading it tells.
  virtual std::optional<NodeKind> find_kind(const DocumentSource& /*documents*/,
                                            const std::string& /*path*/) const {
    return std::nullopt;
  }

  // Whether there is a group at `path`, if that shows without its attributes. Nothing when only
  // reading it tells. Throws Error like read_node().
  virtual std::optional<bool> find_group(const DocumentSource& /*documents*/,
                                         const std::string& /*path*/) const {
    return std::nullopt;
  }

  // The consolidated metadata that the group at `path` holds, which covers the group itself and
  // all nodes below it. Nothing when the group holds none.
  virtual std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                                 const std::string& path) const = 0;

  // The names of what may be nodes directly below the group at `path`. Reading them shows which
  // are.
  virtual std::vector<std::string> child_names(const DocumentSource& documents,
                                               const std::string& path) const {
    return documents.list(path).prefixes;
  }

  // Whether a file of this name describes the node whose folder it is in.
  virtual bool is_document(std::string_view file_name) const = 0;

  // All documents of an array or a group at `path`, which take the place of those that were there.
  // Throws Error, which names a document's key, when the format cannot express the node.
  virtual std::vector<Document> array_documents(const ArrayMetadata& array,
                                                const std::string& path) const = 0;
  virtual std::vector<Document> group_documents(const GroupMetadata& group,
                                                const std::string& path) const = 0;

  // Null when nothing new is made in this format.
  virtual const NewArrayRules* new_array_rules() const { return nullptr; }

  // The keys under which documents of a node at `path` may stand: without them there is none.
  virtual std::vector<std::string> node_keys(const std::string& path) const = 0;

  // The key of the document that holds the consolidated metadata of the group at `path`, if it has
  // any. Nothing when the format has no such document.
  virtual std::optional<std::string> consolidated_key(const std::string& /*path*/) const {
    return std::nullopt;
  }

  // What remains of that document without the consolidated metadata; nothing if it holds no more.
  virtual std::optional<Json> without_consolidated(const Json& /*document*/) const {
    return std::nullopt;
  }

  // The document that holds the consolidated metadata of the group at `path`: the inverse of
  // read_consolidated(). `documents` are those of the group and of all nodes below it, by key;
  // others do not matter. Throws Error when the format has no such document.
  virtual Document consolidated_document(const DocumentMap& documents,
                                         const std::string& path) const = 0;

  // The text of a document as it goes into the store.
  virtual std::string document_text(const Json& content) const;
};

// All formats, the most likely first.
std::span<const Format* const> formats();

}  // namespace zarrcore
