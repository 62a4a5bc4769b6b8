#include "zarrcore/array/pending_chunk.h"

#include <algorithm>
#include <utility>

#include "zarrcore/array/stored_shard.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

// How often a put may fail because of other writers before it locks them out.
constexpr int kTriesWithoutLock = 3;
// The limit of attempts for stores without locks.
constexpr int kMaxTries = 100;

}  // namespace

// Counts the bytes of an inner chunk, and whether it is finished: at the end of its scope it adds
// the changes to the totals, with or without an exception.
class PendingChunk::Count {
 public:
  Count(PendingChunk& chunk, const PendingInnerChunk& inner)
      : chunk_(chunk),
        inner_(inner),
        bytes_(inner.byte_count()),
        is_finished_(inner.is_finished()) {}
  ~Count() {
    const std::uint64_t more = inner_.byte_count() - bytes_;
    chunk_.bytes_ += more;
    chunk_.add_to_totals(more);
    chunk_.finished_ += (inner_.is_finished() ? 1u : 0u) - (is_finished_ ? 1u : 0u);
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  PendingChunk& chunk_;
  const PendingInnerChunk& inner_;
  std::uint64_t bytes_;
  bool is_finished_;
};

PendingChunk::PendingChunk(const ArrayState& array, Index index, std::atomic<std::uint64_t>& total,
                           bool stores_empty)
    : array_(array),
      index_(std::move(index)),
      key_(array.key_of(index_)),
      chain_owner_(array.chain_of(index_)),
      chain_(*chain_owner_),
      sharding_(chain_.shard_is_addressable() ? chain_.sharding() : nullptr),
      inner_chain_(sharding_ != nullptr ? sharding_->inner_chain() : chain_),
      stores_empty_(stores_empty),
      total_(total) {
  if (sharding_ == nullptr) return;
  for (std::size_t i = 0; i < index_.size(); ++i) {
    const std::size_t axis = chain_.axis_order()[i];
    const std::uint64_t extent = array_.grid.dimension(axis).chunk_extent(index_[axis]);
    inner_chunks_inside_ *= ceil_divide(extent, sharding_->inner_shape()[i]);
  }
}

PendingChunk::~PendingChunk() {
  add_to_totals(-bytes_);
}

void PendingChunk::add_to_totals(std::uint64_t bytes) {
  total_ += bytes;
  array_.context->pending_bytes += bytes;
}

std::vector<StoredSlice> PendingChunk::cut(const ChunkSlice& slice) const {
  std::vector<AxisSlice> axes = permute_axes(slice.axes, chain_.axis_order());
  if (sharding_ == nullptr) return {{0, std::move(axes), slice.offset}};
  std::vector<StoredSlice> slices;
  for_each_inner_chunk(*sharding_, axes, [&](StoredSlice inner) {
    inner.offset += slice.offset;
    slices.push_back(std::move(inner));
  });
  return slices;
}

bool PendingChunk::begin_write() {
  const std::shared_lock lock(mutex_);
  if (is_retired_) return false;
  ++writes_;
  return true;
}

PendingChunk::WriteResult PendingChunk::write(const StoredSlice& slice, const std::byte* source,
                                              const ElementConverter* converter, WriteSteps steps) {
  const std::shared_lock lock(mutex_);
  PendingInnerChunk& inner = inner_at(slice.position);
  const std::lock_guard inner_lock(inner.mutex);
  if (steps == WriteSteps::copying && !inner.is_decoded()) return WriteResult::needs_decoding;
  return with_context({"chunk ", *key_}, [&] {
    const Count count(*this, inner);
    if (inner.needs_stored(slice)) {
      inner.load(fetch(slice.position, inner));
    }
    if (!inner.write(slice, source, converter)) return WriteResult::done;
    if (steps == WriteSteps::encoding) {
      inner.encode();
      return WriteResult::done;
    }
    return std::exchange(inner.is_queued, true) ? WriteResult::done : WriteResult::is_ready;
  });
}

PendingInnerChunk& PendingChunk::inner_at(std::size_t position) {
  const std::lock_guard lock(inner_mutex_);
  const auto it = inner_chunks_.find(position);
  if (it != inner_chunks_.end()) return *it->second;
  auto inner = std::make_unique<PendingInnerChunk>(array_, inner_chain_, sharding_ != nullptr,
                                                   stores_empty_);
  return *inner_chunks_.emplace(position, std::move(inner)).first->second;
}

PendingInnerChunk* PendingChunk::find_inner(std::size_t position) const {
  const std::lock_guard lock(inner_mutex_);
  const auto it = inner_chunks_.find(position);
  return it == inner_chunks_.end() ? nullptr : it->second.get();
}

std::optional<Buffer> PendingChunk::fetch(std::size_t position, PendingInnerChunk& inner) {
  if (sharding_ == nullptr) {
    const auto value = array_.store->open(*key_);
    auto encoded = value->get(chain_.max_encoded_size());
    inner.base = value->version();
    return encoded;
  }
  std::shared_ptr<const StoredShard> known;
  {
    const std::lock_guard lock(inner_mutex_);
    known = std::exchange(stored_, nullptr);  // put back once a read with it has succeeded
  }
  // read() finds out whether an index is still true, but an inner chunk that it lacks is not read.
  if (known && !known->find(position) &&
      !known->version().is_valid_for(array_.store->current_version(*key_))) {
    known.reset();
  }
  for (int tries = 1;; ++tries) {
    try {
      std::shared_ptr<StoredShard> opened;
      if (!known) {
        opened = std::make_shared<StoredShard>(*array_.store, *key_, chain_, false);
        known = opened;
      }
      const auto entry = known->find(position);
      // Reading an existing inner chunk checks the version of the index; for a missing one, it is
      // checked here.
      if (!entry && !opened &&
          !known->version().is_valid_for(array_.store->current_version(*key_))) {
        throw ValueChanged();
      }
      auto encoded =
          entry ? std::optional(known->read(entry->offset, entry->length)) : std::nullopt;
      if (opened) opened->close();
      inner.base_shard = known;
      const std::lock_guard lock(inner_mutex_);
      stored_ = std::move(known);
      return encoded;
    } catch (const ValueChanged&) {
      if (tries == kMaxTries) throw;
      known.reset();
    }
  }
}

void PendingChunk::encode(std::size_t position) {
  const std::shared_lock lock(mutex_);
  PendingInnerChunk* inner = find_inner(position);
  if (inner == nullptr) return;
  const std::lock_guard inner_lock(inner->mutex);
  if (!inner->is_decoded()) return;
  const Count count(*this, *inner);
  with_context({"chunk ", *key_}, [&] { inner->encode(); });
}

std::vector<std::size_t> PendingChunk::pending_positions() const {
  const std::shared_lock lock(mutex_);
  const std::lock_guard inner_lock(inner_mutex_);
  std::vector<std::size_t> positions;
  positions.reserve(inner_chunks_.size());
  for (const auto& [position, inner] : inner_chunks_) positions.push_back(position);
  return positions;
}

void PendingChunk::put(PutMode mode) {
  const std::unique_lock lock(mutex_);
  is_claimed_ = false;  // another write may end, and claim it
  if (mode == PutMode::claimed && !claim_put()) return;
  is_claimed_ = false;
  // Inner chunks whose first write has failed.
  std::erase_if(inner_chunks_, [](const auto& item) { return !item.second->is_pending(); });
  if (inner_chunks_.empty()) return;
  with_context({"chunk ", *key_}, [&] {
    for (auto& [position, inner] : inner_chunks_) {
      const Count count(*this, *inner);
      if (inner->is_decoded()) inner->encode();
    }
    put_pending(mode != PutMode::exclusive && depends_on_stored());
  });
  // Before other threads find nothing pending here and use the caches.
  array_.invalidate_value(*key_);
  inner_chunks_.clear();
  stored_.reset();
  add_to_totals(-bytes_);
  bytes_ = 0;
  finished_ = 0;
}

// Returns true if the next put needs elements or inner chunks of the stored chunk.
bool PendingChunk::depends_on_stored() const {
  return !is_complete() || std::any_of(inner_chunks_.begin(), inner_chunks_.end(),
                                       [](const auto& item) { return !item.second->is_whole(); });
}

void PendingChunk::put_pending(bool depends_on_read) {
  for (int tries = 1;; ++tries) {
    std::unique_ptr<StoreLock> lock;
    if (tries > kTriesWithoutLock) lock = array_.store->lock(parent_path(*key_));
    PutOptions options{.depends_on_read = depends_on_read};
    if (lock == nullptr) options.expected.emplace();
    try {
      const bool is_put =
          sharding_ != nullptr ? try_to_put_shard(options) : try_to_put_chunk(options, tries);
      if (is_put) return;
    } catch (const ValueChanged&) {
      if (tries == kMaxTries) throw;
    }
    if (tries == kMaxTries) throw Error("other programs keep changing it");
  }
}

bool PendingChunk::try_to_put_chunk(PutOptions options, int tries) {
  Store& store = *array_.store;
  PendingInnerChunk& inner = *inner_chunks_.begin()->second;
  ValueVersion expected;  // unknown for a whole chunk, which replaces any version
  std::shared_ptr<OpenValue> stored;
  if (!inner.is_whole()) {
    expected = inner.base;
    if (tries > 1 || !expected.is_valid_for(store.current_version(*key_))) {
      stored = store.open(*key_);
      const Count count(*this, inner);
      inner.rebase(stored->get(chain_.max_encoded_size()));
      expected = stored->version();
      inner.base = expected;
      stored->release();
    }
  }
  const ValuePart value{inner.encoded()};
  if (options.expected) options.expected = expected;
  return inner.is_encoded() ? store.put_parts(*key_, {&value, 1}, options)
                            : store.erase(*key_, options);
}

bool PendingChunk::try_to_put_shard(PutOptions options) {
  std::shared_ptr<const StoredShard> stored;
  if (depends_on_stored()) {
    stored = std::make_shared<StoredShard>(*array_.store, *key_, chain_, true);
  }
  InnerChunks changed;
  changed.reserve(inner_chunks_.size());
  for (const auto& [position, inner] : inner_chunks_) {
    if (!inner->is_whole() && !inner->base_shard->is_valid_for(*stored)) {
      const Count count(*this, *inner);
      const auto entry = stored->find(position);
      inner->rebase(entry ? std::optional(stored->read(entry->offset, entry->length))
                          : std::nullopt);
      inner->base_shard = stored;
    }
    changed.emplace_back(position,
                         inner->is_encoded() ? std::optional(inner->encoded()) : std::nullopt);
  }
  if (options.expected && stored) options.expected = stored->version();
  return put_shard(*array_.store, *key_, chain_, changed, stored.get(), options);
}

bool PendingChunk::retire() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  is_retired_ = inner_chunks_.empty() && writes_ == 0;
  return is_retired_;
}

