#include "zarrcore/array/chunk_reader.h"

#include <algorithm>
#include <tuple>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// The most bytes that neighbouring parts are fetched with in one request.
constexpr std::uint64_t kMaxFetchBytes = 4 << 20;
// The most bytes of shard indexes that are in use at once.
constexpr std::uint64_t kMaxIndexBytes = 64 << 20;
// The same for shards that are fetched as a whole, by their decoded size.
constexpr std::uint64_t kMaxShardBytes = 256 << 20;

// Waking another thread takes about as long as decoding or copying this much.
constexpr std::uint64_t kMinBytesPerThread = 64 << 10;

// Returns true if the part may be fetched together with its neighbours in the same value.
bool is_range_of_value(const StoredPart& part) {
  return !part.is_whole_value() && !part.bytes;
}

bool is_before(const StoredPart& a, const StoredPart& b) {
  if (a.key == b.key) return a.offset < b.offset;
  return std::tie(*a.key, a.offset) < std::tie(*b.key, b.offset);
}

// The number of parts at the start that belong to the same shard.
std::size_t count_of_shard(std::span<const StoredPart> parts) {
  const auto other = std::ranges::find_if(parts, [&first = parts.front()](const StoredPart& part) {
    return part.position != first.position || (part.key != first.key && *part.key != *first.key);
  });
  return static_cast<std::size_t>(other - parts.begin());
}

}  // namespace

ChunkReader::ChunkReader(const ArrayState& array, CachedArray& cached,
                         const ElementConverter* converter, const ReadOptions& options,
                         AccessPattern::Request* request)
    : prefix_(array.metadata.chunk_prefix),
      store_(*array.store),
      pool_(array.context->pool),
      options_(options),
      decoder_(array, cached, converter, std::clamp<std::size_t>(options.threads, 1, kBatchSize),
               options.waits_for_others, request) {}

std::size_t ChunkReader::workers() const {
  return std::clamp<std::size_t>(std::max(options_.threads, store_.traits().parallel_requests), 1,
                                 kBatchSize);
}

void ChunkReader::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  pool_.parallel_for(count, workers(), body, options_.worker_scope);
}

void ChunkReader::decode(Missed& missed, ChunkDecoder::Encoded encoded, DecodedChunk& scratch) {
  const MeasuredStage decoding = measure(&ReadStatistics::decode_nanoseconds);
  const StoredPart& part = *missed.part;
  decoder_.decode(part, encoded, part.filling != nullptr ? *part.filling : missed.filling,
                  missed.is_known, scratch);
  count_chunks(options_.statistics, &ReadStatistics::decoded_chunks);
}

void ChunkReader::read(std::vector<StoredPart> parts) {
  const auto check_node = [this] { store_.check_node(prefix_); };
  try {
    of_one_version([&] { read_parts(parts); });
  } catch (const Error&) {
    check_node();  // tells the cause
    throw;
  }
  check_node();
}

void ChunkReader::read_parts(std::span<StoredPart> parts) {
  const auto shards = std::stable_partition(parts.begin(), parts.end(), [](const StoredPart& part) {
    return part.chain->sharding() == nullptr;
  });
  read_chunks({parts.begin(), shards});
  read_shards({shards, parts.end()});
}

