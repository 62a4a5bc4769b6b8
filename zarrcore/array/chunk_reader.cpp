#include "zarrcore/array/chunk_reader.h"

#include <algorithm>
#include <tuple>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/size_checks.h"

namespace zarrcore {
namespace {

// The most bytes of one such read.
constexpr std::uint64_t kMaxGroupBytes = 4 << 20;
// Shard indexes held at once while shards are resolved.
constexpr std::uint64_t kMaxIndexBytes = 64 << 20;
// The same of shards that are fetched as a whole, by their decoded size.
constexpr std::uint64_t kMaxShardBytes = 256 << 20;

// Whether neighbours of the part may be fetched together with it.
bool is_range_of_value(const ChunkPart& part) {
  return !part.is_whole_value() && !part.bytes;
}

std::shared_ptr<const Buffer> elements_of(const std::shared_ptr<const CachedChunk>& chunk) {
  return {chunk, &chunk->all()};
}

std::shared_ptr<const ShardIndex> index_of(const std::shared_ptr<const CachedIndex>& cached) {
  return {cached, &cached->index};
}

}  // namespace

ChunkReader::ChunkReader(Store& store, Context& context, std::uint64_t array_id,
                         std::span<const std::byte> fill_value, std::uint64_t item_size,
                         const ElementConverter* converter, const ReadOptions& options)
    : store_(store),
      context_(context),
      options_(options),
      workers_(std::clamp<std::size_t>(std::max(options.threads, store.parallel_requests()), 1,
                                       kBatchSize)),
      decoder_(store, context, array_id, fill_value, item_size, converter,
               std::clamp<std::size_t>(options.threads, 1, kBatchSize)) {}

void ChunkReader::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  context_.pool.parallel_for(count, workers_, body, options_.worker_scope);
}

void ChunkReader::read(std::vector<ChunkPart> parts) {
  try {
    read_parts(parts);
  } catch (const ValueChanged&) {
    uses_cached_indexes_ = false;
    read_parts(parts);
    uses_cached_indexes_ = true;
  }
}

void ChunkReader::read_parts(std::span<ChunkPart> parts) {
  const auto shards = std::stable_partition(parts.begin(), parts.end(), [](const ChunkPart& part) {
    return part.chain->sharding() == nullptr;
  });
  read_chunks({parts.begin(), shards});
  read_shards({shards, parts.end()});
}

std::optional<StoredBlock> ChunkReader::find_block(ChunkPart chunk,
                                                   std::vector<std::uint64_t> start) const {
  while (const ShardingCodec* sharding = chunk.chain->sharding()) {
    if (!chunk.chain->shard_is_addressable()) return std::nullopt;
    const OpenShard shard = open_shard(chunk, false);
    if (!shard.index) return std::nullopt;
    const std::vector<std::size_t>& order = chunk.chain->axis_order();
    std::vector<std::uint64_t> inner_start;
    std::size_t position = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint64_t length = sharding->inner_shape()[i];
      position = position * sharding->inner_grid()[i] + start[order[i]] / length;
      inner_start.push_back(start[order[i]] % length);
    }
    const ShardIndex::Entry entry = shard.index->at(position);
    if (!entry.is_present()) return std::nullopt;
    chunk.chain = &sharding->inner_chain();
    chunk.offset += shard.framing.prefix + entry.offset;
    chunk.length = entry.length;
    start = std::move(inner_start);
  }
  if (chunk.is_whole_value()) return StoredBlock{*chunk.key};
  return StoredBlock{*chunk.key, chunk.offset, chunk.length};
}

void ChunkReader::read_shards(std::span<const ChunkPart> shards) {
  if (shards.empty()) return;
  std::vector<ChunkPart> inner;
  const auto read_inner = [&] {
    read_parts(inner);
    inner.clear();
  };
  // Shards inside of others are parts of values that are open already.
  const std::size_t max_open = shards[0].value ? SIZE_MAX : store_.max_open_values();
  std::size_t open_count = 0;  // values that the parts in `inner` keep open
  while (!shards.empty()) {
    const CodecChain& chain = *shards[0].chain;
    const std::uint64_t index_bytes = chain.sharding()->encoded_index_size();
    std::uint64_t limit = std::min<std::uint64_t>(
        kMaxIndexBytes / std::max<std::uint64_t>(1, index_bytes), max_open - open_count);
    if (!chain.shard_is_bare()) {
      limit = std::min(limit, kMaxShardBytes / std::max<std::uint64_t>(1, chain.decoded_size()));
    }
    const auto together =
        static_cast<std::size_t>(std::clamp<std::uint64_t>(limit, 1, shards.size()));
    std::vector<OpenShard> opened(together);
    parallel_for(together, [&](std::size_t i) {
      opened[i] = open_shard(shards[i], is_whole(shards[i].axes));
    });
    for (OpenShard& shard : opened) {
      if (shard.index) {
        expand(shard, inner);
      } else {
        decoder_.fill(shard.part);
      }
      shard = {};
    }
    shards = shards.subspan(together);
    open_count += together;
    if (open_count >= max_open || !chain.shard_is_bare()) {
      read_inner();
      open_count = 0;
    }
  }
  read_inner();
}

