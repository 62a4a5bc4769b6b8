#include "zarrcore/array/shard_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Inner chunks that stay and lie one after the other are copied together, up to so many bytes.
constexpr std::uint64_t kMaxRunBytes = 8 << 20;

// Where the inner chunks that stay come from and where they go to.
class KeptChunks {
 public:
  // The new offset of what is at `entry`, if it has been kept already: equal chunks may be one.
  // Throws Error when it overlaps another one: copied each by itself, a few bytes could become
  // a shard of any size.
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

// A part of the new shard: an inner chunk in memory, or a run of such that stay.
struct Piece {
  ByteSpan bytes;
  std::optional<ShardIndex::Entry> stored = {};
};

// Puts inner chunks one after the other.
class Arrangement {
 public:
  Arrangement(const ShardingCodec& sharding, std::size_t count)
      : entries_(count), end_(sharding.index_at_end() ? 0 : sharding.encoded_index_size()) {}

  void add(std::size_t position, ByteSpan bytes) {
    pieces_.push_back({bytes});
    append(position, bytes.size());
  }

  void keep(std::size_t position, const ShardIndex::Entry& stored) {
    if (const auto offset = kept_.find(stored)) {
      entries_[position] = {*offset, stored.length};
      return;
    }
    kept_.add(stored, end_);
    std::optional<ShardIndex::Entry> no_run;
    auto& run = pieces_.empty() ? no_run : pieces_.back().stored;
    if (run && run->offset + run->length == stored.offset &&
        run->length + stored.length <= kMaxRunBytes) {
      run->length += stored.length;
    } else {
      pieces_.push_back({{}, stored});
    }
    append(position, stored.length);
  }

  const std::vector<ShardIndex::Entry>& entries() const { return entries_; }
  std::span<const Piece> pieces() const { return pieces_; }

 private:
  void append(std::size_t position, std::uint64_t length) {
    entries_[position] = {end_, length};
    end_ += length;
  }

  std::vector<ShardIndex::Entry> entries_;
  std::vector<Piece> pieces_;
  std::uint64_t end_;
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

// A shard that is compressed or checked as a whole, without that; nothing when it is absent.
std::optional<Buffer> get_shard(Store& store, const std::string& key, const CodecChain& chain) {
  const auto value = store.get(key, chain.max_encoded_size());
  if (!value) return std::nullopt;
  Buffer shard = chain.decode_shard(value->span());
  if (shard.size() < chain.sharding()->encoded_index_size()) {
    throw Error("the shard is too short for its index");
  }
  return shard;
}

}  // namespace

StoredShard::StoredShard(Store& store, std::string key, const CodecChain& chain,
                         ByteRange index_range, Buffer encoded_index)
    : store_(&store),
      key_(std::move(key)),
      chain_(&chain),
      index_range_(index_range),
      encoded_index_(std::move(encoded_index)),
      index_(chain.sharding()->decode_index(
          encoded_index_.span().first(chain.sharding()->encoded_index_size()))) {}

std::optional<StoredShard> StoredShard::open(Store& store, std::string key,
                                             const CodecChain& chain) {
  const ShardingCodec& sharding = *chain.sharding();
  const std::uint64_t size = sharding.encoded_index_size();
  const ByteRange range = sharding.index_at_end() ? ByteRange::suffix(size + chain.framing().suffix)
                                                  : ByteRange::at(chain.framing().prefix, size);
  auto parts = store.get_ranges(key, {&range, 1});
  if (!parts) return std::nullopt;
  return StoredShard(store, std::move(key), chain, range, std::move(parts->front()));
}

std::optional<ShardIndex::Entry> StoredShard::find(std::size_t position) const {
  const ShardIndex::Entry& entry = index_.at(position);
  if (!entry.is_present()) return std::nullopt;
  chain_->sharding()->check_entry(position, entry, UINT64_MAX - chain_->framing().prefix);
  return entry;
}

Buffer StoredShard::read(std::uint64_t offset, std::uint64_t length) const {
  const ByteRange ranges[] = {ByteRange::at(chain_->framing().prefix + offset, length),
                              index_range_};
  auto parts = store_->get_ranges(key_, ranges);
  if (!parts || !std::ranges::equal(parts->back().span(), encoded_index_.span())) {
    throw Error("somebody else has changed the shard since its index was read");
  }
  return std::move(parts->front());
}

void put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, bool keeps_others) {
  const ShardingCodec& sharding = *chain.sharding();
  std::optional<StoredShard> stored;
  std::optional<Buffer> whole;
  std::optional<ShardIndex> whole_index;
  if (keeps_others && chain.shard_is_bare()) {
    stored = StoredShard::open(store, key, chain);
  } else if (keeps_others && (whole = get_shard(store, key, chain))) {
    const std::uint64_t size = sharding.encoded_index_size();
    whole_index = sharding.decode_index(sharding.index_at_end() ? whole->span().last(size)
                                                                : whole->span().first(size));
  }

  Arrangement shard(sharding, sharding.inner_count());
  auto next_changed = changed.begin();
  for (std::size_t i = 0; i < sharding.inner_count(); ++i) {
    if (next_changed != changed.end() && next_changed->first == i) {
      if (next_changed->second) shard.add(i, *next_changed->second);
      ++next_changed;
    } else if (stored) {
      if (const auto entry = stored->find(i)) shard.keep(i, *entry);
    } else if (whole_index && whole_index->at(i).is_present()) {
      sharding.check_entry(i, whole_index->at(i), whole->size());
      shard.keep(i, whole_index->at(i));
    }
  }
  const bool is_empty = std::ranges::none_of(
      shard.entries(), [](const ShardIndex::Entry& entry) { return entry.is_present(); });
  if (is_empty) {
    store.erase(key);
    return;
  }

  const Buffer index = sharding.encode_index(shard.entries());
  std::vector<ValuePart> parts;
  if (!sharding.index_at_end()) parts.push_back({index.span()});
  for (const Piece& piece : shard.pieces()) {
    if (!piece.stored) {
      parts.push_back({piece.bytes});
    } else if (whole) {
      parts.push_back({whole->span().subspan(piece.stored->offset, piece.stored->length)});
    } else {
      parts.push_back(
          {{}, [&] { return stored->read(piece.stored->offset, piece.stored->length); }});
    }
  }
  if (sharding.index_at_end()) parts.push_back({index.span()});
  if (chain.shard_is_bare()) {
    store.put_parts(key, parts);
  } else {
    Buffer assembled = concatenate(parts);
    whole.reset();
    store.put(key, chain.encode_shard(std::move(assembled)).span());
  }
}

}  // namespace zarrcore