void ChunkReader::read_shards(std::span<StoredPart> parts) {
  if (parts.empty()) return;
  if (parts.front().filling != nullptr) std::ranges::stable_sort(parts, is_before);
  std::vector<StoredPart> inner;
  const auto read_inner = [&] {
    read_parts(inner);
    inner.clear();
  };
  // Shards inside of shards are in values that are already open.
  const std::size_t max_open = parts[0].value ? SIZE_MAX : store_.traits().max_open_values;
  std::size_t open_count = 0;  // the number of values that the parts in `inner` hold open
  while (!parts.empty()) {
    std::vector<NeededShard> shards;
    std::uint64_t index_bytes = 0;
    std::uint64_t shard_bytes = 0;
    while (!parts.empty() && (shards.empty() || open_count + shards.size() < max_open)) {
      const CodecChain& chain = *parts.front().chain;
      index_bytes += chain.sharding()->encoded_index_size();
      if (!chain.shard_is_bare()) shard_bytes += chain.decoded_size();
      if (!shards.empty() && (index_bytes > kMaxIndexBytes || shard_bytes > kMaxShardBytes)) break;
      const std::size_t count = count_of_shard(parts);
      shards.push_back({parts.first(count), {}});
      parts = parts.subspan(count);
    }
    open_shards(shards);
    for (NeededShard& shard : shards) {
      for (const StoredPart& part : shard.parts) {
        if (shard.opened.index) {
          expand(shard.opened, part, inner);
        } else {
          fill_missing(part, [&] { return "shard " + part.name(); });
        }
      }
      shard.opened = {};
    }
    open_count += shards.size();
    if (open_count >= max_open || shard_bytes > 0) {
      read_inner();
      open_count = 0;
    }
  }
  read_inner();
}

void ChunkReader::open_shards(std::span<NeededShard> shards) {
  const auto open = [&](std::size_t i) {
    const StoredPart& part = shards[i].parts.front();
    const MeasuredStage fetching = measure(&ReadStatistics::fetch_nanoseconds);
    shards[i].opened = open_shard(part, is_whole(part.axes));
  };
  const auto has_index = [&](const NeededShard& shard) {
    const StoredPart& part = shard.parts.front();
    return decoder_.cache().has(decoder_.cached(), part.key, part.place());
  };
  if (takes_little_copying({shards.front().parts.begin(), shards.back().parts.end()}) &&
      std::ranges::all_of(shards, has_index)) {
    for (std::size_t i = 0; i < shards.size(); ++i) open(i);
  } else {
    parallel_for(shards.size(), open);
  }
}

bool ChunkReader::find_inner(const OpenShard& shard, std::size_t position, StoredPart& part) {
  part.chain = {shard.part.chain, &shard.extent.sharding->inner_chain()};
  part.key = shard.part.key;
  part.position = shard.part.position * shard.extent.sharding->inner_count() + position;
  part.shard_offset = shard.part.shard_offset;
  part.value = shard.part.value;
  part.version = shard.part.version;
  part.bytes = shard.part.bytes;
  const auto entry = with_context([&] { return "shard " + part.name(); },
                                  [&] { return shard.extent.find(*shard.index, position); });
  if (!entry) return false;
  part.offset = entry->offset;
  part.length = entry->length;
  return true;
}

void ChunkReader::expand(const OpenShard& shard, const StoredPart& outer,
                         std::vector<StoredPart>& parts) {
  for_each_inner_chunk(*shard.extent.sharding, outer.axes, [&](StoredSlice inner) {
    StoredPart part;
    if (outer.destination != nullptr) part.destination = outer.destination + inner.offset;
    part.filling = outer.filling;
    part.axes = std::move(inner.axes);
    if (!find_inner(shard, inner.position, part)) {
      fill_missing(part, [&] {
        return "inner chunk " + std::to_string(inner.position) + " of shard " + part.name();
      });
      return;
    }
    parts.push_back(std::move(part));
    if (parts.size() == kBatchSize) {
      read_parts(parts);
      parts.clear();
    }
  });
}