ChunkReader::OpenShard ChunkReader::open_shard(const ChunkPart& shard, bool wants_all) const {
  return with_context(
      [&] { return "shard " + *shard.key; },
      [&] {
        OpenShard opened{shard, shard.chain->framing(), nullptr};
        if (!shard.bytes && !shard.value) opened.part.value = store_.open(*shard.key);
        if (!shard.chain->shard_is_addressable()) {
          if (!decompress_shard(opened.part)) return opened;
          if (!shard.is_whole_value()) {
            // Offsets count within this shard from here on: its place is part of what they mean.
            opened.part.key = std::make_shared<const std::string>(
                *shard.key + ", inner shard at offset " + std::to_string(shard.offset));
          }
          opened.part.offset = 0;
          opened.part.length = opened.part.bytes->size();
          opened.framing = {};
        } else if (wants_all && !shard.chain->shard_is_bare() && shard.destination != nullptr &&
                   !is_prefetched(opened.part) && !fetch_checked(opened.part)) {
          return opened;
        }
        opened.index = read_index(opened);
        return opened;
      });
}

// Whether the inner chunks of a shard that may have been removed are in the cache.
bool ChunkReader::is_prefetched(const ChunkPart& shard) const {
  if (!uses_cached_indexes_) return false;
  const auto cached = context_.shard_indexes.find(decoder_.cache_key(shard));
  return cached && cached->state.is_prefetched &&
         (!store_.knows_versions() || store_.current_version(*shard.key).is_absent());
}

// Gets all bytes of a shard with a checksum around it, and checks that; false when it is absent.
// The offsets in the shard stay those in its value.
bool ChunkReader::fetch_checked(ChunkPart& shard) const {
  if (!shard.bytes) {
    auto bytes = fetch(shard);
    if (!bytes && !shard.is_whole_value()) throw ValueChanged();
    if (!bytes) return false;
    shard.version = shard.value->version();
    if (!shard.is_whole_value()) {
      shard.key = std::make_shared<const std::string>(*shard.key + ", inner shard at offset " +
                                                      std::to_string(shard.offset));
      shard.offset = 0;
    }
    shard.length = bytes->size();
    shard.bytes = std::make_shared<const Buffer>(std::move(*bytes));
  }
  shard.chain->check_frame(shard.bytes->span().subspan(shard.offset, shard.length));
  return true;
}

// Gives a shard that its chain keeps compressed as a whole its bytes; false when it is absent.
bool ChunkReader::decompress_shard(ChunkPart& shard) const {
  const CacheKey key = decoder_.cache_key(shard);
  if (const auto cached = decoder_.find_cached(shard)) {
    shard.version = cached->state().version;
    shard.bytes = elements_of(cached);
    return true;
  }
  std::optional<Buffer> fetched;
  ByteSpan encoded;
  if (shard.bytes) {
    encoded = shard.bytes->span().subspan(shard.offset, shard.length);
  } else {
    fetched = fetch(shard);
    if (!fetched) return false;
    encoded = fetched->span();
    shard.version = shard.value->version();
  }
  Buffer decoded = shard.chain->decode_shard(encoded);
  decoded.shrink_to_fit();
  const auto bytes = std::make_shared<const CachedChunk>(
      DecodedChunk{std::move(decoded), {}}, KeptState{shard.version, shard.destination == nullptr});
  context_.chunks.insert(key, bytes, bytes->byte_count(), decoder_.request());
  shard.bytes = elements_of(bytes);
  return true;
}

// The encoded bytes of a part from its open value; nothing when the value is absent.
std::optional<Buffer> ChunkReader::fetch(const ChunkPart& part) const {
  if (part.is_whole_value()) return part.value->get(part.chain->max_encoded_size());
  const ByteRange range = ByteRange::at(part.offset, part.length);
  auto bytes = fetch_ranges(part, {&range, 1});
  if (!bytes) return std::nullopt;
  return std::move(bytes->front());
}

