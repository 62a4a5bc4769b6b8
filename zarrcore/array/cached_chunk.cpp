#include "zarrcore/array/cached_chunk.h"

#include <algorithm>

#include "zarrcore/base/checked_math.h"

namespace zarrcore {
namespace {

// Which blocks of `block_size` bytes contain elements that `axes` select, in a dense chunk of
// `chunk_size` bytes and the given shape.
std::vector<bool> touched_blocks(std::span<const AxisSlice> axes,
                                 std::span<const std::uint64_t> shape, std::uint64_t item_size,
                                 std::uint64_t chunk_size, std::uint64_t block_size) {
  std::vector<bool> touched(memory_size(ceil_divide(chunk_size, block_size)));
  // No block fits into a smaller gap.
  const std::uint64_t max_gap = block_size - 1;
  for_each_run(axes, shape, item_size, max_gap, [&](std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t last = (offset + length - 1) / block_size;
    for (auto block = static_cast<std::size_t>(offset / block_size); block <= last; ++block) {
      touched[block] = true;
    }
  });
  return touched;
}

}  // namespace

CachedChunk::CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size,
                         const KeptState& state)
    : state_(state),
      chunk_{Buffer(chain.decoded_size()), {}},
      chain_(&chain),
      block_size_(memory_size(block_size)),
      encoded_(std::move(encoded)),
      is_decoded_(memory_size(ceil_divide(chain.decoded_size(), block_size))),
      missing_(is_decoded_.size()) {}

const std::byte* CachedChunk::elements(std::span<const AxisSlice> axes) const {
  if (chain_ != nullptr) {
    const std::lock_guard lock(mutex_);
    if (missing_ > 0) decode_blocks(axes);
  }
  return chunk_.elements.data();
}

std::uint64_t CachedChunk::byte_count() const {
  const std::lock_guard lock(mutex_);
  return chunk_.byte_count() + encoded_.size();
}

// Decodes the missing blocks with elements that `axes` select, or all blocks if that is faster.
void CachedChunk::decode_blocks(std::span<const AxisSlice> axes) const {
  const ChunkSpec& spec = chain_->stored_spec();
  const MutableByteSpan chunk = chunk_.elements.span();
  const std::vector<bool> wanted =
      touched_blocks(axes, spec.shape, spec.data_type.item_size, chunk.size(), block_size_);
  const auto count = static_cast<std::size_t>(std::ranges::count(wanted, true));
  // Decoding block by block takes an additional copy.
  if (missing_ == wanted.size() && 4 * count > 3 * wanted.size()) {
    chain_->decode(encoded_.span(), chunk, chunk_.arena);
    missing_ = 0;
  }
  for (std::size_t block = 0; missing_ > 0 && block < wanted.size(); ++block) {
    if (!wanted[block] || is_decoded_[block]) continue;
    const std::size_t offset = block * block_size_;
    chain_->decode_block(encoded_.span(), offset,
                         chunk.subspan(offset, std::min(block_size_, chunk.size() - offset)));
    is_decoded_[block] = true;
    --missing_;
  }
  if (missing_ == 0) encoded_ = {};
}

}  // namespace zarrcore