void ChunkReader::read_chunks(std::span<StoredPart> chunks) {
  if (chunks.empty()) return;
  const auto is_ready = [this](const StoredPart& part) {
    // The reader repeats parts when the store has replaced a value.
    if (part.filling != nullptr) return !*part.filling;
    return is_done(part, decoder_.copy_from_cache(part, false).cached);
  };
  if (chunks.front().filling != nullptr || takes_little_copying(chunks)) {
    const auto others = std::stable_partition(chunks.begin(), chunks.end(), is_ready);
    chunks = {others, chunks.end()};
  }
  if (chunks.empty()) return;
  const std::vector<Parts> fetches = make_fetches(chunks);
  // First, as the store may see only now that its values are on the network.
  std::vector<std::string_view> whole;
  for (const StoredPart& part : chunks) {
    if (part.is_whole_value() && !part.bytes) whole.emplace_back(*part.key);
  }
  const auto expected = whole.size() > 1 ? store_.expect(whole) : nullptr;
  const bool is_little = store_.traits().parallel_requests == 1 &&
                         chunks.front().chain->decoded_size() <= kMinBytesPerThread / chunks.size();
  const bool is_one = chunks.size() == 1 && !is_little && options_.threads > 1;
  decoder_.decode_blocks(
      !is_one ? CachedChunk::Together() : [this](std::size_t n, const auto& body) {
        pool_.parallel_for(n, options_.threads, body, options_.worker_scope);
      });
  const auto read = [&](std::size_t i) { read_together(fetches[i]); };
  pool_.parallel_for(fetches.size(), is_little ? 1 : workers(), read, options_.worker_scope);
}

// Returns true if copying all that is selected takes less than waking another thread.
bool ChunkReader::takes_little_copying(Parts parts) const {
  if (workers() == 1 || store_.traits().parallel_requests > 1) return false;
  std::uint64_t bytes = 0;
  for (const StoredPart& part : parts) {
    bytes += decoder_.item_size() * element_count(part.axes);
    if (bytes > kMinBytesPerThread) return false;
  }
  return true;
}

// Sorts the inner chunks of each shard by offset and fetches neighbours together, but not so many
// that threads would be idle, unless the chunks are too small to share.
std::vector<ChunkReader::Parts> ChunkReader::make_fetches(std::span<StoredPart> chunks) const {
  std::uint64_t total = 0;
  for (const StoredPart& part : chunks) {
    if (is_range_of_value(part)) total += std::min(part.length, kMaxFetchBytes);
  }
  if (total > 0 && !std::is_sorted(chunks.begin(), chunks.end(), is_before)) {
    std::stable_sort(chunks.begin(), chunks.end(), is_before);
  }
  const std::uint64_t max_gap = store_.traits().bytes_per_range;
  const std::uint64_t max_bytes =
      std::min(kMaxFetchBytes, std::max(max_gap, total / (2 * workers())));
  std::vector<Parts> fetches;
  for (std::size_t first = 0, end = 0; first < chunks.size(); first = end) {
    end = first + 1;
    std::uint64_t reach = chunks[first].offset + chunks[first].length;
    while (end < chunks.size() && is_range_of_value(chunks[first])) {
      const StoredPart& next = chunks[end];
      if (next.value != chunks[first].value || !is_range_of_value(next)) break;
      if (next.offset > reach && next.offset - reach > max_gap) break;
      const std::uint64_t next_reach = std::max(reach, next.offset + next.length);
      if (next_reach - chunks[first].offset > max_bytes) break;
      reach = next_reach;
      ++end;
    }
    fetches.emplace_back(chunks.subspan(first, end - first));
  }
  return fetches;
}

bool ChunkReader::is_done(const StoredPart& part, ChunkDecoder::Cached cached) const {
  switch (cached) {
    case ChunkDecoder::Cached::is_copied:
      count_chunks(options_.statistics, &ReadStatistics::cached_chunks);
      return true;
    case ChunkDecoder::Cached::was_prefetched:
      count_chunks(options_.statistics, &ReadStatistics::fetched_chunks);
      count_chunks(options_.statistics, &ReadStatistics::decoded_chunks);
      return true;
    case ChunkDecoder::Cached::is_missing:
      if (options_.missing_chunks_are_errors) return false;
      fill_missing(part, [&] { return "chunk " + part.name(); });
      return true;
    default:
      return false;
  }
}

