#include "zarrcore/array/chunk_decoder.h"

#include <cstring>
#include <functional>
#include <thread>

#include "zarrcore/base/error.h"
#include "zarrcore/base/thread_object.h"
#include "zarrcore/codec/size_checks.h"

namespace zarrcore {
namespace {

// Memory for smaller chunks costs little.
constexpr std::uint64_t kMinCountedBytes = 128 << 10;

// Memory for a decoded chunk; its content is undefined.
MutableByteSpan memory_for(const CodecChain& chain, DecodedChunk& scratch) {
  const std::uint64_t size = chain.decoded_size();
  if (scratch.elements.size() != size) scratch.elements = Buffer(size);
  return scratch.elements.span();
}

// Decodes a chunk to memory of its own: that of its bytes, if they are fetched ones of which each
// element keeps its place.
DecodedChunk decode_to_keep(const CodecChain& chain, const ChunkDecoder::Encoded& encoded) {
  if (encoded.owner == nullptr || !chain.elements_stand_alone()) return chain.decode(encoded.bytes);
  check_size("the chunk has ", encoded.bytes.size(), chain.decoded_size());
  encoded.owner->shrink_to_fit();
  chain.decode_elements(encoded.owner->span());
  return {std::move(*encoded.owner), {}};
}

const ValueVersion& version_of(const StoredPart& part, const ChunkDecoder::Encoded& encoded) {
  return part.is_whole_value() ? encoded.version : part.version;
}

}  // namespace

ScratchPool::ScratchPool(std::size_t threads)
    : count_(threads), slots_(std::make_unique<Slot[]>(threads)) {}

ScratchPool::Slot* ScratchPool::take_free() {
  // Mostly the one that this thread had before, which no other thread looks at.
  thread_local std::size_t last = std::hash<std::thread::id>()(std::this_thread::get_id());
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t at = (last + i) % count_;
    if (!slots_[at].is_taken.load() && !slots_[at].is_taken.exchange(true)) {
      last = at;
      return &slots_[at];
    }
  }
  return nullptr;
}

ScratchPool::Slot& ScratchPool::take() {
  if (Slot* slot = take_free()) return *slot;
  ++waiting_;
  while (true) {
    const std::uint32_t returns = returns_;
    if (Slot* slot = take_free()) {
      --waiting_;
      return *slot;
    }
    returns_.wait(returns);
  }
}

void ScratchPool::put_back(Slot& slot) {
  slot.is_taken = false;
  if (waiting_ == 0) return;
  ++returns_;
  returns_.notify_one();
}

ChunkDecoder::ChunkDecoder(const ArrayState& array, Context& context,
                           const ElementConverter* converter, std::size_t threads)
    : array_(array),
      context_(context),
      request_(++context.requests),
      moment_(array.store->moment()),
      erasures_(context.chunks.erasures()),
      cache_id_(array.cache_id),
      invalidations_(array.invalidations),
      converter_(converter),
      reuse_is_likely_(array.byte_count <= context.chunks.max_bytes() ||
                       array.chunk_reuse.is_likely()),
      scratch_(threads) {}

ChunkDecoder::~ChunkDecoder() {
  array_.chunk_reuse.observe({used_before_, new_});
}

CacheKey ChunkDecoder::cache_key(const StoredPart& part) const {
  return {cache_id_, part.chain, part.key, part.offset, part.length};
}

CacheKey ChunkDecoder::ahead_key(const StoredPart& part) const {
  return {invalidations_, part.chain, part.key, part.offset, part.length};
}

bool ChunkDecoder::may_cache(const StoredPart& part) const {
  if (part.destination == nullptr || !is_whole(part.axes)) return true;
  // Reading the others takes no more than copying them.
  return whole_chunks_ == WholeChunks::keep && !part.chain->elements_stand_alone();
}

// Whether ChunkReuse decides if the chunk is cached. Fetching a chunk again from a server costs too
// much for that, and parts of those whose elements stand alone are read without the rest, unless
// the whole has become worth it.
bool ChunkDecoder::is_reuse_counted(const StoredPart& part) const {
  return part.destination != nullptr && part.chain->decoded_size() >= kMinCountedBytes &&
         !part.chain->elements_stand_alone() && array_.store->traits().parallel_requests == 1 &&
         !is_whole(part.axes);
}

// For a chunk that may be cached, and is not, or only its first elements. Once for each.
bool ChunkDecoder::is_to_be_cached(const StoredPart& part) const {
  if (!is_reuse_counted(part)) return true;
  const CacheKey key = cache_key(part);
  const bool is_known =
      reuse_is_likely_
          ? context_.chunks.find(key, request_) != nullptr
          : array_.chunk_reuse.remember(CacheKeyHash()(key),
                                        context_.chunks.max_bytes() / part.chain->decoded_size());
  ++(is_known ? used_before_ : new_);
  return reuse_is_likely_ || is_known;
}

std::shared_ptr<const CachedChunk> ChunkDecoder::find_cached(const StoredPart& part) const {
  if (context_.chunks.is_empty()) return nullptr;
  return find_cached(part, cache_key(part));
}

std::shared_ptr<const CachedChunk> ChunkDecoder::find_cached(const StoredPart& part,
                                                             const CacheKey& key) const {
  auto chunk = context_.chunks.find(key, request_);
  return chunk && is_current(part, *chunk) ? chunk : nullptr;
}

void ChunkDecoder::cache(const StoredPart& part,
                         const std::shared_ptr<const CachedChunk>& chunk) const {
  context_.chunks.insert(cache_key(part), chunk, chunk->byte_count(), request_, erasures_);
}

