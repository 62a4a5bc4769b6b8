#include "zarrcore/array/shard_reader.h"

#include <string>
#include <utility>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

std::shared_ptr<const Buffer> elements_of(const std::shared_ptr<const CachedChunk>& chunk) {
  return {chunk, &chunk->all()};
}

std::shared_ptr<const ShardIndex> index_of(const std::shared_ptr<const CachedIndex>& cached) {
  return {cached, &cached->index};
}

// The name of a shard inside of a shard, for parts of it whose offsets count from its start.
std::shared_ptr<const std::string> inner_shard_key(const StoredPart& shard) {
  return std::make_shared<const std::string>(
      std::string(*shard.key).append(kInnerShard).append(std::to_string(shard.offset)));
}

// All encoded bytes of a part from its open value; nullopt when the value is absent.
std::optional<Buffer> fetch(const StoredPart& part) {
  if (part.is_whole_value()) return part.value->get(part.chain->max_encoded_size());
  const ByteRange range = ByteRange::at(part.offset, part.length);
  auto bytes = ShardReader::fetch_ranges(part, {&range, 1});
  if (!bytes) return std::nullopt;
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
      [&] { return "shard " + *shard.key; },
      [&] {
        OpenShard opened{shard, {shard.chain->sharding(), shard.chain->framing()}, nullptr};
        StoredPart& part = opened.part;
        if (!part.bytes && !part.value) part.value = store_.open(*part.key);
        if (!part.chain->shard_is_addressable()) {
          if (!decompress(part)) return opened;
          // From here on, offsets count within this shard: its place belongs to the key.
          if (!shard.is_whole_value()) part.key = inner_shard_key(shard);
          part.offset = 0;
          part.length = part.bytes->size();
          opened.extent.framing = {};
        } else if (wants_all && !part.chain->shard_is_bare() && part.destination != nullptr &&
                   !is_prefetched(part) && !fetch_checked(part)) {
          return opened;
        }
        opened.extent.offset = part.offset;
        if (!part.is_whole_value()) opened.extent.length = part.length;
        opened.index = read_index(part, opened.extent);
        return opened;
      });
}

bool ShardReader::has_index(const StoredPart& shard) const {
  return context_.shard_indexes.find(decoder_.cache_key(shard)) != nullptr;
}

// Whether the inner chunks of a shard have been prefetched, and its value may since have been
// removed.
bool ShardReader::is_prefetched(const StoredPart& shard) const {
  if (!uses_cached_indexes_) return false;
  const auto cached = context_.shard_indexes.find(decoder_.cache_key(shard));
  return cached && cached->state.is_prefetched() &&
         (!store_.traits().knows_versions || store_.current_version(*shard.key).is_absent());
}

// Fetches all bytes of a shard with a checksum around it and verifies the checksum; false when the
// shard is missing. Offsets in the shard still count from the start of its value.
bool ShardReader::fetch_checked(StoredPart& shard) const {
  if (!shard.bytes) {
    auto bytes = fetch(shard);
    if (!bytes && !shard.is_whole_value()) throw ValueChanged();
    if (!bytes) return false;
    shard.version = shard.value->version();
    if (!shard.is_whole_value()) {
      shard.key = inner_shard_key(shard);
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
  if (const auto cached = decoder_.find_cached(shard)) {
    shard.version = cached->state().version();
    shard.bytes = elements_of(cached);
    return true;
  }
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
  const auto bytes = std::make_shared<const CachedChunk>(
      DecodedChunk{std::move(decoded), {}}, KeptState{shard.version, shard.is_prefetched()});
  decoder_.cache(shard, bytes);
  shard.bytes = elements_of(bytes);
  return true;
}

std::shared_ptr<const ShardIndex> ShardReader::read_index(StoredPart& shard,
                                                          const ShardExtent& extent) const {
  if (shard.bytes) {
    return std::make_shared<const ShardIndex>(
        extent.sharding->decode_index(extent.encoded_index(shard.bytes->span())));
  }
  const CacheKey key = decoder_.cache_key(shard);
  const bool is_outermost = shard.is_whole_value();
  if (const auto cached = context_.shard_indexes.find(key); cached && uses_cached_indexes_) {
    const bool is_current = is_outermost
                                ? cached->state.is_current(store_, *shard.key, decoder_.moment())
                                : cached->state.is_good_for(shard.version);
    if (is_current) {
      shard.version = cached->state.version();
      return index_of(cached);
    }
  }
  auto fetched = fetch_index(*shard.value, extent, shard.version);
  if (!fetched && !is_outermost) throw ValueChanged();
  if (!fetched) return nullptr;
  shard.version = shard.value->version();
  const auto index = std::make_shared<const CachedIndex>(
      CachedIndex{std::move(fetched->index), KeptState(shard.version, shard.is_prefetched())});
  context_.shard_indexes.insert(key, index, index->index.byte_count(), 0, erasures_);
  return index_of(index);
}

}  // namespace zarrcore