void ChunkReader::read_together(Parts parts) {
  std::vector<Missed> missed;
  missed.reserve(parts.size());
  // Other threads fill these entries. This thread holds no unfilled entry while it waits.
  std::vector<std::pair<const StoredPart*, std::shared_ptr<ChunkCache::Entry>>> pending;
  for (const StoredPart& part : parts) {
    ChunkDecoder::Lookup lookup;
    if (part.filling == nullptr) lookup = decoder_.copy_from_cache(part, true);
    if (lookup.pending) {
      pending.emplace_back(&part, std::move(lookup.pending));
    } else if (!is_done(part, lookup.cached)) {
      missed.push_back(
          {&part, lookup.cached == ChunkDecoder::Cached::is_elsewhere, std::move(lookup.filling)});
    }
  }
  if (!missed.empty()) {
    with_context([&] { return "chunk " + missed.front().part->name(); },
                 [&] { fetch_together(missed); });
    missed.clear();
  }
  for (const auto& [part, entry] : pending) {
    const ChunkCache::Item item = decoder_.cache().wait(*entry, help_);
    // It may not have stayed in the cache.
    if (decoder_.cache().has(decoder_.cached(), part->key, part->place()) ||
        !is_done(*part, decoder_.copy_item(*part, item, true))) {
      read_together({part, 1});
    }
  }
}

void ChunkReader::fetch_together(std::span<Missed> parts) {
  const StoredPart& first = *parts.front().part;
  if (parts.size() == 1 && read_elements(first)) return;
  for (Missed& missed : parts) {
    const StoredPart& part = *missed.part;
    if (part.filling == nullptr && !missed.filling && decoder_.may_cache(part)) {
      missed.filling = decoder_.start_again(part).filling;
    }
  }
  if (first.is_whole_value() && !first.bytes) {
    // Only cached chunks need a version.
    const auto value = decoder_.may_cache(first) ? store_.open(*first.key) : nullptr;
    const std::uint64_t max_size = first.chain->max_encoded_size();
    auto encoded = [&] {
      const MeasuredStage fetching = measure(&ReadStatistics::fetch_nanoseconds);
      return value ? value->get(max_size) : store_.get(*first.key, max_size);
    }();
    if (!encoded) {
      decoder_.finish(parts.front().filling,
                      std::make_shared<const CachedItem>(ValueVersion::absent()), false);
      fill_missing(first, [] { return std::string("it"); });
      return;
    }
    count_chunks(options_.statistics, &ReadStatistics::fetched_chunks);
    decoder_.with_scratch([&](DecodedChunk& scratch) {
      decode(parts.front(), {encoded->span(), &*encoded, value ? value->version() : ValueVersion()},
             scratch);
    });
    return;
  }
  std::shared_ptr<const Buffer> bytes = first.bytes;
  std::uint64_t start = 0;
  if (!bytes) {
    start = first.offset;
    std::uint64_t end = 0;
    for (const Missed& missed : parts) {
      end = std::max(end, missed.part->offset + missed.part->length);
    }
    const ByteRange range = ByteRange::at(start, end - start);
    const MeasuredStage fetching = measure(&ReadStatistics::fetch_nanoseconds);
    auto fetched = fetch_from_value(first, {&range, 1});
    if (!fetched) throw shard_removed();
    count_chunks(options_.statistics, &ReadStatistics::fetched_chunks, parts.size());
    bytes = std::make_shared<const Buffer>(std::move(fetched->front()));
  }
  decoder_.with_scratch([&](DecodedChunk& scratch) {
    for (Missed& missed : parts) {
      const StoredPart& part = *missed.part;
      with_context({"inner chunk at offset ", part.offset}, [&] {
        const ByteSpan encoded =
            bytes->span().subspan(memory_size(part.offset - start), memory_size(part.length));
        decode(missed, {encoded}, scratch);
      });
    }
  });
}

void ChunkReader::fill_missing(const StoredPart& part,
                               const std::function<std::string()>& name) const {
  if (part.filling != nullptr) {
    // The index states which inner chunks are missing: nothing is cached for them.
    if (part.is_whole_value() && part.chain->sharding() == nullptr) {
      decoder_.finish(*part.filling, std::make_shared<const CachedItem>(ValueVersion::absent()));
    }
    return;
  }
  if (options_.missing_chunks_are_errors) throw Error(name() + " is missing");
  count_chunks(options_.statistics, &ReadStatistics::missing_chunks);
  decoder_.fill(part);
}

}  // namespace zarrcore
