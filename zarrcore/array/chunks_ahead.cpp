#include "zarrcore/array/chunks_ahead.h"

#include <algorithm>
#include <utility>

namespace zarrcore {

std::optional<MemoryShare> MemoryShare::take(std::atomic<std::uint64_t>& total, std::uint64_t bytes,
                                             std::uint64_t max_bytes) {
  if (total.fetch_add(bytes) + bytes <= max_bytes) return MemoryShare(total, bytes);
  total -= bytes;
  return std::nullopt;
}

void ChunksAhead::forget_key(ChunkAhead& chunk) {
  if (!chunk.key_) return;
  const auto [first, last] = stored_.equal_range(*chunk.key_);
  const auto it =
      std::find_if(first, last, [&](const auto& item) { return item.second.get() == &chunk; });
  if (it != last) stored_.erase(it);
}

// A task that is reading the chunk keeps it until it has ended.
ChunksAhead::Iterator ChunksAhead::drop(Iterator chunk) {
  chunk->second->state_ = State::dropped;
  forget_key(*chunk->second);
  return chunks_.erase(chunk);
}

void ChunksAhead::begin_request(const Box& box) {
  std::unique_lock lock(mutex_);
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    const bool is_taken = it->second->state_ == State::waiting && it->second->box().meets(box);
    it = is_taken ? drop(it) : std::next(it);
  }
  changed_.wait(lock, [&] {
    return std::ranges::none_of(chunks_, [&](const auto& item) {
      return item.second->state_ == State::opening && item.second->box().meets(box);
    });
  });
}

void ChunksAhead::end_request(const Box& box) {
  keep([&](const Box& other) { return !other.meets(box); });
}

void ChunksAhead::keep(const std::function<bool(const Box&)>& is_wanted) {
  const std::lock_guard lock(mutex_);
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    it = is_wanted(it->second->box()) ? std::next(it) : drop(it);
  }
  std::erase_if(waiting_, [](const Chunk& chunk) { return chunk->state_ != State::waiting; });
  changed_.notify_all();
}

ChunksAhead::Taken ChunksAhead::take(const CacheKey& key, const std::function<bool()>& help) {
  std::unique_lock lock(mutex_);
  const auto it = stored_.find(key);
  if (it == stored_.end()) return {};
  const Chunk chunk = it->second;
  const auto is_being_read = [&] { return chunk->state_ == State::reading && chunk->key_ == key; };
  bool helps = true;
  while (is_being_read()) {
    if (helps) {
      lock.unlock();
      helps = help();
      lock.lock();
    } else {
      changed_.wait(lock, [&] { return !is_being_read(); });
    }
  }
  // It could not be read, another reader was faster, or it is elsewhere in a new version of its
  // shard, in which another chunk has this place.
  if (chunk->state_ != State::decoded || chunk->key_ != key) return {};
  if (const auto own = chunks_.find(chunk->box().start); own != chunks_.end()) drop(own);
  return {chunk->chunk_, chunk->chunk_ == nullptr};
}

bool ChunksAhead::has(const Shape& start) const {
  const std::lock_guard lock(mutex_);
  return chunks_.contains(start);
}

void ChunksAhead::add(Box box, MemoryShare memory) {
  const auto chunk = std::make_shared<ChunkAhead>(std::move(box), std::move(memory));
  const std::lock_guard lock(mutex_);
  if (!chunks_.emplace(chunk->box().start, chunk).second) return;
  waiting_.push_back(chunk);
}

std::size_t ChunksAhead::size() const {
  const std::lock_guard lock(mutex_);
  return chunks_.size();
}

std::size_t ChunksAhead::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      waiting_, [](const Chunk& chunk) { return chunk->state_ == State::waiting; }));
}

std::vector<ChunksAhead::Chunk> ChunksAhead::next(std::size_t max_count) {
  std::vector<Chunk> chunks;
  const std::lock_guard lock(mutex_);
  // Before any state changes: there may be no memory.
  chunks.reserve(std::min(max_count, waiting_.size()));
  while (chunks.size() < max_count && !waiting_.empty()) {
    Chunk chunk = std::move(waiting_.front());
    waiting_.pop_front();
    if (chunk->state_ != State::waiting) continue;
    chunks.push_back(std::move(chunk));
    chunks.back()->state_ = State::opening;
  }
  return chunks;
}

bool ChunksAhead::is_stored_at(ChunkAhead& chunk, CacheKey key) {
  const std::lock_guard lock(mutex_);
  const auto it = chunks_.find(chunk.box().start);
  const bool is_wanted = chunk.state_ == State::opening || chunk.state_ == State::reading;
  if (!is_wanted || it == chunks_.end()) return false;
  forget_key(chunk);
  stored_.emplace(key, it->second);
  chunk.key_ = std::move(key);
  chunk.state_ = State::reading;
  changed_.notify_all();
  return true;
}

void ChunksAhead::put(ChunkAhead& chunk, CacheKey key, std::shared_ptr<const CachedChunk> value) {
  if (!is_stored_at(chunk, std::move(key))) return;
  const std::lock_guard lock(mutex_);
  if (chunk.state_ != State::reading) return;
  chunk.chunk_ = std::move(value);
  chunk.state_ = State::decoded;
  changed_.notify_all();
}

void ChunksAhead::give_up(std::span<const Chunk> chunks) {
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : chunks) {
    if (chunk->state_ == State::dropped || chunk->state_ == State::decoded) continue;
    forget_key(*chunk);
    chunk->state_ = State::failed;
  }
  changed_.notify_all();
}

}  // namespace zarrcore
