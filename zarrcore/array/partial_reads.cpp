// How ChunkReader reads parts of values: the indexes of shards, and the selected elements of chunks
// whose elements stand alone (CodecChain::elements_stand_alone) without the rest.
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

// The decoded index of a shard.
struct CachedIndex final : CachedItem {
  CachedIndex(ShardIndex shard_index, const ValueVersion& version, bool is_pinned)
      : CachedItem(version, is_pinned, Kind::index), index(std::move(shard_index)) {}

  std::uint64_t byte_count() const override { return index.byte_count(); }

  const ShardIndex index;
};

std::shared_ptr<const Buffer> elements_of(const ChunkCache::Item& chunk) {
  return {chunk, &static_cast<const CachedChunk&>(*chunk).all()};
}

std::shared_ptr<const ShardIndex> index_of(const ChunkCache::Item& index) {
  return {index, &static_cast<const CachedIndex&>(*index).index};
}

}  // namespace

std::optional<std::vector<Buffer>> ChunkReader::fetch_from_value(
    const StoredPart& part, std::span<const ByteRange> ranges) {
  return get_ranges_of_version(*part.value, ranges,
                               [&] { return !part.value->version().differs_from(part.version); });
}

// All encoded bytes of a part from its open value; nullopt when they are the value, and it is
// absent.
std::optional<Buffer> ChunkReader::fetch_all(const StoredPart& part) {
  if (part.is_whole_value()) return part.value->get(part.chain->max_encoded_size());
  const ByteRange range = ByteRange::at(part.offset, part.length);
  auto bytes = fetch_from_value(part, {&range, 1});
  if (!bytes) throw ValueChanged();
  return std::move(bytes->front());
}

