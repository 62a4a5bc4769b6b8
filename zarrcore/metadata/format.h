// The formats: how each version of Zarr describes nodes in JSON documents. The hierarchy asks every
// format in turn for the node at a path; a format reads the documents it needs and returns the one
// model of array_metadata.h. To write, it makes documents from the model; it throws Error when its
// documents cannot express all of it. A new format is an implementation of Format and a line in
// formats().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

// Where a format finds documents.
struct DocumentSource {
  // Returns the document at a key of the store, or nullopt if it does not exist. Throws Error,
  // which names the key, when it cannot be read or is not JSON.
  std::function<std::optional<Json>(const std::string& key)> document;
  // Returns its text, or null when there is none. Throws Error, which names the key, when it cannot
  // be read.
  std::function<std::shared_ptr<const Buffer>(const std::string& key)> text;
  // Returns true if it exists, as far as that shows without reading it.
  std::function<bool(const std::string& key)> has;
  // Lists a prefix of the store ("" for its root).
  std::function<DirectoryListing(const std::string& prefix)> list;
};

// Documents by the key that they have, or would have, in the store.
using DocumentMap = std::map<std::string, Json, std::less<>>;

// A document that may not have been parsed yet: consolidated metadata holds tens of thousands, of
// which a reader needs few.
class LazyDocument {
 public:
  LazyDocument(Json json) : json_(std::move(json)) {}  // NOLINT: converts
  // `text` is part of `holder`.
  LazyDocument(std::shared_ptr<const Buffer> holder, std::string_view text)
      : holder_(std::move(holder)), text_(text) {}

  // Throws Error when the text is not JSON.
  Json get() const { return holder_ ? parse_json(text_) : json_; }
  // Its text, which may not be JSON.
  std::string text() const {
    return holder_ ? std::string(text_) : dump_json(json_, {.as_read = true});
  }

 private:
  Json json_;
  std::shared_ptr<const Buffer> holder_;
  std::string_view text_;
};

// The consolidated metadata of a group and all nodes below it.
struct ConsolidatedDocuments {
  std::map<std::string, LazyDocument, std::less<>> documents;
  // Messages about documents that were left out because their key cannot belong to a node.
  std::vector<std::string> problems;
};

// Adds the members of the object `metadata`, a part of `holder`, at the keys that their names,
// relative to the node path `group`, and `file_name` make, or problems when a name is not a path.
void add_consolidated(ConsolidatedDocuments& consolidated, std::string_view group,
                      const std::shared_ptr<const Buffer>& holder, std::string_view metadata,
                      std::string_view file_name);

// A document and its key in the store.
struct Document {
  std::string key;
  Json content;
};

// The features that a format supports in a new array, and where its readers look for it.
struct NewArrayRules {
  ChunkKeyEncoding::Kind key_kind = ChunkKeyEncoding::Kind::default_;
  char key_separator = '/';              // by default
  bool has_shards = false;               // the codec sharding_indexed
  bool fill_value_is_mandatory = false;  // these two as in ArrayMetadata
  bool fill_value_attribute_is_base64 = false;
  // True if filters of numcodecs are array-to-array codecs, which precede the bytes codec and
  // convert the elements to their own type. Else they follow it and take bytes.
  bool filters_take_arrays = false;
  // True if texts of a known maximum length have variable length as well: there is no registered
  // type for padded bytes.
  bool prefers_variable_strings = false;
  bool compressor_comes_last = false;  // no codec may follow the compressor, such as a checksum
  bool is_single_array = false;        // a store is one array, at its root
};

enum class NodeKind : std::uint8_t { array, group };

class ZARRCORE_API Format {
 public:
  virtual ~Format() = default;

  // The name for messages and documentation, such as "Zarr v3".
  virtual std::string_view name() const = 0;

  // The format of one store, if the names of its documents depend on the store: without it, nodes
  // can be read but not written. Null if they do not, or if the store has another format. Throws
  // Error when the document that states them is not right.
  virtual std::unique_ptr<const Format> for_store(const DocumentSource& /*documents*/) const {
    return nullptr;
  }

  // The node at `path` ("" for the root), or nullopt when this format has no document there. A node
  // of another kind than `wanted` may be treated as missing, so that its documents need not be
  // read. Throws Error, which names the document's key, when a document is invalid.
  virtual std::optional<NodeMetadata> read_node(const DocumentSource& documents,
                                                const std::string& path,
                                                std::optional<NodeKind> wanted = {}) const = 0;

  // The keys of the documents that read_node() reads, so that they can be requested at once: all of
  // them, though some may turn out to be unnecessary. Empty if these depend on other documents.
  virtual std::vector<std::string> keys_to_read(const std::string& /*path*/,
                                                std::optional<NodeKind> /*wanted*/) const {
    return {};
  }

