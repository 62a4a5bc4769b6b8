#include "zarrcore/array/chunk_decoder.h"

#include <cstring>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/codec/codec.h"

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

// Decodes a chunk into a buffer of its own. Fetched bytes are decoded in place if the codecs leave
// each element at its position.
DecodedChunk decode_owned(const CodecChain& chain, const ChunkDecoder::Encoded& encoded) {
  if (encoded.owner == nullptr || !chain.elements_stand_alone()) return chain.decode(encoded.bytes);
  check_size("the chunk has ", encoded.bytes.size(), chain.decoded_size());
  encoded.owner->shrink_to_fit();
  chain.decode_elements(encoded.owner->span());
  return {std::move(*encoded.owner), {}};
}

const ValueVersion& version_of(const StoredPart& part, const ChunkDecoder::Encoded& encoded) {
  return part.is_whole_value() ? encoded.version : part.version;
}

std::uint64_t moment_of(const Store& store) {
  ValueWatch* const watch = store.traits().watch;
  return watch != nullptr ? watch->moment() : 0;
}

}  // namespace

DecodedChunk ChunkDecoder::take_scratch() {
  std::unique_lock lock(mutex_);
  free_.reserve(threads_);
  released_.wait(lock, [this] { return left_ > 0; });
  --left_;
  if (free_.empty()) return {};
  // What was released last is most likely in the processor's cache.
  DecodedChunk scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void ChunkDecoder::release(DecodedChunk scratch) noexcept {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
    ++left_;
  }
  released_.notify_one();
}

ChunkDecoder::ChunkDecoder(const ArrayState& array, CachedArray& cached,
                           const ElementConverter* converter, std::size_t threads,
                           bool waits_for_others, AccessPattern::Request* request)
    : array_(array),
      cached_(cached),
      request_(cached.cache().begin_request()),
      moment_(moment_of(*array.store)),
      converter_(converter),
      waits_for_others_(waits_for_others),
      pattern_(request),
      threads_(threads),
      left_(threads) {}

bool ChunkDecoder::may_cache(const StoredPart& part) const {
  if (part.destination == nullptr || !is_whole(part.axes)) return true;
  // Reading the others takes no more than copying them.
  return are_wholes(WholeChunks::keep) && !part.chain->elements_stand_alone();
}

// Returns true if the array's AccessPattern decides if the chunk is cached. Fetching a chunk again
// from a server costs too much for that, and parts of those whose elements stand alone are read
// without the rest, unless the whole has become worth it.
bool ChunkDecoder::is_reuse_counted(const StoredPart& part) const {
  return pattern_ != nullptr && part.destination != nullptr &&
         part.chain->decoded_size() >= kMinCountedBytes && !part.chain->elements_stand_alone() &&
         array_.store->traits().parallel_requests == 1 && !is_whole(part.axes);
}

// For a chunk that may be cached, and is not, or only its first elements. Once for each.
bool ChunkDecoder::is_to_be_cached(const StoredPart& part, bool is_known) const {
  if (!is_reuse_counted(part)) return true;
  const std::size_t hash = std::hash<std::string>()(*part.key) ^
                           static_cast<std::size_t>(part.position * 0x9e3779b97f4a7c15u);
  return pattern_->caches_part(is_known, hash, cache().max_bytes() / part.chain->decoded_size());
}

bool ChunkDecoder::is_current(const StoredPart& part, const CachedItem& item) const {
  return part.is_whole_value() ? item.is_current(*array_.store, *part.key, moment_)
                               : item.is_valid_for(part.version);
}

ChunkDecoder::FoundOrStarted ChunkDecoder::find_or_start(const StoredPart& part) const {
  while (true) {
    ChunkCache::Found found = find(part);
    if (found.item) {
      // The fact that a value is missing is used only once: the value may be put.
      if (found.item->is_missing() && part.filling == nullptr) erase_cached(part);
      if (is_current(part, *found.item)) return {std::move(found.item), {}};
    }
    FoundOrStarted started = start_again(part);
    if (started.filling || !waits_for_others_) return started;
    if (!found.pending) continue;
    started.item = cache().wait(*found.pending, [] { return false; });
    if (started.item && is_current(part, *started.item)) return started;
  }
}

