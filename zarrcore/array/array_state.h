// The state of one array that the parts of the engine share: Array owns it; readers, writers,
// pending chunks and resize() get a reference, which must not outlive the array. Pending chunks
// belong to their ArrayWriter, cached chunks to the Context.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/read_options.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/stored_part.h"
#include "zarrcore/base/process.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct ArrayState {
  // Throws Error, which names the array, when its metadata cannot be used.
  ArrayState(std::shared_ptr<Store> array_store, std::string array_path,
             ArrayMetadata array_metadata, std::shared_ptr<Context> array_context);

  // Constant from the constructor on.
  const std::shared_ptr<Store> store;
  const std::string path;         // of the node
  const std::string description;  // the store and the array, for messages
  ArrayMetadata metadata;
  const std::shared_ptr<Context> context;
  std::vector<std::byte> fill_value;  // one element: the fill value of missing chunks
  ChunkGrid grid;
  SharedChain first_chain;       // of the first chunk; in a regular grid, of all chunks
  std::uint64_t byte_count = 0;  // of all elements, at most UINT64_MAX
  // if it differs from the key that the key encoding gives
  std::optional<std::string> scalar_key;
  std::unique_ptr<AccessPattern> pattern;  // of its requests

  mutable CachedArray cached;  // in the context's cache
  mutable std::atomic<bool> has_pinned{false};

  // Guarded by `chains_mutex`: codec chains by chunk shape, so many as need little memory.
  mutable ForkMutex chains_mutex;
  mutable std::map<Shape, SharedChain> chains;

  // `chunk` is the position of a chunk in the grid.
  std::shared_ptr<const std::string> key_of(std::span<const std::uint64_t> chunk) const;
  SharedChain chain_of(std::span<const std::uint64_t> chunk) const;
  // See Array.
  Shape inner_chunk_shape() const;
  // The part to read for a chunk slice; `data` is the caller's memory, or null to fill the cache
  // only.
  StoredPart part_of(const ChunkSlice& slice, std::byte* data) const {
    return part_of(slice, data, key_of(slice.chunk));
  }
  // The same for a known chunk key.
  StoredPart part_of(const ChunkSlice& slice, std::byte* data,
                     std::shared_ptr<const std::string> key) const;
  // Throws Error when a selection or the memory for it does not fit the array.
  void check_read(const Selection& selection, const Destination& destination) const;
  // Reads that begin later see the values that have been put: for one key of the store, or for all.
  // Takes the same time however many other items are cached.
  void invalidate_value(const std::string& key) const { context->chunks.erase_value(cached, key); }
  void invalidate_all() const { context->chunks.erase_all(cached); }

 private:
  void make_fill_value();
  SharedChain chain_for(const Shape& chunk_shape) const;
};

}  // namespace zarrcore