OpenShard ChunkReader::open_shard(const StoredPart& shard, bool wants_all) const {
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
bool ChunkReader::is_pinned(const StoredPart& shard) const {
  if (!uses_cached_indexes_) return false;
  const ChunkCache::Item cached = decoder_.find(shard).item;
  return cached && cached->is_pinned() &&
         (!store_.traits().knows_versions || store_.current_version(*shard.key).is_absent());
}

// Fetches all bytes of a shard with a checksum around it and verifies the checksum; false when the
// shard is missing. Offsets in the shard still count from the start of its value.
bool ChunkReader::fetch_checked(StoredPart& shard) const {
  if (!shard.bytes) {
    auto bytes = fetch_all(shard);
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
bool ChunkReader::decompress(StoredPart& shard) const {
  auto [cached, filling] = decoder_.find_or_start(shard);
  if (!cached) {
    std::optional<Buffer> fetched;
    ByteSpan encoded;
    if (shard.bytes) {
      encoded = shard.bytes->span().subspan(memory_size(shard.offset), memory_size(shard.length));
    } else {
      fetched = fetch_all(shard);
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
std::shared_ptr<const ShardIndex> ChunkReader::read_index(StoredPart& shard,
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

std::optional<StoredRange> ChunkReader::find_stored_range(const StoredPart& chunk,
                                                          std::span<const std::uint64_t> start) {
  return of_one_version([&]() -> std::optional<StoredRange> {
    StoredPart part = chunk;
    Shape in_part(start.begin(), start.end());
    while (const ShardingCodec* sharding = part.chain->sharding()) {
      const OpenShard shard = open_shard(part, false);
      if (!shard.index) return std::nullopt;
      const std::vector<std::size_t>& order = part.chain->axis_order();
      Shape in_inner;
      std::size_t position = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint64_t length = sharding->inner_shape()[i];
        position = static_cast<std::size_t>(position * sharding->inner_grid()[i] +
                                            in_part[order[i]] / length);
        in_inner.push_back(in_part[order[i]] % length);
      }
      part = {};
      if (!find_inner(shard, position, part)) return std::nullopt;
      in_part = std::move(in_inner);
    }
    if (part.is_whole_value()) return StoredRange{*part.key};
    return StoredRange{*part.key, part.offset, part.length, part.bytes != nullptr};
  });
}

std::vector<ShardIndex::Entry> ChunkReader::inner_chunks(const StoredPart& shard) const {
  std::vector<ShardIndex::Entry> entries;
  const OpenShard open = open_shard(shard, false);
  for (std::size_t i = 0; open.index && i < open.index->size(); ++i) {
    if (const auto entry = open.extent.find(*open.index, i)) entries.push_back(*entry);
  }
  return entries;
}

// The ranges of a chunk that contain the selected elements, if its elements stand alone. Nullopt
// when fetching the whole chunk is better.
std::optional<std::vector<ByteRange>> ChunkReader::ranges_of_elements(
    const StoredPart& part) const {
  const CodecChain& chain = *part.chain;
  if (part.bytes || !chain.elements_stand_alone() || is_whole(part.axes) ||
      part.destination == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t size = chain.decoded_size();
  const std::uint64_t bytes_per_range = store_.traits().bytes_per_range;
  std::vector<ByteRange> ranges;
  std::uint64_t bytes = 0;
  for_each_run(part.axes, chain.stored_spec().shape, decoder_.item_size(), bytes_per_range,
               [&](std::uint64_t offset, std::uint64_t length) {
                 if (bytes > size) return;
                 const std::uint64_t reach =
                     ranges.empty() ? 0 : ranges.back().offset + ranges.back().length;
                 if (ranges.empty() || offset - reach > bytes_per_range) {
                   ranges.push_back(ByteRange::at(offset, length).of_value(size));
                   bytes += length;
                 } else {
                   ranges.back().length += offset + length - reach;
                   bytes += offset + length - reach;
                 }
               });
  // Reads of a chunk in parts, those before this one and those that are expected, must not cost
  // more than fetching the chunk once, which is then cached.
  const std::uint64_t cost = ranges.size() * bytes_per_range;
  if (bytes > size || cost + bytes > size / decoder_.requests_per_chunk()) return std::nullopt;
  const bool is_worth_it = decoder_.cache().spend_on_parts(decoder_.cached(), part.key,
                                                           part.place(), cost, size - bytes);
  if (!is_worth_it) return std::nullopt;
  return ranges;
}

// Fetches the ranges at once, also where a store would request them one after the other.
std::optional<std::vector<Buffer>> ChunkReader::fetch_ranges(const StoredPart& part,
                                                             std::span<const ByteRange> ranges) {
  if (ranges.size() < 2 || !store_.traits().ranges_are_requests) {
    return part.value ? fetch_from_value(part, ranges) : store_.get_ranges(*part.key, ranges);
  }
  const auto value = part.value ? part.value : store_.open(*part.key);
  std::vector<std::optional<std::vector<Buffer>>> fetched(ranges.size());
  parallel_for(ranges.size(), [&](std::size_t i) {
    fetched[i] = part.value ? fetch_from_value(part, ranges.subspan(i, 1))
                            : value->get_ranges(ranges.subspan(i, 1));
  });
  std::vector<Buffer> parts;
  for (auto& one : fetched) {
    if (one) parts.push_back(std::move(one->front()));
  }
  if (parts.empty()) return std::nullopt;
  if (parts.size() < ranges.size()) throw ValueChanged();
  return parts;
}

// Reads the selected elements of a chunk without the rest; false when that is impossible or not
// worth it.
bool ChunkReader::read_elements(const StoredPart& part) {
  const auto ranges = ranges_of_elements(part);
  if (!ranges) return false;
  const CodecChain& chain = *part.chain;
  std::vector<ByteRange> in_value = *ranges;
  if (!part.is_whole_value()) {
    check_size("the chunk has ", part.length, chain.decoded_size());
    for (ByteRange& range : in_value) {
      range = ByteRange::at(part.offset + range.offset, range.length);
    }
  }
  auto parts = [&] {
    const MeasuredStage fetching = measure(&ReadStatistics::fetch_nanoseconds);
    return fetch_ranges(part, in_value);
  }();
  if (!parts && !part.is_whole_value()) throw shard_removed();
  if (!parts) {
    fill_missing(part, [] { return std::string("it"); });
    return true;
  }
  count_chunks(options_.statistics, &ReadStatistics::fetched_chunks);
  const MeasuredStage decoding = measure(&ReadStatistics::decode_nanoseconds);
  decoder_.place_elements(part, *ranges, *parts);
  count_chunks(options_.statistics, &ReadStatistics::decoded_chunks);
  return true;
}

}  // namespace zarrcore