ChunkDecoder::Lookup ChunkDecoder::copy_from_cache(const StoredPart& part, bool may_decode) const {
  using Intent = ChunkCache::Intent;
  // Chunks whose elements stand alone may be read in parts (partial_reads.cpp).
  const bool starts = may_cache(part) && !part.chain->elements_stand_alone();
  const Intent intent = !may_decode ? Intent::look : starts ? Intent::start : Intent::take;
  if (intent != Intent::start && cache().is_empty()) return {};
  ChunkCache::Found found = find(part, intent);
  Lookup lookup{copy_item(part, found.item, may_decode), nullptr, std::move(found.filling)};
  switch (lookup.cached) {
    case Cached::needs_decoding:
      if (!found.pending || !may_decode || !waits_for_others_) break;
      lookup.cached = Cached::is_pending;
      lookup.pending = std::move(found.pending);
      break;
    case Cached::is_missing:
      erase_cached(part);
      break;
    case Cached::is_copied:
      if (found.is_first_use) {
        lookup.cached = Cached::was_prefetched;
        if (!may_cache(part) || !is_to_be_cached(part, false)) erase_cached(part);
      } else if (is_reuse_counted(part)) {
        pattern_->count_reuse();
      } else if (are_wholes(WholeChunks::release) && !may_cache(part)) {
        erase_cached(part);  // its memory, which is hot, is for the next window
      }
      break;
    default:
      break;
  }
  return lookup;
}

ChunkDecoder::Cached ChunkDecoder::copy_item(const StoredPart& part, const ChunkCache::Item& item,
                                             bool may_decode) const {
  if (!item || !is_current(part, *item)) return Cached::needs_decoding;
  if (item->is_missing()) return Cached::is_missing;
  const auto& chunk = static_cast<const CachedChunk&>(*item);
  if (!chunk.reaches(part.axes, part.chain->stored_spec())) return Cached::is_elsewhere;
  if (!may_decode && !chunk.is_decoded(part.axes)) return Cached::needs_decoding;
  with_context([&] { return "chunk " + part.name(); },
               [&] { copy(part, chunk.elements(part.axes, pattern_, together_)); });
  return Cached::is_copied;
}

void ChunkDecoder::decode(const StoredPart& part, Encoded encoded, ChunkCache::Filling& filling,
                          bool is_known, DecodedChunk& scratch) const {
  if (part.filling != nullptr) {
    finish(filling, std::make_shared<const CachedChunk>(decode_owned(*part.chain, encoded),
                                                        version_of(part, encoded)));
  } else if (may_cache(part)) {
    auto chunk = decode_to_cache(part, encoded, is_known);
    copy(part, chunk->elements(part.axes, pattern_, together_));
    const bool stays = is_to_be_cached(part, is_known);
    finish(filling, std::move(chunk), stays);
  } else {
    decode_whole(part, encoded.bytes, scratch);
  }
}

// Decodes a chunk, or only the part of it that is used.
std::shared_ptr<const CachedChunk> ChunkDecoder::decode_to_cache(const StoredPart& part,
                                                                 const Encoded& encoded,
                                                                 bool is_known) const {
  const CodecChain& chain = *part.chain;
  const ValueVersion& version = version_of(part, encoded);
  const auto block_size = part.destination != nullptr ? chain.block_size(encoded.bytes)
                                                      : std::optional<std::uint64_t>();
  if (block_size) {
    return std::make_shared<const CachedChunk>(
        part.chain,
        encoded.owner != nullptr ? std::move(*encoded.owner) : Buffer::copy_of(encoded.bytes),
        *block_size, version);
  }
  if (auto prefix = decode_prefix(part, encoded.bytes, is_known)) {
    return std::make_shared<const CachedChunk>(DecodedChunk{std::move(*prefix), {}}, version);
  }
  return std::make_shared<const CachedChunk>(decode_owned(chain, encoded), version,
                                             part.is_pinned());
}

// The first elements of a chunk, if those that are selected end early enough, and the rest is not
// expected to be needed. If it is, the chunk is fetched again, which takes little from a local
// store.
std::optional<Buffer> ChunkDecoder::decode_prefix(const StoredPart& part, ByteSpan encoded,
                                                  bool is_known) const {
  const CodecChain& chain = *part.chain;
  if (part.destination == nullptr || pattern_ == nullptr ||
      array_.store->traits().parallel_requests > 1) {
    return std::nullopt;
  }
  const auto step = chain.prefix_step();
  if (!step) return std::nullopt;
  if (chain.decoded_size() <= *step) return std::nullopt;
  if (is_known) {
    pattern_->count_rest();
    return std::nullopt;
  }
  const std::uint64_t end = end_of(part.axes, chain.stored_spec().shape, item_size());
  const std::uint64_t size = (end + *step - 1) / *step * *step;
  if (size >= chain.decoded_size()) return std::nullopt;
  // It is decoded into the memory of the decoder, and copied.
  constexpr double kOverhead = 1.1;
  const auto whole = static_cast<double>(chain.decoded_size());
  if (pattern_->decodes_whole({kOverhead * static_cast<double>(size), whole, whole})) {
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
  with_scratch([&](DecodedChunk& scratch) {
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
