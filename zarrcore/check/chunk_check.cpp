#include "zarrcore/check/chunk_check.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

constexpr std::size_t kChunksAtOnce = 1024;

// Inner chunks with the same bytes may share them.
bool overlap(std::vector<ShardIndex::Entry> entries) {
  std::erase_if(entries, [](const ShardIndex::Entry& entry) { return entry.length == 0; });
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.length) < std::pair(b.offset, b.length);
  });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const ShardIndex::Entry& before = entries[i - 1];
    const ShardIndex::Entry& entry = entries[i];
    const bool is_same = entry.offset == before.offset && entry.length == before.length;
    if (!is_same && entry.offset < before.offset + before.length) return true;
  }
  return false;
}

}  // namespace

ChunkCheck::ChunkCheck(std::shared_ptr<const Array> array, const ExamineOptions& options)
    : array_(std::move(array)),
      options_(&options),
      has_indexes_(options.reads_indexes && has_addressable_shards(*array_)) {
  if (has_indexes_) result_.inner_chunks = 0;
}

void ChunkCheck::add(StoredChunk chunk) {
  if (!has_indexes_ && !options_->reads_chunks) return;
  chunks_.push_back(std::move(chunk));
  if (chunks_.size() == kChunksAtOnce) finish();
}

void ChunkCheck::finish() {
  std::mutex mutex;  // guards `result_`
  const ArrayState& state = array_->state();
  const std::size_t threads =
      std::max(options_->read.threads, state.store->traits().parallel_requests);
  state.context->pool.parallel_for(
      chunks_.size(), threads,
      [&](std::size_t i) {
        Result result;
        examine(chunks_[i], result);
        const std::lock_guard lock(mutex);
        if (result.inner_chunks) *result_.inner_chunks += *result.inner_chunks;
        std::move(result.findings.begin(), result.findings.end(),
                  std::back_inserter(result_.findings));
      },
      options_->read.worker_scope);
  chunks_.clear();
}

void ChunkCheck::examine(const StoredChunk& chunk, Result& result) const {
  const auto key = array_->state().key_of(chunk.position);
  auto kind = Finding::Kind::index;
  try {
    if (has_indexes_) examine_index(chunk, result);
    kind = Finding::Kind::chunk;
    if (options_->reads_chunks) decode(chunk.position);
  } catch (const AccessFailure&) {
    throw;
  } catch (const Error& error) {
    result.findings.push_back({kind, *key, error.what()});
  }
}

void ChunkCheck::examine_index(const StoredChunk& shard, Result& result) const {
  auto entries = read_inner_chunks(*array_, shard.position, options_->read);
  result.inner_chunks = entries.size();
  const auto is_outside = [&](const ShardIndex::Entry& entry) {
    return shard.size && entry.offset + entry.length > *shard.size;
  };
  if (std::ranges::any_of(entries, is_outside)) {
    throw Error("an inner chunk is outside of the shard");
  }
  if (shard.size) {
    const SharedChain chain = array_->state().chain_of(shard.position);
    const ShardingCodec& sharding = *chain->sharding();
    const std::uint64_t index_size = sharding.encoded_index_size();
    entries.push_back({sharding.index_offset(*shard.size), index_size});
  }
  if (overlap(std::move(entries)))
    throw Error("inner chunks of the shard overlap each other, or its index");
}

void ChunkCheck::decode(std::span<const std::uint64_t> position) const {
  const Selection selection = selection_of(array_->state().grid, position);
  // A few chunks are decoded at a time, each into memory of its own.
  ReadOptions options = options_->read;
  options.threads = 1;
  if (array_->data_type().is_variable()) {
    array_->prefetch(selection, options);
    return;
  }
  Buffer values(element_count(selection) * array_->data_type().item_size);
  array_->read(selection, values.data(), values.size(), options);
}

}  // namespace zarrcore
