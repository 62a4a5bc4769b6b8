#include "zarrcore/array/chunk_decoder.h"

#include <cstring>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Memory for a decoded chunk; its content is undefined.
MutableByteSpan memory_for(const CodecChain& chain, DecodedChunk& scratch) {
  const std::uint64_t size = chain.decoded_size();
  if (scratch.elements.size() != size) scratch.elements = Buffer(size);
  return scratch.elements.span();
}

}  // namespace

ScratchPool::ScratchPool(std::size_t threads) : idle_(threads) {}

void ScratchPool::with_scratch(const std::function<void(DecodedChunk&)>& body) {
  DecodedChunk scratch;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty(); });
    scratch = std::move(idle_.back());
    idle_.pop_back();
  }
  const auto put_back = [&] {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
    returned_.notify_one();
  };
  try {
    body(scratch);
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
}

ChunkDecoder::ChunkDecoder(const ArrayState& array, Context& context,
                           const ElementConverter* converter, std::size_t threads)
    : array_(array),
      context_(context),
      request_(++context.requests),
      cache_id_(array.cache_id),
      converter_(converter),
      scratch_(threads) {}

CacheKey ChunkDecoder::cache_key(const StoredPart& part) const {
  return {cache_id_, part.chain, *part.key, part.offset, part.length};
}

std::shared_ptr<const CachedChunk> ChunkDecoder::find_cached(const StoredPart& part) const {
  auto chunk = context_.chunks.find(cache_key(part), request_);
  return chunk && is_current(part, *chunk) ? chunk : nullptr;
}

bool ChunkDecoder::is_current(const StoredPart& part, const CachedChunk& chunk) const {
  return chunk.state().is_good_for(part.is_whole_value() ? array_.store->current_version(*part.key)
                                                         : part.version);
}

bool ChunkDecoder::copy_from_cache(const StoredPart& part) const {
  const auto chunk = find_cached(part);
  if (!chunk) return false;
  with_context([&] { return "chunk " + *part.key; },
               [&] { copy(part, chunk->elements(part.axes)); });
  return true;
}

bool ChunkDecoder::copy_from_ahead(const StoredPart& part,
                                   const std::shared_ptr<const CachedChunk>& chunk) const {
  if (!is_current(part, *chunk)) return false;
  copy(part, chunk->all().data());
  if (!is_whole(part.axes) || part.destination == nullptr) {
    context_.chunks.insert(cache_key(part), chunk, chunk->byte_count(), request_);
  }
  return true;
}

bool ChunkDecoder::is_still_missing(const StoredPart& part) const {
  const ValueVersion current = array_.store->current_version(*part.key);
  return current.is_unknown() || current.is_absent();
}

void ChunkDecoder::decode_ahead(const StoredPart& part, ByteSpan encoded,
                                const ValueVersion& version, ChunksAhead& ahead) {
  scratch_.with_scratch([&](DecodedChunk&) {
    ahead.put(*part.ahead, cache_key(part),
              std::make_shared<const CachedChunk>(part.chain->decode(encoded), KeptState{version}));
  });
}

void ChunkDecoder::decode(const StoredPart& part, Encoded encoded) {
  scratch_.with_scratch([&](DecodedChunk& scratch) {
    // A chunk that is used as a whole is not needed again, so it is not cached.
    if (is_whole(part.axes) && part.destination != nullptr) {
      decode_whole(part, encoded.bytes, scratch);
    } else {
      decode_to_cache(part, encoded);
    }
  });
}

// Decodes a chunk of which only a part is used, or only the needed blocks of it, and caches it for
// requests for the rest.
void ChunkDecoder::decode_to_cache(const StoredPart& part, Encoded encoded) const {
  const CodecChain& chain = *part.chain;
  std::shared_ptr<const CachedChunk> chunk;
  const auto block_size = part.destination != nullptr ? chain.block_size(encoded.bytes)
                                                      : std::optional<std::uint64_t>();
  if (block_size) {
    chunk = std::make_shared<const CachedChunk>(
        chain,
        encoded.owner != nullptr ? std::move(*encoded.owner) : Buffer::copy_of(encoded.bytes),
        *block_size, KeptState{encoded.version});
  } else {
    chunk = std::make_shared<const CachedChunk>(chain.decode(encoded.bytes),
                                                KeptState{encoded.version, part.is_prefetched()});
  }
  copy(part, chunk->elements(part.axes));
  context_.chunks.insert(cache_key(part), chunk, chunk->byte_count(), request_);
}

// Decodes straight into the destination if the chunk is dense there. Encoded bytes that already are
// the decoded ones are copied from where they are.
void ChunkDecoder::decode_whole(const StoredPart& part, ByteSpan encoded,
                                DecodedChunk& scratch) const {
  const CodecChain& chain = *part.chain;
  if (const auto elements = chain.find_decoded(encoded)) return copy(part, elements->data());
  const Shape& shape = chain.stored_spec().shape;
  bool is_dense = converter_ == nullptr;
  auto expected = static_cast<std::ptrdiff_t>(item_size());
  for (std::size_t i = shape.size(); is_dense && i-- > 0;) {
    const AxisSlice& axis = part.axes[i];
    is_dense = axis.count == shape[i] && (axis.count == 1 || axis.stride == expected);
    expected *= static_cast<std::ptrdiff_t>(shape[i]);
  }
  scratch.arena = {};
  if (is_dense) {
    chain.decode(encoded, {part.destination, chain.decoded_size()}, scratch.arena);
    return;
  }
  chain.check_plausible(encoded);
  const MutableByteSpan chunk = memory_for(chain, scratch);
  chain.decode(encoded, chunk, scratch.arena);
  copy(part, chunk.data());
}

void ChunkDecoder::place_elements(const StoredPart& part, std::span<const ByteRange> ranges,
                                  std::span<Buffer> encoded) {
  const CodecChain& chain = *part.chain;
  for (Buffer& elements : encoded) chain.decode_elements(elements.span());
  if (ranges.size() == 1) {
    copy(part, encoded.front().data(), ranges.front().offset);
    return;
  }
  scratch_.with_scratch([&](DecodedChunk& scratch) {
    std::byte* chunk = memory_for(chain, scratch).data();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::memcpy(chunk + ranges[i].offset, encoded[i].data(), ranges[i].length);
    }
    copy(part, chunk);
  });
}

// Copies the selected elements of a decoded chunk; `elements` points to its byte `first`.
void ChunkDecoder::copy(const StoredPart& part, const std::byte* elements,
                        std::uint64_t first) const {
  if (part.destination == nullptr) return;
  const SliceLayout layout = layout_of(part.axes, part.chain->stored_spec().shape, item_size());
  elements += layout.offset - static_cast<std::ptrdiff_t>(first);
  copy_or_convert(layout.counts, item_size(), converter_, elements, layout.in_chunk,
                  part.destination, layout.in_memory);
}

void ChunkDecoder::fill(const StoredPart& part) const {
  if (part.destination == nullptr) return;
  Shape counts;
  Strides destination;
  for (const AxisSlice& axis : part.axes) {
    counts.push_back(axis.count);
    destination.push_back(axis.stride);
  }
  const Strides source(counts.size(), 0);
  copy_or_convert(counts, item_size(), converter_, array_.fill_value.data(), source,
                  part.destination, destination);
}

}  // namespace zarrcore