bool ChunkDecoder::has_cached(const StoredPart& part) const {
  const auto chunk = find_cached(part);
  return chunk && chunk->reaches(part.axes, part.chain->stored_spec());
}

bool ChunkDecoder::is_current(const StoredPart& part, const CachedChunk& chunk) const {
  return part.is_whole_value() ? chunk.state().is_current(*array_.store, *part.key, moment_)
                               : chunk.state().is_good_for(part.version);
}

bool ChunkDecoder::copy_from_cache(const StoredPart& part, bool may_decode) const {
  const CacheKey key = cache_key(part);
  const auto chunk = find_cached(part, key);
  if (!chunk || !chunk->reaches(part.axes, part.chain->stored_spec())) return false;
  if (!may_decode && !chunk->is_decoded(part.axes)) return false;
  with_context([&] { return "chunk " + *part.key; },
               [&] { copy(part, chunk->elements(part.axes)); });
  if (is_reuse_counted(part)) ++used_before_;
  if (whole_chunks_ == WholeChunks::release && !may_cache(part)) {
    context_.chunks.erase(key);  // its memory, which is hot, is for the next window
  }
  return true;
}

bool ChunkDecoder::copy_from_ahead(const StoredPart& part,
                                   const std::shared_ptr<const CachedChunk>& chunk) const {
  if (!is_current(part, *chunk)) return false;
  copy(part, chunk->all().data());
  if (may_cache(part) && is_to_be_cached(part)) cache(part, chunk);
  return true;
}

bool ChunkDecoder::is_still_missing(const StoredPart& part) const {
  const ValueVersion current = array_.store->current_version(*part.key);
  return current.is_unknown() || current.is_absent();
}

void ChunkDecoder::decode_ahead(const StoredPart& part, const Encoded& encoded,
                                ChunksAhead& ahead) const {
  ahead.put(*part.ahead, ahead_key(part),
            std::make_shared<const CachedChunk>(decode_to_keep(*part.chain, encoded),
                                                KeptState{version_of(part, encoded)}));
}

void ChunkDecoder::decode(const StoredPart& part, Encoded encoded, DecodedChunk& scratch) const {
  if (may_cache(part)) {
    decode_to_cache(part, encoded);
  } else {
    decode_whole(part, encoded.bytes, scratch);
  }
}

// Decodes a chunk, or only the part of it that is used, and caches it for other requests if that is
// worth it.
void ChunkDecoder::decode_to_cache(const StoredPart& part, Encoded encoded) const {
  const CodecChain& chain = *part.chain;
  const ValueVersion& version = version_of(part, encoded);
  std::shared_ptr<const CachedChunk> chunk;
  const auto block_size = part.destination != nullptr ? chain.block_size(encoded.bytes)
                                                      : std::optional<std::uint64_t>();
  if (block_size) {
    chunk = std::make_shared<const CachedChunk>(
        chain,
        encoded.owner != nullptr ? std::move(*encoded.owner) : Buffer::copy_of(encoded.bytes),
        *block_size, array_.partial_decoding, KeptState{version});
  } else if (auto prefix = decode_prefix(part, encoded.bytes)) {
    chunk = std::make_shared<const CachedChunk>(DecodedChunk{std::move(*prefix), {}},
                                                KeptState{version});
  } else {
    chunk = std::make_shared<const CachedChunk>(decode_to_keep(chain, encoded),
                                                KeptState{version, part.is_prefetched()});
  }
  copy(part, chunk->elements(part.axes));
  if (is_to_be_cached(part)) cache(part, chunk);
}

// The first elements of a chunk, if those that are selected end early enough, and the rest is not
// expected to be needed. If it is, the chunk is fetched again, which takes little from a local
// store.
std::optional<Buffer> ChunkDecoder::decode_prefix(const StoredPart& part, ByteSpan encoded) const {
  const CodecChain& chain = *part.chain;
  if (part.destination == nullptr || array_.store->traits().parallel_requests > 1)
    return std::nullopt;
  const auto step = chain.prefix_step();
  if (!step) return std::nullopt;
  if (chain.decoded_size() <= *step) return std::nullopt;
  if (find_cached(part) != nullptr) {
    array_.partial_decoding.count_rest();
    return std::nullopt;
  }
  const std::uint64_t end = end_of(part.axes, chain.stored_spec().shape, item_size());
  const std::uint64_t size = (end + *step - 1) / *step * *step;
  if (size >= chain.decoded_size()) return std::nullopt;
  // It is decoded into the memory of the decoder, and copied.
  constexpr double kOverhead = 1.1;
  const auto whole = static_cast<double>(chain.decoded_size());
  if (array_.partial_decoding.takes_whole({kOverhead * static_cast<double>(size), whole, whole})) {
    return std::nullopt;
  }
  return chain.decode_prefix(encoded, size);
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
    chain.decode(encoded, {part.destination, memory_size(chain.decoded_size())}, scratch.arena);
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
      std::memcpy(chunk + ranges[i].offset, encoded[i].data(), encoded[i].size());
    }
    copy(part, chunk);
  });
}

// Copies the selected elements of a decoded chunk; `elements` points to its byte `first`.
void ChunkDecoder::copy(const StoredPart& part, const std::byte* elements,
                        std::uint64_t first) const {
  if (part.destination == nullptr) return;
  // Chunks can be small, and allocating memory for each would take as long as copying them.
  auto& layout = thread_object<SliceLayout>();
  set_layout(layout, part.axes, part.chain->stored_spec().shape, item_size());
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
