#include "zarrcore/array/shard_writer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Unchanged inner chunks that are stored one after the other are copied together, up to this size,
// or up to so many times the size of the index, which is read with them each time.
constexpr std::uint64_t kMaxRunBytes = 8 << 20;
constexpr std::uint64_t kIndexesInRun = 4;

// The old and new places of the unchanged inner chunks.
class KeptChunks {
 public:
  // The new offset of the bytes at `entry` if they are already kept: equal inner chunks may share
  // their bytes. Throws Error when `entry` overlaps another one: with each copied separately, a few
  // bytes could become a shard of any size.
  std::optional<std::uint64_t> find(const ShardIndex::Entry& entry) const {
    const auto next = places_.lower_bound({entry.offset, entry.length});
    if (next != places_.end() && next->first == Place{entry.offset, entry.length}) {
      return next->second;
    }
    const bool meets_next =
        next != places_.end() && next->first.first < entry.offset + entry.length;
    const bool meets_previous =
        next != places_.begin() &&
        std::prev(next)->first.first + std::prev(next)->first.second > entry.offset;
    if (entry.length != 0 && (meets_next || meets_previous)) {
      throw Error("inner chunks of the shard overlap each other");
    }
    return std::nullopt;
  }

  void add(const ShardIndex::Entry& entry, std::uint64_t new_offset) {
    if (entry.length != 0) places_.emplace(Place{entry.offset, entry.length}, new_offset);
  }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // offset and length
  std::map<Place, std::uint64_t> places_;
};

// Inner chunks that are next to each other in the new shard: one in memory, or a run of unchanged
// ones.
struct InnerChunkRun {
  ByteSpan bytes;
  std::optional<ShardIndex::Entry> stored = {};
};

// Places inner chunks one after the other.
class Arrangement {
 public:
  Arrangement(const ShardingCodec& sharding, std::size_t count)
      : entries_(count),
        end_(sharding.index_at_end() ? 0 : sharding.encoded_index_size()),
        max_run_bytes_(std::max(kMaxRunBytes, kIndexesInRun * sharding.encoded_index_size())) {}

  void add(std::size_t position, ByteSpan bytes) {
    runs_.push_back({bytes});
    append(position, bytes.size());
  }

  void keep(std::size_t position, const ShardIndex::Entry& stored) {
    if (const auto offset = kept_.find(stored)) {
      entries_[position] = {*offset, stored.length};
      return;
    }
    kept_.add(stored, end_);
    std::optional<ShardIndex::Entry> none;
    auto& last = runs_.empty() ? none : runs_.back().stored;
    if (last && last->offset + last->length == stored.offset &&
        last->length + stored.length <= max_run_bytes_) {
      last->length += stored.length;
    } else {
      runs_.push_back({{}, stored});
    }
    append(position, stored.length);
  }

  const std::vector<ShardIndex::Entry>& entries() const { return entries_; }
  std::span<const InnerChunkRun> runs() const { return runs_; }

 private:
  void append(std::size_t position, std::uint64_t length) {
    entries_[position] = {end_, length};
    end_ += length;
  }

  std::vector<ShardIndex::Entry> entries_;
  std::vector<InnerChunkRun> runs_;
  std::uint64_t end_;
  std::uint64_t max_run_bytes_;
  KeptChunks kept_;
};

Buffer concatenate(std::span<const ValuePart> parts) {
  std::size_t size = 0;
  for (const ValuePart& part : parts) size += part.bytes.size();
  Buffer all(size);
  std::byte* end = all.data();
  for (const ValuePart& part : parts) end = std::copy(part.bytes.begin(), part.bytes.end(), end);
  return all;
}

}  // namespace

bool put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, const StoredShard* stored, const PutOptions& options) {
  const ShardingCodec& sharding = *chain.sharding();
  Arrangement shard(sharding, sharding.inner_count());
  auto next_changed = changed.begin();
  for (std::size_t i = 0; i < sharding.inner_count(); ++i) {
    if (next_changed != changed.end() && next_changed->first == i) {
      if (next_changed->second) shard.add(i, *next_changed->second);
      ++next_changed;
    } else if (stored != nullptr) {
      if (const auto entry = stored->find(i)) shard.keep(i, *entry);
    }
  }
  auto stored_runs = std::ranges::count_if(
      shard.runs(), [](const InnerChunkRun& run) { return run.stored.has_value(); });
  if (stored != nullptr && stored_runs == 0) stored->release();
  const bool is_empty = std::ranges::none_of(
      shard.entries(), [](const ShardIndex::Entry& entry) { return entry.is_present(); });
  if (is_empty) return store.erase(key, options);

  const Buffer index = sharding.encode_index(shard.entries());
  std::vector<ValuePart> parts;
  if (!sharding.index_at_end()) parts.push_back({index.span()});
  for (const InnerChunkRun& run : shard.runs()) {
    parts.push_back(run.stored
                        ? stored->part(run.stored->offset, run.stored->length, --stored_runs == 0)
                        : ValuePart{run.bytes});
  }
  if (sharding.index_at_end()) parts.push_back({index.span()});
  if (chain.shard_is_bare()) return store.put_parts(key, parts, options);
  const Buffer encoded = chain.encode_shard(concatenate(parts));
  const ValuePart whole{encoded.span()};
  return store.put_parts(key, {&whole, 1}, options);
}

}  // namespace zarrcore