std::optional<std::shared_lock<SharedMutex>> PendingChunk::hold() {
  std::shared_lock lock(mutex_);
  if (is_retired_) return std::nullopt;
  return lock;
}

bool PendingChunk::is_pending(std::size_t position) const {
  const PendingInnerChunk* inner = find_inner(position);
  if (inner == nullptr) return false;
  const std::lock_guard lock(inner->mutex);
  return inner->is_pending();
}

std::vector<StoredSlice> PendingChunk::split(const ChunkSlice& slice, std::byte* data,
                                             std::vector<StoredPart>& stored) const {
  const StoredPart whole = array_.part_of(slice, data);
  std::vector<StoredSlice> slices = cut(slice);
  const auto others =
      std::stable_partition(slices.begin(), slices.end(),
                            [&](const StoredSlice& inner) { return is_pending(inner.position); });
  if (others == slices.begin()) {
    stored.push_back(whole);
    return {};
  }
  for (auto inner = others; inner != slices.end(); ++inner) {
    stored.push_back(whole);
    stored.back().destination = data + inner->offset;
    stored.back().axes = axes_in_shard(*sharding_, *inner, whole.axes);
  }
  slices.erase(others, slices.end());
  return slices;
}

void PendingChunk::read(const StoredSlice& slice, std::byte* destination,
                        const ElementConverter* converter) const {
  const PendingInnerChunk& inner = *find_inner(slice.position);
  const std::lock_guard lock(inner.mutex);
  with_context({"chunk ", *key_}, [&] { inner.read(slice, destination, converter); });
}

}  // namespace zarrcore
