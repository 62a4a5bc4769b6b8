// A manifest of an Icechunk repository: where the chunks of arrays are.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "zarrcore/icechunk/flatbuffers.h"
#include "zarrcore/icechunk/object_file.h"

namespace zarrcore::icechunk {

// Where an encoded chunk is.
struct ChunkReference {
  // In the manifest itself, in an object of the repository, in a file elsewhere.
  enum class Kind : std::uint8_t { inlined, native, external };

  Kind kind = Kind::inlined;
  ByteSpan bytes = {};       // if inlined; as long as the manifest lives
  std::string object = {};   // the id of the object, or the URL of the file
  std::uint64_t offset = 0;  // in bytes
  std::uint64_t length = 0;  // in bytes; also of inlined bytes
  // What the file had when it was referenced; empty and 0 if unknown.
  std::string etag = {};
  std::uint32_t last_modified = 0;  // in seconds since 1970
};

// Throws Error unless a manifest can hold the reference.
void check_reference(const ChunkReference& reference);

// Writes a reference to a chunk for make_manifest().
FlatTarget write_reference(FlatBuilder& builder, std::span<const std::uint64_t> index,
                           const ChunkReference& reference);
// The file of a manifest of one array. `references` is the vector of all references, in the order
// of chunks.
Buffer make_manifest(FlatBuilder& builder, const ObjectId& id, const NodeId& array,
                     FlatTarget references, int format);

// Safe to use from several threads at once.
class Manifest {
 public:
  // `file` is the one called `id`. Throws Error when it is damaged, or is another one.
  Manifest(ByteSpan file, std::string_view id);

  // The chunk of the array with this node id; nullopt if there is none. Throws Error when the array
  // has no references here, or damaged ones.
  std::optional<ChunkReference> find(ByteSpan array, std::span<const std::uint64_t> index) const;

  // Calls `visit` with the index of each chunk of the array, which has `rank` dimensions, and with
  // its place for reference().
  void for_each(ByteSpan array, std::size_t rank,
                const std::function<void(std::span<const std::uint64_t> index, std::size_t place)>&
                    visit) const;
  ChunkReference reference(ByteSpan array, std::size_t place) const;

  // Of all arrays.
  std::uint64_t reference_count() const;

  // Of memory.
  std::uint64_t byte_count() const { return content_.capacity(); }

 private:
  // The references to chunks of the array, which are in order.
  FlatTables references(ByteSpan array, std::size_t rank) const;
  static std::size_t place_of(const FlatTables& arrays, ByteSpan array);
  ChunkReference make_reference(const FlatTable& table) const;

  Buffer content_;
  FlatTable root_;
  ZstdDictionary dictionary_;
  mutable std::mutex mutex_;
  mutable std::set<std::size_t> checked_;  // arrays whose references are in order
};

}  // namespace zarrcore::icechunk