// Ranges of the state of the value that the part is of. Throws ValueChanged when there is another.
std::optional<std::vector<Buffer>> ChunkReader::fetch_ranges(
    const ChunkPart& part, std::span<const ByteRange> ranges) const {
  const auto check = [&] {
    if (part.value->version().differs_from(part.version)) throw ValueChanged();
  };
  try {
    auto parts = part.value->get_ranges(ranges);
    check();
    return parts;
  } catch (const Error&) {
    check();  // ranges of a longer value are outside of a shorter one
    throw;
  }
}

std::shared_ptr<const ShardIndex> ChunkReader::read_index(OpenShard& shard) const {
  ChunkPart& part = shard.part;
  const ShardingCodec& sharding = *part.chain->sharding();
  const std::uint64_t size = sharding.encoded_index_size();
  ByteRange range = sharding.index_at_end() ? ByteRange::suffix(size + shard.framing.suffix)
                                            : ByteRange::at(shard.framing.prefix, size);
  if (!part.is_whole_value()) {
    if (part.length < shard.framing.prefix + size + shard.framing.suffix) {
      throw Error("a shard of " + std::to_string(part.length) +
                  " bytes is too short for its index of " + std::to_string(size));
    }
    range = ByteRange::at(
        part.offset + (sharding.index_at_end() ? part.length - shard.framing.suffix - size
                                               : shard.framing.prefix),
        size);
  }
  if (part.bytes) {
    return std::make_shared<const ShardIndex>(
        sharding.decode_index(part.bytes->span().subspan(range.offset, size)));
  }
  const CacheKey key = decoder_.cache_key(part);
  const bool is_outermost = part.is_whole_value();
  if (const auto cached = context_.shard_indexes.find(key); cached && uses_cached_indexes_) {
    const ValueVersion current = is_outermost ? store_.current_version(*part.key) : part.version;
    if (cached->state.is_good_for(current)) {
      part.version = cached->state.version;
      return index_of(cached);
    }
  }
  const auto bytes = fetch_ranges(part, {&range, 1});
  if (!bytes && !is_outermost) throw ValueChanged();
  if (!bytes) return nullptr;
  part.version = part.value->version();
  const auto read = std::make_shared<const CachedIndex>(
      CachedIndex{sharding.decode_index(bytes->front().span().first(size)),
                  {part.version, part.destination == nullptr}});
  context_.shard_indexes.insert(key, read, read->index.byte_count());
  return index_of(read);
}

void ChunkReader::expand(const OpenShard& shard, std::vector<ChunkPart>& parts) {
  const ChunkPart& outer = shard.part;
  const ShardingCodec& sharding = *outer.chain->sharding();
  const CodecChain& inner_chain = sharding.inner_chain();
  const std::uint64_t payload = outer.offset + shard.framing.prefix;
  const std::uint64_t payload_length =
      outer.is_whole_value() ? UINT64_MAX - payload
                             : outer.length - shard.framing.prefix - shard.framing.suffix;
  for_each_inner_chunk(sharding, outer.axes, [&](InnerSlice inner) {
    ChunkPart part;
    part.chain = &inner_chain;
    part.key = outer.key;
    part.value = outer.value;
    part.version = outer.version;
    part.bytes = outer.bytes;
    if (outer.destination != nullptr) part.destination = outer.destination + inner.offset;
    part.axes = std::move(inner.axes);
    const ShardIndex::Entry entry = shard.index->at(inner.position);
    if (!entry.is_present()) {
      decoder_.fill(part);
      return;
    }
    with_context([&] { return "shard " + *outer.key; },
                 [&] { sharding.check_entry(inner.position, entry, payload_length); });
    part.offset = payload + entry.offset;
    part.length = entry.length;
    parts.push_back(std::move(part));
    if (parts.size() == kBatchSize) {
      read_parts(parts);
      parts.clear();
    }
  });
}

void ChunkReader::read_chunks(std::span<ChunkPart> chunks) {
  const std::vector<Group> groups = make_groups(chunks);
  // To wake another thread takes as long as to decode this much.
  constexpr std::uint64_t kMinBytesPerThread = 64 << 10;
  const bool is_little = !chunks.empty() && store_.parallel_requests() == 1 &&
                         chunks.front().chain->decoded_size() <= kMinBytesPerThread / chunks.size();
  if (is_little) {
    for (const Group& group : groups) read_group(group);
  } else {
    parallel_for(groups.size(), [&](std::size_t i) { read_group(groups[i]); });
  }
}

