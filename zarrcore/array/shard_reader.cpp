#include "zarrcore/array/shard_reader.h"

#include <utility>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

std::shared_ptr<const Buffer> elements_of(const ChunkCache::Item& chunk) {
  return {chunk, &static_cast<const CachedChunk&>(*chunk).all()};
}

std::shared_ptr<const ShardIndex> index_of(const ChunkCache::Item& index) {
  return {index, &static_cast<const CachedIndex&>(*index).index};
}

// All encoded bytes of a part from its open value; nullopt when they are the value, and it is
// absent.
std::optional<Buffer> fetch(const StoredPart& part) {
  if (part.is_whole_value()) return part.value->get(part.chain->max_encoded_size());
  const ByteRange range = ByteRange::at(part.offset, part.length);
  auto bytes = ShardReader::fetch_ranges(part, {&range, 1});
  if (!bytes) throw ValueChanged();
  return std::move(bytes->front());
}

}  // namespace

std::optional<std::vector<Buffer>> ShardReader::fetch_ranges(const StoredPart& part,
                                                             std::span<const ByteRange> ranges) {
  return get_ranges_of_version(*part.value, ranges,
                               [&] { return !part.value->version().differs_from(part.version); });
}

OpenShard ShardReader::open(const StoredPart& shard, bool wants_all) const {
  return with_context(
      [&] { return "shard " + shard.name(); },
      [&] {
        OpenShard opened{shard, {shard.chain->sharding(), shard.chain->framing()}, nullptr};
        StoredPart& part = opened.part;
        if (!part.bytes && !part.value) part.value = store_.open(*part.key);
        if (!part.chain->shard_is_addressable()) {
          if (!decompress(part)) return opened;
          // From here on, offsets count within this shard.
          if (!shard.is_whole_value()) part.shard_offset = shard.offset;
          part.offset = 0;
          part.length = part.bytes->size();
          opened.extent.framing = {};
        } else if (wants_all && !part.chain->shard_is_bare() && part.destination != nullptr &&
                   !is_pinned(part) && !fetch_checked(part)) {
          return opened;
        }
        opened.extent.offset = part.offset;
        if (!part.is_whole_value()) opened.extent.length = part.length;
        opened.index = read_index(part, opened.extent);
        return opened;
      });
}

// Returns true if the inner chunks of a shard have been prefetched, and its value may since have
// been removed.
bool ShardReader::is_pinned(const StoredPart& shard) const {
  if (!uses_cached_indexes_) return false;
  const ChunkCache::Item cached = decoder_.find(shard).item;
  return cached && cached->is_pinned() &&
         (!store_.traits().knows_versions || store_.current_version(*shard.key).is_absent());
}

// Fetches all bytes of a shard with a checksum around it and verifies the checksum; false when the
// shard is missing. Offsets in the shard still count from the start of its value.
bool ShardReader::fetch_checked(StoredPart& shard) const {
  if (!shard.bytes) {
    auto bytes = fetch(shard);
    if (!bytes) return false;
    shard.version = shard.value->version();
    if (!shard.is_whole_value()) {
      shard.shard_offset = shard.offset;
      shard.offset = 0;
    }
    shard.length = bytes->size();
    shard.bytes = std::make_shared<const Buffer>(std::move(*bytes));
  }
  shard.chain->check_frame(
      shard.bytes->span().subspan(memory_size(shard.offset), memory_size(shard.length)));
  return true;
}

// Gets the bytes of a shard that its chain compresses as a whole; false when it is missing.
bool ShardReader::decompress(StoredPart& shard) const {
  auto [cached, filling] = decoder_.find_or_start(shard);
  if (!cached) {
    std::optional<Buffer> fetched;
    ByteSpan encoded;
    if (shard.bytes) {
      encoded = shard.bytes->span().subspan(memory_size(shard.offset), memory_size(shard.length));
    } else {
      fetched = fetch(shard);
      if (!fetched) return false;
      encoded = fetched->span();
      shard.version = shard.value->version();
    }
    Buffer decoded = shard.chain->decode_shard(encoded);
    decoded.shrink_to_fit();
    cached = std::make_shared<const CachedChunk>(DecodedChunk{std::move(decoded), {}},
                                                 shard.version, shard.is_pinned());
    decoder_.finish(filling, cached);
  }
  if (cached->is_missing()) return false;
  shard.version = cached->version();
  shard.bytes = elements_of(cached);
  return true;
}

// Null when the shard is missing.
std::shared_ptr<const ShardIndex> ShardReader::read_index(StoredPart& shard,
                                                          const ShardExtent& extent) const {
  if (shard.bytes) {
    return std::make_shared<const ShardIndex>(
        extent.sharding->decode_index(extent.encoded_index(shard.bytes->span())));
  }
  auto [cached, filling] =
      uses_cached_indexes_ ? decoder_.find_or_start(shard) : decoder_.start_again(shard);
  if (!cached) {
    auto fetched = fetch_index(*shard.value, extent, shard.version);
    if (!fetched && !shard.is_whole_value()) throw ValueChanged();
    if (fetched) {
      cached = std::make_shared<const CachedIndex>(std::move(fetched->index),
                                                   shard.value->version(), shard.is_pinned());
    } else {
      cached = std::make_shared<const CachedItem>(ValueVersion::absent());
    }
    // Prefetching tasks request a missing shard once for all of its inner chunks.
    decoder_.finish(filling, cached, fetched || shard.filling != nullptr);
  }
  if (cached->is_missing()) return nullptr;
  shard.version = cached->version();
  return index_of(cached);
}

}  // namespace zarrcore
