#include "zarrcore/array/cached_chunk.h"

#include <algorithm>

namespace zarrcore {

CachedChunk::CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size)
    : chunk_{Buffer(chain.decoded_size()), {}},
      chain_(&chain),
      block_size_(block_size),
      encoded_size_(encoded.size()),
      encoded_(std::move(encoded)),
      is_decoded_((chain.decoded_size() + block_size - 1) / block_size),
      missing_(is_decoded_.size()) {}

const std::byte* CachedChunk::elements(std::span<const AxisSlice> axes) const {
  if (chain_ != nullptr) {
    const std::lock_guard lock(mutex_);
    if (missing_ > 0) {
      const ChunkSpec& spec = chain_->stored_spec();
      const std::vector<bool> wanted = touched_blocks(axes, spec.shape, spec.data_type.item_size,
                                                      chunk_.elements.size(), block_size_);
      for (std::size_t block = 0; block < wanted.size(); ++block) {
        if (wanted[block] && !is_decoded_[block]) decode_block(block);
      }
      if (missing_ == 0) encoded_ = {};
    }
  }
  return chunk_.elements.data();
}

void CachedChunk::decode_block(std::size_t block) const {
  const std::uint64_t offset = block * block_size_;
  const std::uint64_t length = std::min(block_size_, chunk_.elements.size() - offset);
  chain_->decode_block(encoded_.span(), offset, chunk_.elements.span().subspan(offset, length));
  is_decoded_[block] = true;
  --missing_;
}

std::vector<bool> touched_blocks(std::span<const AxisSlice> axes,
                                 std::span<const std::uint64_t> shape, std::size_t item_size,
                                 std::uint64_t chunk_size, std::uint64_t block_size) {
  std::vector<bool> touched((chunk_size + block_size - 1) / block_size);
  for_each_run(axes, shape, item_size, [&](std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t last = (offset + length - 1) / block_size;
    for (std::uint64_t block = offset / block_size; block <= last; ++block) touched[block] = true;
  });
  return touched;
}

}  // namespace zarrcore
