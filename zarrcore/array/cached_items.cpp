// The items of ChunkCache: what they hold, and whether they are current (chunk_cache.h).
#include <algorithm>

#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/process.h"

namespace zarrcore {
namespace {

// Decoding a block by itself takes longer by this factor than as a part of the chunk: it is copied.
constexpr double kBlockOverhead = 1.25;
// Another thread takes about as long to wake as smaller blocks take to decode.
constexpr std::size_t kMinBlockPerThread = 32 << 10;

}  // namespace

bool CachedItem::is_current(Store& store, const std::string& key, std::uint64_t moment) const {
  ValueWatch* const watch = store.traits().watch;
  const std::uint64_t stamp = watch != nullptr ? watch->stamp(key, moment) : 0;
  if (stamp != 0 && stamp_ == stamp) return true;
  const ValueVersion current = store.current_version(key);
  if (!is_valid_for(current)) return false;
  if (stamp != 0 && !current.is_absent() && watch->is_stamped(key)) stamp_ = stamp;
  return true;
}

CachedChunk::CachedChunk(SharedChain chain, Buffer encoded, std::uint64_t block_size,
                         const ValueVersion& version)
    : CachedItem(version, false, Kind::chunk),
      chunk_{Buffer(chain->decoded_size()), {}},
      chain_(std::move(chain)),
      block_size_(memory_size(block_size)),
      count_(memory_size(ceil_divide(chain_->decoded_size(), block_size))),
      encoded_(std::move(encoded)),
      encoded_bytes_(encoded_.size()),
      blocks_(std::make_unique<std::atomic<Block>[]>(count_)),
      missing_(count_) {}

// Which blocks contain elements that `axes` select.
std::vector<bool> CachedChunk::touched_blocks(std::span<const AxisSlice> axes) const {
  const ChunkSpec& spec = chain_->stored_spec();
  std::vector<bool> touched(count_);
  // No block fits into a smaller gap.
  const std::uint64_t max_gap = block_size_ - 1;
  for_each_run(axes, spec.shape, spec.data_type.item_size, max_gap,
               [&](std::uint64_t offset, std::uint64_t length) {
                 const std::uint64_t last = (offset + length - 1) / block_size_;
                 for (auto block = static_cast<std::size_t>(offset / block_size_); block <= last;
                      ++block) {
                   touched[block] = true;
                 }
               });
  return touched;
}

bool CachedChunk::is_decoded(std::span<const AxisSlice> axes) const {
  if (missing_ == 0) return true;
  const std::vector<bool> wanted = touched_blocks(axes);
  for (std::size_t block = 0; block < count_; ++block) {
    if (wanted[block] && blocks_[block] != Block::decoded) return false;
  }
  return true;
}

const std::byte* CachedChunk::elements(std::span<const AxisSlice> axes,
                                       AccessPattern::Request* request,
                                       const Together& together) const {
  if (missing_ > 0) decode_blocks(axes, request, together);
  return chunk_.elements.data();
}

// Decodes the missing blocks with elements that `axes` select, or all.
void CachedChunk::decode_blocks(std::span<const AxisSlice> axes, AccessPattern::Request* request,
                                const Together& together) const {
  std::vector<bool> wanted = touched_blocks(axes);
  if (is_new_.exchange(false)) {
    const auto count = static_cast<double>(count_);
    const auto part = static_cast<double>(std::ranges::count(wanted, true));
    const AccessPattern::Request::DecodingCosts costs{kBlockOverhead * part,
                                                      kBlockOverhead * (count - part), count};
    if (request != nullptr && request->decodes_whole(costs)) {
      // Several threads decode all blocks sooner than one thread the chunk.
      if (together == nullptr && decode_whole()) return;
      wanted.assign(count_, true);
    }
  } else if (request != nullptr && !has_counted_rest_) {
    for (std::size_t block = 0; block < count_; ++block) {
      if (!wanted[block] || blocks_[block] == Block::decoded) continue;
      if (!has_counted_rest_.exchange(true)) request->count_rest();
      break;
    }
  }
  std::vector<std::size_t> blocks;
  for (std::size_t block = 0; block < count_; ++block) {
    if (wanted[block] && blocks_[block] != Block::decoded) blocks.push_back(block);
  }
  const auto decode = [&](std::size_t i) {
    if (claim(blocks[i])) decode_block(blocks[i]);
  };
  if (together != nullptr && blocks.size() > 1 && block_size_ >= kMinBlockPerThread) {
    together(blocks.size(), decode);
  } else {
    for (std::size_t i = 0; i < blocks.size(); ++i) decode(i);
  }
}

// False when another thread has blocks in work.
bool CachedChunk::decode_whole() const {
  std::size_t claimed = 0;
  const auto give_back = [&] {
    while (claimed > 0) set(--claimed, Block::encoded);
  };
  for (; claimed < count_; ++claimed) {
    Block state;
    if (!try_to_claim(claimed, state)) {
      give_back();
      return false;
    }
  }
  try {
    chain_->decode(encoded_.span(), chunk_.elements.span(), chunk_.arena);
  } catch (...) {
    give_back();
    throw;
  }
  for (std::size_t block = 0; block < count_; ++block) set(block, Block::decoded);
  count_decoded(count_);
  return true;
}

// False when another thread decodes the block, or has done so, as `state` says. After a fork, the
// blocks that threads of the parent had in work are encoded.
bool CachedChunk::try_to_claim(std::size_t block, Block& state) const {
  const auto own = static_cast<Block>(process_id());
  state = blocks_[block];
  while (state != Block::decoded && state != own) {
    if (blocks_[block].compare_exchange_weak(state, own)) return true;
  }
  return false;
}

// Waits while another thread decodes the block; false when it is decoded.
bool CachedChunk::claim(std::size_t block) const {
  Block state;
  while (!try_to_claim(block, state)) {
    if (state == Block::decoded) return false;
    blocks_[block].wait(state);
  }
  return true;
}

// Decodes a block that this thread has claimed.
void CachedChunk::decode_block(std::size_t block) const {
  const MutableByteSpan chunk = chunk_.elements.span();
  const std::size_t offset = block * block_size_;
  try {
    chain_->decode_block(encoded_.span(), offset,
                         chunk.subspan(offset, std::min(block_size_, chunk.size() - offset)));
  } catch (...) {
    set(block, Block::encoded);
    throw;
  }
  set(block, Block::decoded);
  count_decoded(1);
}

void CachedChunk::set(std::size_t block, Block state) const {
  blocks_[block] = state;
  blocks_[block].notify_all();
}

void CachedChunk::count_decoded(std::size_t blocks) const {
  if (missing_.fetch_sub(blocks) != blocks) return;
  encoded_ = {};
  encoded_bytes_ = 0;
}

}  // namespace zarrcore