// Sorts the inner chunks of each shard by offset and puts neighbours together, but never so many
// that a thread would have nothing to do, unless they are too small to share.
std::vector<ChunkReader::Group> ChunkReader::make_groups(std::span<ChunkPart> chunks) const {
  std::uint64_t total = 0;
  for (const ChunkPart& part : chunks) {
    if (is_range_of_value(part)) total += std::min(part.length, kMaxGroupBytes);
  }
  if (total > 0) {
    std::stable_sort(chunks.begin(), chunks.end(), [](const ChunkPart& a, const ChunkPart& b) {
      return std::tie(*a.key, a.offset) < std::tie(*b.key, b.offset);
    });
  }
  const std::uint64_t max_gap = store_.bytes_per_range();
  const std::uint64_t max_bytes =
      std::min(kMaxGroupBytes, std::max(max_gap, total / (2 * workers_)));

  std::vector<Group> groups;
  for (std::size_t first = 0; first < chunks.size();) {
    std::size_t end = first + 1;
    std::uint64_t reach = chunks[first].offset + chunks[first].length;
    while (end < chunks.size() && is_range_of_value(chunks[first])) {
      const ChunkPart& next = chunks[end];
      if (*next.key != *chunks[first].key || !is_range_of_value(next)) break;
      if (next.offset > reach && next.offset - reach > max_gap) break;
      const std::uint64_t next_reach = std::max(reach, next.offset + next.length);
      if (next_reach - chunks[first].offset > max_bytes) break;
      reach = next_reach;
      ++end;
    }
    groups.emplace_back(chunks.subspan(first, end - first));
    first = end;
  }
  return groups;
}

void ChunkReader::read_group(Group group) {
  std::vector<const ChunkPart*> wanted;
  for (const ChunkPart& part : group) {
    if (!decoder_.copy_from_cache(part)) wanted.push_back(&part);
  }
  if (wanted.empty()) return;
  const ChunkPart& first = *wanted.front();
  with_context(
      [&] { return "chunk " + *first.key; },
      [&] {
        if (wanted.size() == 1 && read_elements(first)) return;
        if (first.is_whole_value() && !first.bytes) {
          // A version is of use for what the cache keeps.
          const bool is_kept = !is_whole(first.axes) || first.destination == nullptr;
          const auto value = is_kept ? store_.open(*first.key) : nullptr;
          const std::uint64_t max_size = first.chain->max_encoded_size();
          auto encoded = value ? value->get(max_size) : store_.get(*first.key, max_size);
          if (!encoded) {
            decoder_.fill(first);
            return;
          }
          decoder_.decode(first,
                          {encoded->span(), &*encoded, value ? value->version() : ValueVersion()});
          return;
        }
        std::shared_ptr<const Buffer> bytes = first.bytes;
        std::uint64_t start = 0;
        if (!bytes) {
          start = first.offset;
          std::uint64_t end = 0;
          for (const ChunkPart* part : wanted) end = std::max(end, part->offset + part->length);
          const ByteRange range = ByteRange::at(start, end - start);
          auto fetched = fetch_ranges(first, {&range, 1});
          if (!fetched) throw ValueChanged();
          bytes = std::make_shared<const Buffer>(std::move(fetched->front()));
        }
        for (const ChunkPart* part : wanted) {
          with_context([&] { return "inner chunk at offset " + std::to_string(part->offset); },
                       [&] {
                         decoder_.decode(*part,
                                         {bytes->span().subspan(part->offset - start, part->length),
                                          nullptr, part->version});
                       });
        }
      });
}

// Where what is wanted of a chunk stands whose elements stand alone, as ranges of that chunk.
// Nothing when all of it is better fetched.
std::optional<std::vector<ByteRange>> ChunkReader::ranges_of_elements(const ChunkPart& part) const {
  const CodecChain& chain = *part.chain;
  if (part.bytes || !chain.elements_stand_alone() || is_whole(part.axes) ||
      part.destination == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t size = chain.decoded_size();
  const std::uint64_t bytes_per_range = store_.bytes_per_range();
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
  // Who comes again and again, for row after row, shall not pay for requests more than for the
  // chunk as a whole, which is then kept.
  const CacheKey key = decoder_.cache_key(part);
  const auto spent = context_.spent_on_parts.find(key);
  const std::uint64_t overhead = (spent ? *spent : 0) + ranges.size() * bytes_per_range;
  if (bytes > size || overhead > size - bytes) return std::nullopt;
  context_.spent_on_parts.insert(key, std::make_shared<const std::uint64_t>(overhead),
                                 sizeof(overhead));
  return ranges;
}

// Reads what is wanted of a chunk without the rest; false when that cannot be, or does not pay.
bool ChunkReader::read_elements(const ChunkPart& part) {
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
  auto parts = part.value ? fetch_ranges(part, in_value) : store_.get_ranges(*part.key, in_value);
  if (!parts && !part.is_whole_value()) throw ValueChanged();
  if (!parts) {
    decoder_.fill(part);
    return true;
  }
  decoder_.place_elements(part, *ranges, *parts);
  return true;
}

}  // namespace zarrcore
