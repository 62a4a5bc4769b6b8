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

}  // namespace

StoredShard::StoredShard(Store& store, std::string key, const CodecChain& chain)
    : store_(&store), key_(std::move(key)), chain_(&chain), value_(store.open(key_)) {}

StoredShard StoredShard::open(Store& store, std::string key, const CodecChain& chain,
                              bool is_checked) {
  StoredShard shard(store, std::move(key), chain);
  is_checked && !chain.shard_is_bare() ? shard.read_all() : shard.read_index();
  shard.version_ = shard.value_->version();
  return shard;
}

void StoredShard::read_index() {
  const ShardingCodec& sharding = *chain_->sharding();
  const Framing& framing = chain_->framing();
  const std::uint64_t size = sharding.encoded_index_size();
  index_range_ = sharding.index_at_end() ? ByteRange::suffix(size + framing.suffix)
                                         : ByteRange::at(framing.prefix, size);
  auto parts = value_->get_ranges({&index_range_, 1});
  if (!parts) return;
  encoded_index_ = std::move(parts->front());
  index_ = sharding.decode_index(encoded_index_.span().first(size));
}

void StoredShard::read_all() {
  const auto value = value_->get(chain_->max_encoded_size());
  if (!value) return;
  whole_ = chain_->decode_shard(value->span());
  const ShardingCodec& sharding = *chain_->sharding();
  const std::uint64_t size = sharding.encoded_index_size();
  if (whole_->size() < size) throw Error("the shard is too short for its index");
  encoded_index_ = Buffer::copy_of(sharding.index_at_end() ? whole_->span().last(size)
                                                           : whole_->span().first(size));
  index_ = sharding.decode_index(encoded_index_.span());
}

bool StoredShard::is_good_for(const StoredShard& now) const {
  if (!version_.is_good_for(now.version_) || exists() != now.exists()) return false;
  // Around one of the two there may be more.
  const std::uint64_t size = chain_->sharding()->encoded_index_size();
  return !exists() || std::ranges::equal(encoded_index_.span().first(size),
                                         now.encoded_index_.span().first(size));
}

std::optional<ShardIndex::Entry> StoredShard::find(std::size_t position) const {
  if (!index_) return std::nullopt;
  const ShardIndex::Entry& entry = index_->at(position);
  if (!entry.is_present()) return std::nullopt;
  chain_->sharding()->check_entry(position, entry,
                                  whole_ ? whole_->size() : UINT64_MAX - chain_->framing().prefix);
  return entry;
}

Buffer StoredShard::read(std::uint64_t offset, std::uint64_t length) const {
  if (whole_) return Buffer::copy_of(whole_->span().subspan(offset, length));
  const auto value = value_ ? value_ : store_->open(key_);
  const ByteRange ranges[] = {ByteRange::at(chain_->framing().prefix + offset, length),
                              index_range_};
  const auto is_same = [&] { return value == value_ || version_.is_good_for(value->version()); };
  std::optional<std::vector<Buffer>> parts;
  try {
    parts = value->get_ranges(ranges);
  } catch (const Error&) {
    // It may have become shorter.
    if (!is_same()) throw ValueChanged();
    throw;
  }
  if (!parts || !is_same() || !std::ranges::equal(parts->back().span(), encoded_index_.span())) {
    throw ValueChanged();
  }
  return std::move(parts->front());
}

ValuePart StoredShard::part(std::uint64_t offset, std::uint64_t length) const {
  if (whole_) return {whole_->span().subspan(offset, length), {}};
  return {{}, [this, offset, length] { return read(offset, length); }};
}

bool put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, const StoredShard* stored, bool is_locked) {
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
  const ValueVersion expected = stored != nullptr ? stored->version() : ValueVersion();
  const auto put = [&](std::span<const ValuePart> parts) {
    if (!is_locked) return store.put_if(key, expected, parts);
    store.put_parts(key, parts);
    return true;
  };
  const bool is_empty = std::ranges::none_of(
      shard.entries(), [](const ShardIndex::Entry& entry) { return entry.is_present(); });
  if (is_empty) {
    if (!is_locked) return store.erase_if(key, expected);
    store.erase(key);
    return true;
  }

  const Buffer index = sharding.encode_index(shard.entries());
  std::vector<ValuePart> parts;
  if (!sharding.index_at_end()) parts.push_back({index.span()});
  for (const Piece& piece : shard.pieces()) {
    parts.push_back(piece.stored ? stored->part(piece.stored->offset, piece.stored->length)
                                 : ValuePart{piece.bytes});
  }
  if (sharding.index_at_end()) parts.push_back({index.span()});
  if (chain.shard_is_bare()) return put(parts);
  const Buffer encoded = chain.encode_shard(concatenate(parts));
  const ValuePart whole{encoded.span()};
  return put({&whole, 1});
}

}  // namespace zarrcore