  // The array at a root that is also a group, which read_node() returns. nullopt when the root is
  // one node, as in all formats but the draft of 2020. Throws Error like read_node().
  virtual std::optional<ArrayMetadata> read_root_array(const DocumentSource& /*documents*/) const {
    return std::nullopt;
  }

  // The kind of the node at `path`, if that shows by which documents exist; reading it may still
  // fail. nullopt when it must be read to find out.
  virtual std::optional<NodeKind> find_kind(const DocumentSource& /*documents*/,
                                            const std::string& /*path*/) const {
    return std::nullopt;
  }

  // Returns true if there is a group at `path`, if that shows without its attributes. nullopt when
  // it must be read to find out. Throws Error like read_node().
  virtual std::optional<bool> find_group(const DocumentSource& /*documents*/,
                                         const std::string& /*path*/) const {
    return std::nullopt;
  }

  // The consolidated metadata of the group at `path`, which covers the group itself and all nodes
  // below it. nullopt when the group has none.
  virtual std::optional<ConsolidatedDocuments> read_consolidated(
      const DocumentSource& /*documents*/, const std::string& /*path*/) const {
    return std::nullopt;
  }

  // The possible names of nodes directly below the group at `path`. Reading the nodes shows which
  // exist.
  virtual std::vector<std::string> child_names(const DocumentSource& documents,
                                               const std::string& path) const {
    return documents.list(path).prefixes;
  }

  // Why a node must not have this name, in addition to is_valid_segment(); empty if it may.
  virtual std::string_view name_problem(std::string_view /*name*/) const { return {}; }

  // Returns true if a file of this name describes the node whose folder it is in.
  virtual bool is_document(std::string_view file_name) const = 0;

  // All documents of an array or a group at `path`. Throws Error, which names a document's key,
  // when the format cannot express the node. Unless the format has whole documents, an array's
  // documents may lack members that updates never change.
  virtual std::vector<Document> array_documents(const ArrayMetadata& array,
                                                const std::string& path) const = 0;
  virtual std::vector<Document> group_documents(const GroupMetadata& group,
                                                const std::string& path) const = 0;

  virtual bool has_whole_documents() const { return new_array_rules() != nullptr; }
  // The complete documents of a new array.
  virtual std::vector<Document> new_array_documents(const ArrayMetadata& array,
                                                    const std::string& path) const {
    return array_documents(array, path);
  }

  // Why no node can be changed, as the end of a message about a store; empty if nodes can.
  virtual std::string_view read_only_reason() const { return {}; }

  // Null if new nodes cannot be created in this format.
  virtual const NewArrayRules* new_array_rules() const { return nullptr; }

  // The keys of all documents that a node at `path` may have: without them there is no node.
  virtual std::vector<std::string> node_keys(const std::string& path) const = 0;

  // The prefixes of all other keys that belong to the node or to nodes below it; the last one is
  // the prefix of chunks.
  virtual std::vector<std::string> node_prefixes(const std::string& path) const { return {path}; }

  // The key of the document that holds the consolidated metadata of the group at `path`, if it has
  // any. nullopt when the format has no such document.
  virtual std::optional<std::string> consolidated_key(const std::string& /*path*/) const {
    return std::nullopt;
  }

  // The document without the consolidated metadata; nullopt if it contains nothing else.
  virtual std::optional<Json> without_consolidated(const Json& /*document*/) const {
    return std::nullopt;
  }

  // The document that holds the consolidated metadata of the group at `path`: the inverse of
  // read_consolidated(). `documents`: the documents of the group and of all nodes below it, by key;
  // others are ignored. Throws Error when the format has no such document.
  virtual Document consolidated_document(const DocumentMap& documents,
                                         const std::string& path) const;

  // The text of a document in the form in which it is stored.
  virtual std::string document_text(const Json& content) const;
};

// Zarr v1 (specification v1).
const Format& v1_format();
// Zarr v2 (specification v2).
ZARRCORE_API const Format& v2_format();
// Zarr v3 (core specification, version 3).
ZARRCORE_API const Format& v3_format();
// The draft of v3 of 2020, with its `meta/` folder.
const Format& draft_format();
// N5 containers, which are not Zarr but hold the same kinds of nodes.
const Format& n5_format();

// All formats, the most likely first.
ZARRCORE_API std::span<const Format* const> formats();

// Converts Zarr v1, v2 and the draft to v3 without changing the bytes of a chunk (migration.cpp):
// returns the same array with the names and the order of codecs that v3 has, for
// Format::array_documents() of v3_format(). The key encoding stays, except that of the draft, which
// v3 does not have. An undefined fill value becomes zero, as its elements are read. Throws an Error
// that names anything v3 has no name for.
ZARRCORE_API ArrayMetadata migrated_to_v3(ArrayMetadata array);

}  // namespace zarrcore
