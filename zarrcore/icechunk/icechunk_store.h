// One snapshot of an Icechunk repository as a read-only store. The repository's files are read
// through another store, so they may be anywhere; the files that virtual chunks are in, through
// VirtualFiles.
//
//   zarr.json of each node           from the snapshot, which is read when the store is opened
//   chunks                           from the manifest, from chunks/ID, or from a virtual file
//
// A chunk that has no reference is absent. One that has is never absent: if it cannot be read, that
// is an error, which names the repository, the node and the chunk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "zarrcore/base/lru_cache.h"
#include "zarrcore/base/path.h"
#include "zarrcore/chunk/chunk_key_encoding.h"
#include "zarrcore/icechunk/manifest.h"
#include "zarrcore/icechunk/repository.h"
#include "zarrcore/icechunk/snapshot.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// A file outside of the repository, and its version when it was referenced.
struct VirtualFile {
  std::string url;
  std::string etag;                 // empty if unknown
  std::uint32_t last_modified = 0;  // in seconds since 1970; 0 if unknown
};

// Reads virtual files. Safe to use from several threads at once.
class VirtualFiles {
 public:
  virtual ~VirtualFiles() = default;

  // One buffer for each range, all of which must be inside the file. Throws Error, which names the
  // file, also when it does not exist or has changed.
  virtual std::vector<Buffer> get_ranges(const VirtualFile& file,
                                         std::span<const ByteRange> ranges) = 0;

  // Parts of files that will be read, each by itself; see Store::expect().
  struct Part {
    VirtualFile file;
    ByteRange range;
  };
  virtual std::shared_ptr<void> expect(std::span<const Part> /*parts*/) { return nullptr; }

  // See Store.
  virtual std::size_t parallel_requests() const { return 1; }
};

// The names directly below a prefix, of keys in any order.
struct KeyNames {
  std::set<std::string> keys;
  std::set<std::string> prefixes;

  // Ignores keys that are not below the prefix.
  void add(std::string_view key, std::string_view prefix);
  DirectoryListing listing() const {
    return {{keys.begin(), keys.end()}, {prefixes.begin(), prefixes.end()}};
  }
};

// The snapshot with this id. Throws Error, which names the file, also when it does not exist.
Snapshot read_snapshot(Store& files, std::string_view id);

class IcechunkStore final : public Store {
 public:
  // Reads the snapshot. Throws Error when it does not exist or is damaged. The store has the keys
  // below `prefix`, or all if it is empty. `max_manifest_bytes` bounds the memory for manifests.
  IcechunkStore(std::shared_ptr<const Repository> repository, const VersionName& version,
                std::shared_ptr<VirtualFiles> virtual_files, std::string prefix = {},
                std::uint64_t max_manifest_bytes = kMaxManifestBytes);

  const Repository& repository() const { return *repository_; }
  const VersionName& version() const { return version_; }
  const std::string& snapshot_id() const { return snapshot_id_; }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  // Of virtual chunks.
  std::shared_ptr<void> expect(std::span<const std::string_view> keys) override;
  // With the chunks of arrays, for which their manifests are read.
  DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) override;
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& options) override;

  // Returns true if list(prefix) may list anything: a node, or a part of the keys of an array's
  // chunks.
  bool has_below(std::string_view prefix);

  // Where a value is. The bytes belong to `owner`.
  struct Place {
    ChunkReference reference;
    std::shared_ptr<const void> owner;
  };
  // Nullopt if the key is absent.
  std::optional<Place> locate(std::string_view key);
  // The same for a chunk of the array at a position of the snapshot; errors name the manifest.
  std::optional<Place> find_chunk(std::size_t array, std::span<const std::uint64_t> index);
  // Throws Error, also when it does not exist.
  std::vector<Buffer> read(const ChunkReference& reference, std::span<const ByteRange> ranges);
  Buffer read_whole(const ChunkReference& reference) {
    const ByteRange whole = ByteRange::at(0, reference.length);
    return std::move(read(reference, {&whole, 1}).front());
  }
  const Snapshot& snapshot() const { return snapshot_; }
  std::shared_ptr<const Manifest> manifest(const std::string& id);
  // Calls `visit` with the index of each chunk of an array that a part of a manifest has, and with
  // a function that returns the reference to it.
  template <typename Visit>
  void for_each_chunk(std::size_t array, const ManifestPart& part, const Visit& visit) {
    const auto manifest = this->manifest(part.id);
    const ByteSpan id = snapshot_.id(array);
    manifest->for_each(id, part.from.size(),
                       [&](std::span<const std::uint64_t> index, std::size_t place) {
                         if (!part.contains(index)) return;
                         visit(index, [&] { return manifest->reference(id, place); });
                       });
  }
  // What the snapshot says of a manifest, or its file.
  ManifestFile manifest_file(const std::string& id);
  // The key of a native chunk among the files of the repository.
  static std::string object_key(const ChunkReference& native);
  // The file of a virtual chunk, whose URL never begins with vcc://.
  VirtualFile virtual_file(const ChunkReference& external);

  StoreTraits traits() const override;
  std::string description() const override;

 private:
  static constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{256} << 20;

  // How the keys of an array's chunks become indexes, and where to look for these.
  struct Chunks {
    ChunkKeyEncoding keys;
    std::size_t rank = 0;
    std::vector<ManifestPart> manifests;
  };

  // Throws Error unless the document of a node agrees with the snapshot.
  void check_kind(std::size_t node) const;
  std::shared_ptr<const Chunks> chunks_of(std::size_t array);
  // Returns true if locate() need not read a manifest.
  bool knows_place(std::string_view key);
  std::shared_ptr<const Manifest> read_manifest(const std::string& id) const;
  std::string container_url(const std::string& name);
  // Calls `body` with errors that name the array and the chunk.
  template <typename Body>
  auto naming(std::string_view key, const Body& body) const;

  std::shared_ptr<const Repository> repository_;
  VersionName version_;
  std::string snapshot_id_;
  std::shared_ptr<VirtualFiles> virtual_files_;
  std::string prefix_;
  Snapshot snapshot_;

  LruCache<Manifest> manifests_;
  std::mutex mutex_;                           // guards the members below
  std::map<std::string, std::mutex> reading_;  // by manifests: one thread reads each
  std::map<std::size_t, std::shared_ptr<const Chunks>> chunks_;  // by the array's position
  std::map<std::string, std::string> container_urls_;            // by the names of containers
};

}  // namespace zarrcore::icechunk
