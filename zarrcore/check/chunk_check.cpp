#include "zarrcore/check/chunk_check.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/documents.h"

namespace zarrcore {
namespace {

// After so many of either, progress is reported.
constexpr std::size_t kChunksAtOnce = 1024;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{1} << 28;

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

ChunkCheck::ChunkCheck(Store& store, std::shared_ptr<Context> context,
                       const ExamineOptions& options)
    : store_(store), context_(std::move(context)), options_(options) {}

std::size_t ChunkCheck::add_array(std::shared_ptr<const Array> array) {
  ExaminedChunks examined{std::move(array), {}};
  if (options_.reads_indexes && has_addressable_shards(*examined.array)) {
    examined.result.inner_chunks = 0;
  }
  arrays_.push_back(std::move(examined));
  return arrays_.size() - 1;
}

void ChunkCheck::add(StoredChunk chunk) {
  if (!reads_indexes(chunk.array) && !options_.reads_chunks) return;
  const Array& examined = array(chunk.array);
  if (options_.reads_chunks && !examined.data_type().is_variable()) {
    const Selection selection = selection_of(examined.state().grid, chunk.position);
    bytes_ += element_count(selection) * examined.data_type().item_size;
  }
  chunks_.push_back(std::move(chunk));
  if (chunks_.size() == kChunksAtOnce || bytes_ >= kBytesAtOnce) finish();
}

void ChunkCheck::finish() {
  std::mutex mutex;  // guards the results
  context_->pool.parallel_for(
      chunks_.size(), std::max(options_.read.threads, store_.traits().parallel_requests),
      [&](std::size_t i) {
        Result found = examine(chunks_[i]);
        const std::lock_guard lock(mutex);
        Result& result = arrays_[chunks_[i].array].result;
        if (found.inner_chunks) *result.inner_chunks += *found.inner_chunks;
        std::ranges::move(found.findings, std::back_inserter(result.findings));
      },
      options_.read.worker_scope);
  chunks_.clear();
  bytes_ = 0;
}

ChunkCheck::Result ChunkCheck::examine(const StoredChunk& chunk) const {
  Result result;
  auto kind = Finding::Kind::index;
  const auto fault = fault_of([&] {
    if (reads_indexes(chunk.array)) result.inner_chunks = examine_index(chunk);
    kind = Finding::Kind::chunk;
    if (options_.reads_chunks) decode(chunk);
  });
  if (fault) {
    const auto key = array(chunk.array).state().key_of(chunk.position);
    result.findings.push_back({kind, *key, *fault});
  }
  return result;
}

// Returns the number of inner chunks.
std::size_t ChunkCheck::examine_index(const StoredChunk& shard) const {
  const Array& examined = array(shard.array);
  auto entries = read_inner_chunks(examined, shard.position, options_.read);
  const std::size_t count = entries.size();
  const auto is_outside = [&](const ShardIndex::Entry& entry) {
    return shard.size && entry.offset + entry.length > *shard.size;
  };
  if (std::ranges::any_of(entries, is_outside)) {
    throw Error("an inner chunk is outside of the shard");
  }
  if (shard.size) {
    const SharedChain chain = examined.state().chain_of(shard.position);
    const ShardingCodec& sharding = *chain->sharding();
    const std::uint64_t index_size = sharding.encoded_index_size();
    entries.push_back({sharding.index_offset(*shard.size), index_size});
  }
  if (overlap(std::move(entries)))
    throw Error("inner chunks of the shard overlap each other, or its index");
  return count;
}

void ChunkCheck::decode(const StoredChunk& chunk) const {
  const Array& examined = array(chunk.array);
  const Selection selection = selection_of(examined.state().grid, chunk.position);
  // A few chunks are decoded at a time, each into memory of its own.
  ReadOptions options = options_.read;
  options.threads = 1;
  if (examined.data_type().is_variable()) {
    examined.prefetch(selection, options);
    return;
  }
  Buffer values(element_count(selection) * examined.data_type().item_size);
  examined.read(selection, values.data(), values.size(), options);
}

}  // namespace zarrcore
