// Writes the manifests of arrays whose chunks have changed. Manifests that hold no changed chunk
// stay; others are written again with the references that are left.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/reference_log.h"

namespace zarrcore::icechunk {

class ManifestWriter {
 public:
  // All must outlive this.
  ManifestWriter(Store& files, int format, IcechunkStore& base, const ReferenceLog& log,
                 const Configuration& configuration, std::uint64_t max_size)
      : files_(files),
        format_(format),
        base_(base),
        log_(log),
        configuration_(configuration),
        max_size_(max_size) {}

  // Puts the manifests of an array, and returns all that it has then. `chunks` are the
  // array's in `changes`.
  std::vector<ManifestPart> write(const ChangeSet& changes,
                                  const ChangeSet::Nodes::value_type& array,
                                  const ArrayChanges& chunks);

  // What a snapshot says of the manifests that have been put.
  const ManifestFiles& written() const { return written_; }
  // The numbers of all chunks of an array whose chunks came from another one.
  std::map<NodeId, std::vector<std::uint64_t>> copied;

 private:
  // A reference to write.
  struct Entry {
    std::uint64_t number;  // of the chunk
    std::uint64_t place;   // in the manifest, or in the log
    std::uint32_t source;  // the manifest, or kLog
    std::uint32_t size;    // roughly, in bytes
  };
  struct Sources;

  // Which of the array's manifests must be written again.
  template <typename BoxOf>
  std::vector<bool> find_changed(const std::vector<ManifestPart>& parts, const ArrayChanges& chunks,
                                 bool is_copy, const BoxOf& box_of);
  void put(const Sources& sources, std::span<const Entry> entries, std::size_t axis,
           std::vector<ManifestPart>& parts);
  ManifestPart put_one(const Sources& sources, std::span<const Entry> entries);

  Store& files_;
  int format_;
  IcechunkStore& base_;
  const ReferenceLog& log_;
  const Configuration& configuration_;
  std::uint64_t max_size_;  // of a manifest, not compressed
  ManifestFiles written_;
};

}  // namespace zarrcore::icechunk
