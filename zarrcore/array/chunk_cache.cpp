#include "zarrcore/array/chunk_cache.h"

#include <algorithm>

namespace zarrcore {
namespace {

// Roughly what an entry takes besides its item and its key.
constexpr std::uint64_t kEntryBytes = 256;

}  // namespace

void ChunkCache::Entry::wake() {
  State state = state_;
  while (is_pending(state)) {
    const State other = state == State::pending ? State::pending_still : State::pending;
    if (state_.compare_exchange_weak(state, other)) break;
  }
  state_.notify_all();
}

ChunkCache::ChunkCache(std::uint64_t chunk_bytes, std::uint64_t index_bytes)
    : chunks_{chunk_bytes}, others_{index_bytes} {}

ChunkCache::Request ChunkCache::begin_request() {
  return {++requests_, erasures_};
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::lookup(const CachedArray& array, const Key& key,
                                                      const PlaceInValue& place) const {
  const auto value = array.values_.find(key);
  if (value == array.values_.end()) return nullptr;
  const auto entry = value->second.find(place);
  return entry == value->second.end() ? nullptr : entry->second;
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::make(CachedArray& array, const Key& key,
                                                    const PlaceInValue& place) {
  if (auto entry = lookup(array, key, place)) return entry;
  auto entry = std::make_shared<Entry>(array, key, place);
  array.values_[key].emplace(place, entry);
  ++entries_;
  return entry;
}

// Puts the entry of a list with this one. Its memory has been allocated before anything changes.
void ChunkCache::put_in_order(std::list<Entry*>& node, Bounded& among, std::uint64_t bytes) {
  Entry& entry = *node.front();
  among.order.splice(among.order.begin(), node);
  entry.among_ = &among;
  entry.place_in_order_ = among.order.begin();
  entry.bytes_ = bytes + kEntryBytes + 2 * entry.key_->size();
  among.bytes += entry.bytes_;
}

void ChunkCache::remove_from_order(Entry& entry) {
  if (entry.among_ == nullptr) return;
  entry.among_->bytes -= entry.bytes_;
  entry.among_->order.erase(entry.place_in_order_);
  entry.among_ = nullptr;
}

void ChunkCache::end_prefetch(Entry& entry) {
  prefetched_bytes_ -= std::exchange(entry.prefetched_bytes_, 0);
}

// Removes an entry from everything but its array: the caller removes it there.
void ChunkCache::unlink(Entry& entry) {
  remove_from_order(entry);
  end_prefetch(entry);
  if (entry.state_ == Entry::State::queued) entry.state_ = Entry::State::idle;
  entry.array_ = nullptr;
  --entries_;
}

void ChunkCache::remove(Entry& entry, Removed& removed) {
  CachedArray* const array = entry.array_;
  if (array == nullptr) return;
  const auto value = array->values_.find(entry.key_);
  removed.insert(value->second.extract(entry.place_));
  unlink(entry);
  if (value->second.empty()) array->values_.erase(value);
}

std::uint64_t ChunkCache::chunk_bound() const {
  const std::uint64_t most = chunks_.max_bytes;
  return most - std::min<std::uint64_t>(reserved_bytes_, most - most / 4);
}

// A single item always stays, so that a chunk larger than the cache is not decoded again for each
// of its rows.
void ChunkCache::shrink(std::uint64_t request, Removed& removed) {
  for (Bounded* const among : {&chunks_, &others_}) {
    const std::uint64_t most = among == &chunks_ ? chunk_bound() : others_.max_bytes.load();
    while (among->bytes > most && among->order.size() > 1) {
      Entry& oldest = *among->order.back();
      remove(request != 0 && oldest.request_ == request ? *among->order.front() : oldest, removed);
    }
  }
}

ChunkCache::Found ChunkCache::find(CachedArray& array, const Key& key, const PlaceInValue& place,
                                   const Request& request, Intent intent) {
  Removed removed;
  const Lock lock(mutex_);
  Found found;
  auto entry = lookup(array, key, place);
  if (entry && entry->item_) {
    found.item = entry->item_;
    found.is_first_use = entry->prefetched_bytes_ > 0;
    end_prefetch(*entry);
    entry->request_ = request.number;
    if (entry->among_ != nullptr) {
      auto& order = entry->among_->order;
      order.splice(order.begin(), order, entry->place_in_order_);
    }
  }
  if (entry && entry->is_pending()) {
    found.pending = std::move(entry);
  } else if (!found.item && intent == Intent::start) {
    found.filling = begin(array, key, place, request);
  } else if (intent == Intent::take && entry && entry->state_ == Entry::State::queued) {
    remove(*entry, removed);
  }
  return found;
}

bool ChunkCache::has(const CachedArray& array, const Key& key, const PlaceInValue& place) const {
  const Lock lock(mutex_);
  const auto entry = lookup(array, key, place);
  return entry && entry->item_;
}

ChunkCache::Filling ChunkCache::start(CachedArray& array, const Key& key, const PlaceInValue& place,
                                      const Request& request) {
  const Lock lock(mutex_);
  return begin(array, key, place, request);
}

ChunkCache::Filling ChunkCache::begin(CachedArray& array, const Key& key, const PlaceInValue& place,
                                      const Request& request) {
  std::shared_ptr<Entry> entry;
  if (array.erased_[CachedArray::Hash()(key) % array.erased_.size()] > request.erasures) {
    entry = std::make_shared<Entry>(array, key, place);
    entry->array_ = nullptr;
  } else {
    entry = make(array, key, place);
    if (entry->is_pending()) return {};
  }
  end_prefetch(*entry);
  entry->state_ = Entry::State::pending;
  entry->process_ = process_id();
  return {*this, std::move(entry)};
}

void ChunkCache::complete(Entry& entry, Item item, bool stays, const Request& request) {
  Removed removed;
  Item before;  // destroyed without the lock
  const bool is_filled = item != nullptr;
  std::list<Entry*> node;
  if (is_filled && stays) node.push_back(&entry);
  const Lock lock(mutex_);
  before = std::exchange(entry.item_, std::move(item));
  entry.state_ = Entry::State::idle;
  entry.state_.notify_all();
  if (entry.array_ == nullptr) return;
  remove_from_order(entry);
  if (!is_filled || !stays) return remove(entry, removed);
  entry.request_ = request.number;
  entry.spent_on_parts_ = 0;
  put_in_order(node, entry.item_->kind() == CachedItem::Kind::chunk ? chunks_ : others_,
               entry.item_->byte_count());
  shrink(request.number, removed);
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::queue(CachedArray& array, const Key& key,
                                                     const PlaceInValue& place,
                                                     std::uint64_t bytes) {
  const Lock lock(mutex_);
  if (prefetched_bytes_ + bytes > max_bytes() / 4) return nullptr;
  auto entry = make(array, key, place);
  if (entry->item_ || entry->state_ != Entry::State::idle) return nullptr;
  remove_from_order(*entry);
  entry->state_ = Entry::State::queued;
  entry->prefetched_bytes_ = bytes;
  prefetched_bytes_ += bytes;
  return entry;
}

ChunkCache::Filling ChunkCache::start_queued(const std::shared_ptr<Entry>& entry) {
  const Lock lock(mutex_);
  if (entry->state_ != Entry::State::queued) return {};
  entry->state_ = Entry::State::pending;
  entry->process_ = process_id();
  return {*this, entry};
}

void ChunkCache::drop_prefetched(Entry& entry) {
  Removed removed;
  const Lock lock(mutex_);
  if (entry.prefetched_bytes_ > 0) remove(entry, removed);
}

bool ChunkCache::spend_on_parts(CachedArray& array, const Key& key, const PlaceInValue& place,
                                std::uint64_t bytes, std::uint64_t most) {
  Removed removed;
  const Lock lock(mutex_);
  const auto entry = make(array, key, place);
  if (entry->among_ == nullptr && entry->state_ == Entry::State::idle) {
    std::list<Entry*> node{entry.get()};
    put_in_order(node, others_, 0);
    shrink(0, removed);
  }
  if (entry->spent_on_parts_ + bytes > most) return false;
  entry->spent_on_parts_ += bytes;
  return true;
}

void ChunkCache::erase(CachedArray& array, const Key& key, const PlaceInValue& place, Erased what) {
  Removed removed;
  const Lock lock(mutex_);
  const auto entry = lookup(array, key, place);
  if (!entry || (what == Erased::missing && !(entry->item_ && entry->item_->is_missing()))) return;
  remove(*entry, removed);
}

void ChunkCache::erase_value(CachedArray& array, const std::string& key) {
  CachedArray::Entries removed;
  const Lock lock(mutex_);
  array.erased_[std::hash<std::string>()(key) % array.erased_.size()] = ++erasures_;
  // The cache does not own the key.
  const auto value = array.values_.find(Key(Key(), &key));
  if (value == array.values_.end()) return;
  for (const auto& [place, entry] : value->second) unlink(*entry);
  removed.swap(value->second);
  array.values_.erase(value);
}

void ChunkCache::erase_all(CachedArray& array) {
  decltype(array.values_) removed;
  const Lock lock(mutex_);
  array.erased_.fill(++erasures_);
  for (const auto& [key, entries] : array.values_) {
    for (const auto& [place, entry] : entries) unlink(*entry);
  }
  removed.swap(array.values_);
}

void ChunkCache::reserve(std::uint64_t bytes) {
  const Lock lock(mutex_);
  chunks_.max_bytes = std::max(chunks_.max_bytes.load(), bytes);
}

void ChunkCache::set_reserved_bytes(std::uint64_t bytes) {
  reserved_bytes_ = bytes;
  if (chunks_.bytes <= chunk_bound()) return;
  Removed removed;
  const Lock lock(mutex_);
  shrink(0, removed);
}

}  // namespace zarrcore
