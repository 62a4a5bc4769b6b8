#include "zarrcore/array/stored_shard.h"

#include <cstring>
#include <utility>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Faster than std::ranges::equal(), which compares byte by byte.
bool have_same_bytes(ByteSpan a, ByteSpan b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

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
  const std::uint64_t size = sharding->encoded_index_size();
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

StoredShard::StoredShard(Store& store, std::string key, const CodecChain& chain)
    : store_(&store),
      key_(std::move(key)),
      chain_(&chain),
      value_(store.open(key_)),
      extent_{chain.sharding(), chain.framing()} {}

StoredShard StoredShard::open(Store& store, std::string key, const CodecChain& chain,
                              bool is_checked) {
  StoredShard shard(store, std::move(key), chain);
  if (is_checked && !chain.shard_is_bare()) {
    shard.read_whole();
  } else {
    shard.stored_ = fetch_index(*shard.value_, shard.extent_);
  }
  shard.version_ = shard.value_->version();
  return shard;
}

void StoredShard::read_whole() {
  const auto value = value_->get(chain_->max_encoded_size());
  if (!value) return;
  whole_ = chain_->decode_shard(value->span());
  extent_ = {.sharding = chain_->sharding(), .length = whole_->size()};
  const ByteSpan encoded = extent_.encoded_index(whole_->span());
  stored_ = {Buffer::copy_of(encoded), chain_->sharding()->decode_index(encoded)};
}

bool StoredShard::is_good_for(const StoredShard& now) const {
  if (!version_.is_good_for(now.version_)) return false;
  if (!stored_ || !now.stored_) return stored_.has_value() == now.stored_.has_value();
  // Only one of the two may include the frame.
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
      *value, ranges, [&] { return value == value_ || version_.is_good_for(value->version()); });
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

}  // namespace zarrcore
