// A snapshot of an Icechunk repository: the nodes of a whole Zarr v3 hierarchy with their
// documents, and for each array the manifests that say where its chunks are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/flatbuffers.h"
#include "zarrcore/icechunk/flexbuffers.h"
#include "zarrcore/icechunk/object_file.h"

namespace zarrcore::icechunk {

// A manifest, and which chunks of an array it holds: those from an index in each dimension, and
// before another. What else it holds is of other snapshots.
struct ManifestPart {
  std::string id;
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> to;

  // `index` has as many dimensions.
  bool contains(std::span<const std::uint64_t> index) const;
  std::vector<std::uint64_t> first() const { return {from.begin(), from.end()}; }
  std::vector<std::uint64_t> last() const;
};

// What a snapshot says of a manifest's file.
struct ManifestFile {
  std::uint64_t size = 0;             // in bytes, as it is stored
  std::uint32_t reference_count = 0;  // of all arrays
};
using ManifestFiles = std::map<std::string, ManifestFile>;  // by their ids

// What a snapshot says of itself. In format 2, the file `repo` repeats it.
struct SnapshotRecord {
  std::optional<ObjectId> parent;
  std::uint64_t time = 0;  // in microseconds since 1970
  std::string message;
  std::vector<Property> properties;
  std::vector<ObjectId> pruned_logs;  // the logs of ancestors that were removed, oldest first
};

class Snapshot {
 public:
  // `file` is the one called `id`. Throws Error when it is damaged, or is another one.
  Snapshot(ByteSpan file, std::string_view id);

  // How many nodes there are.
  std::size_t size() const { return nodes_.size(); }

  // The position of the node at `path` ("a/b", "" for the root); nullopt if there is none.
  std::optional<std::size_t> find(std::string_view path) const;
  // The position of the array at which the key begins, or above its path; nullopt if there is none.
  std::optional<std::size_t> find_array_of(std::string_view key) const;
  // The names of the nodes directly below `path`, sorted.
  std::vector<std::string> children(std::string_view path) const;

  // These take a node's position.
  std::string_view path(std::size_t node) const;
  bool is_array(std::size_t node) const;
  ByteSpan id(std::size_t node) const;
  // The text of zarr.json.
  std::string_view document(std::size_t node) const;

  // What the snapshot repeats of an array's document.
  struct Dimension {
    std::uint64_t length = 0;  // in elements
    std::uint64_t chunk_count = 0;
    std::optional<std::string> name;
  };
  std::vector<Dimension> dimensions(std::size_t array) const;
  bool has_dimension_names(std::size_t array) const;
  std::size_t rank(std::size_t array) const;

  // The parent is only known in format 1.
  SnapshotRecord record() const;
  // Of the file.
  int format() const { return format_; }

  // The manifests of an array of `rank` dimensions.
  std::vector<ManifestPart> manifests(std::size_t array, std::size_t rank) const;
  // Null if the snapshot lists no manifests.
  const ManifestFile* manifest_file(const std::string& id) const;

 private:
  std::size_t lower_bound(std::string_view path) const;
  FlatTable data_of(std::size_t array) const;
  FlatTables manifest_refs(std::size_t array) const;
  void load_manifest_files();
  // Throws Error unless the arrays have exactly the manifests that are listed.
  void check_manifest_files() const;

  int format_;
  Buffer content_;
  FlatTable root_;
  FlatTables nodes_;
  ManifestFiles manifest_files_;
};

// A node of a new snapshot.
struct NewNode {
  std::string_view path;  // without the slash in front
  NodeId id;
  std::string_view document;
  bool is_array;
  std::vector<Snapshot::Dimension> dimensions;
  bool has_dimension_names = false;  // maybe none but null
  std::vector<ManifestPart> manifests;
};

// The file of a new snapshot. `nodes` are sorted by their paths. `manifests` are all of them.
Buffer make_snapshot(const ObjectId& id, const SnapshotRecord& record, int format,
                     const std::vector<NewNode>& nodes, const ManifestFiles& manifests);

}  // namespace zarrcore::icechunk
