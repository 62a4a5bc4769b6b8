#include "zarrcore/array/stored_shard.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

// Faster than std::ranges::equal(), which compares byte by byte.
bool have_same_bytes(ByteSpan a, ByteSpan b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Unchanged inner chunks that are stored one after the other are copied together, up to this size,
// or up to so many times the size of the index, which is read with them each time.
constexpr std::uint64_t kMaxRunBytes = 8 << 20;
constexpr std::uint64_t kIndexesInRun = 4;

// The old and new places of the unchanged inner chunks.
class UnchangedChunks {
 public:
  // Returns the new offset of the bytes at `entry` if they have already been copied: equal inner
  // chunks may share their bytes. Throws Error if `entry` overlaps another entry: copying each
  // separately could turn a few bytes into a shard of any size.
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

  void copy(std::size_t position, const ShardIndex::Entry& stored) {
    if (const auto offset = copied_.find(stored)) {
      entries_[position] = {*offset, stored.length};
      return;
    }
    copied_.add(stored, end_);
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
  UnchangedChunks copied_;
};

}  // namespace

std::uint64_t ShardExtent::payload_size() const {
  if (!length) return UINT64_MAX - offset - framing.prefix;
  const std::uint64_t frame = framing.prefix + framing.suffix;
  if (*length < frame) {
    throw Error("a shard of " + std::to_string(*length) + " bytes is too short for its frame of " +
                std::to_string(frame));
  }
  return *length - frame;
}

ByteRange ShardExtent::index_range() const {
  // It is read as a whole, and a file of any size can take no space on a disk.
  constexpr std::uint64_t kMaxIndexBytes = std::uint64_t{256} << 20;
  const std::uint64_t size = sharding->encoded_index_size();
  check_max_size("the index of the shard has ", size, kMaxIndexBytes);
  if (!length && sharding->index_at_end()) return ByteRange::suffix(size + framing.suffix);
  const std::uint64_t in_payload = length ? sharding->index_offset(payload_size()) : 0;
  return ByteRange::at(offset + framing.prefix + in_payload, size);
}

ByteSpan ShardExtent::encoded_index(ByteSpan value) const {
  return value.subspan(memory_size(index_range().offset), sharding->encoded_index_size());
}

std::optional<ShardIndex::Entry> ShardExtent::find(const ShardIndex& index,
                                                   std::size_t position) const {
  auto entry = sharding->find(index, position, payload_size());
  if (entry) entry->offset += offset + framing.prefix;
  return entry;
}

std::optional<StoredIndex> fetch_index(OpenValue& value, const ShardExtent& extent,
                                       const ValueVersion& version) {
  const ByteRange range = extent.index_range();
  auto parts = get_ranges_of_version(value, {&range, 1},
                                     [&] { return !value.version().differs_from(version); });
  if (!parts) return std::nullopt;
  Buffer& encoded = parts->front();
  const std::size_t size = extent.sharding->encoded_index_size();
  ShardIndex index = extent.sharding->decode_index(encoded.span().first(size));
  return StoredIndex{std::move(encoded), std::move(index)};
}

StoredShard::StoredShard(Store& store, std::string key, const CodecChain& chain, bool is_checked)
    : store_(&store),
      key_(std::move(key)),
      chain_(&chain),
      value_(store.open(key_)),
      extent_{chain.sharding(), chain.framing()} {
  if (!is_checked || chain.shard_is_bare()) {
    stored_ = fetch_index(*value_, extent_);
  } else if (const auto value = value_->get(chain.max_encoded_size())) {
    whole_ = chain.decode_shard(value->span());
    extent_ = {.sharding = chain.sharding(), .length = whole_->size()};
    const ByteSpan encoded = extent_.encoded_index(whole_->span());
    stored_ = {Buffer::copy_of(encoded), chain.sharding()->decode_index(encoded)};
  }
  version_ = value_->version();
}

bool StoredShard::is_valid_for(const StoredShard& now) const {
  if (!version_.is_valid_for(now.version_)) return false;
  if (!stored_ || !now.stored_) return stored_.has_value() == now.stored_.has_value();
  // The frame may be part of only one of the two ranges.
  const std::size_t size = chain_->sharding()->encoded_index_size();
  return have_same_bytes(stored_->encoded.span().first(size),
                         now.stored_->encoded.span().first(size));
}

std::optional<ShardIndex::Entry> StoredShard::find(std::size_t position) const {
  return stored_ ? extent_.find(stored_->index, position) : std::nullopt;
}

Buffer StoredShard::read(std::uint64_t offset, std::uint64_t length) const {
  if (whole_)
    return Buffer::copy_of(whole_->span().subspan(memory_size(offset), memory_size(length)));
  const auto value = value_ ? value_ : store_->open(key_);
  const ByteRange ranges[] = {ByteRange::at(offset, length), extent_.index_range()};
  auto parts = get_ranges_of_version(
      *value, ranges, [&] { return value == value_ || version_.is_valid_for(value->version()); });
  if (!parts || !stored_ || !have_same_bytes(parts->back().span(), stored_->encoded.span())) {
    throw ValueChanged();
  }
  return std::move(parts->front());
}

ValuePart StoredShard::part(std::uint64_t offset, std::uint64_t length, bool is_last) const {
  if (whole_) {
    if (is_last) release();
    return {whole_->span().subspan(memory_size(offset), memory_size(length)), {}};
  }
  return {{}, [this, offset, length, is_last] {
            Buffer bytes = read(offset, length);
            if (is_last) release();
            return bytes;
          }};
}

void StoredShard::release() const {
  if (value_) value_->release();
}

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
      if (const auto entry = stored->find(i)) shard.copy(i, *entry);
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
  const Buffer encoded = chain.encode_shard(join_parts(parts));
  const ValuePart whole{encoded.span()};
  return store.put_parts(key, {&whole, 1}, options);
}

}  // namespace zarrcore
