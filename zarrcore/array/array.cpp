#include "zarrcore/array/array.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

std::uint64_t next_array_id() {
  static std::atomic<std::uint64_t> counter{0};
  return ++counter;
}

}  // namespace

Array::Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata,
             std::shared_ptr<Context> context)
    : store_(std::move(store)),
      path_(std::move(path)),
      metadata_(std::move(metadata)),
      context_(std::move(context)),
      id_(next_array_id()) {
  with_context([&] { return description(); },
               [&] {
                 make_fill_value();
                 grid_ = metadata_.chunk_runs.empty()
                             ? ChunkGrid::regular(metadata_.shape, metadata_.chunk_shape)
                             : ChunkGrid::rectilinear(metadata_.shape, metadata_.chunk_runs);
                 // Made now, so that what is wrong with the codecs shows when the array is opened.
                 const Shape first(shape().size(), 0);
                 first_chain_ = &chain_of(grid_.chunk_shape(first));
                 // In the draft of v3, writers and the text differ on the key of the one chunk of a
                 // scalar.
                 if (const auto other = metadata_.chunk_key_encoding.other_scalar_key();
                     other && first.empty()) {
                   const std::string key = join_path(metadata_.chunk_prefix,
                                                     metadata_.chunk_key_encoding.encode(first));
                   if (!store_->get_ranges(key, {}))
                     scalar_key_ = join_path(metadata_.chunk_prefix, *other);
                 }
               });
}

void Array::make_fill_value() {
  const auto& value = metadata_.fill_value;
  fill_value_.assign(data_type().item_size, std::byte{0});
  if (!value) return;
  if (data_type().is_variable()) {
    const VariableElement element{reinterpret_cast<const char*>(value->data()), value->size()};
    std::memcpy(fill_value_.data(), &element, sizeof(element));
  } else {
    fill_value_ = *value;
    fill_value_.resize(data_type().item_size);
  }
}

const CodecChain& Array::chain_of(const Shape& chunk_shape) const {
  const std::lock_guard lock(chains_mutex_);
  auto& chain = chains_[chunk_shape];
  if (!chain) {
    chain = std::make_unique<const CodecChain>(
        metadata_.codecs, ChunkSpec{chunk_shape, metadata_.data_type, fill_value_});
  }
  return *chain;
}

std::string Array::description() const {
  return store_->description() + ": array /" + path_;
}

Array::~Array() {
  forget_cached();
}

// Readers that are at work may still keep what they find under the id that they began with; nobody
// asks for that any more.
void Array::forget_cached() const {
  const std::uint64_t old = id_.exchange(next_array_id());
  const auto is_own = [old](const CacheKey& key) { return key.array_id == old; };
  context_->chunks.erase_if(is_own);
  context_->shard_indexes.erase_if(is_own);
  context_->spent_on_parts.erase_if(is_own);
}

void Array::refresh() const {
  store_->refresh();
  if (!store_->knows_versions() || has_prefetched_.exchange(false)) forget_cached();
}

Shape Array::block_shape() const {
  // Dimension i of the chain in hand is dimension axes[i] of the array.
  const CodecChain* chain = first_chain_;
  if (chain->sharding() == nullptr) return grid_.max_chunk_shape();
  std::vector<std::size_t> axes(shape().size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  while (const ShardingCodec* sharding = chain->sharding()) {
    std::vector<std::size_t> stored;
    for (const std::size_t axis : chain->axis_order()) stored.push_back(axes[axis]);
    axes = std::move(stored);
    chain = &sharding->inner_chain();
  }
  Shape block(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) block[axes[i]] = chain->spec().shape[i];
  return block;
}

std::shared_ptr<const std::string> Array::key_of(std::span<const std::uint64_t> chunk) const {
  return std::make_shared<const std::string>(scalar_key_.value_or(
      join_path(metadata_.chunk_prefix, metadata_.chunk_key_encoding.encode(chunk))));
}

std::optional<StoredBlock> Array::find_block(std::span<const std::uint64_t> position) const {
  return with_context([&] { return description(); },
                      [&] {
                        if (!grid_.is_regular())
                          throw Error("blocks of a chunk grid that is not regular differ");
                        const Shape block = block_shape();
                        std::vector<std::uint64_t> chunk;
                        std::vector<std::uint64_t> start;  // in the chunk
                        for (std::size_t i = 0; i < block.size(); ++i) {
                          const auto first = i < position.size()
                                                 ? checked_multiply(position[i], block[i])
                                                 : std::nullopt;
                          if (!first || *first >= shape()[i])
                            throw Error("there is no block at this position");
                          chunk.push_back(grid_.dimension(i).chunk_of(*first));
                          start.push_back(*first - grid_.dimension(i).chunk_start(chunk.back()));
                        }
                        ChunkPart part;
                        part.chain = first_chain_;
                        part.key = key_of(chunk);
                        const ReadOptions options;
                        const ChunkReader reader(*store_, *context_, id_, fill_value_,
                                                 data_type().item_size, nullptr, options);
                        return reader.find_block(std::move(part), std::move(start));
                      });
}

void Array::read(const Selection& selection, const Destination& destination,
                 const ReadOptions& options) const {
  with_context([&] { return description(); },
               [&] { read_selection(selection, destination, options); });
}

void Array::prefetch(const Selection& selection, const ReadOptions& options) const {
  has_prefetched_ = true;
  with_context([&] { return description(); },
               [&] { read_selection(selection, {nullptr, Strides(shape().size(), 0)}, options); });
}

std::optional<std::uint64_t> Array::decoded_bytes(const Selection& selection) const {
  const Shape block = block_shape();
  Shape lengths;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (selection.count[i] == 0) return 0;
    const std::uint64_t length = std::max<std::uint64_t>(1, block[i]);
    const std::uint64_t last = (selection.start[i] + selection.count[i] - 1) / length;
    const auto elements = checked_multiply(last - selection.start[i] / length + 1, length);
    if (!elements) return std::nullopt;
    lengths.push_back(*elements);
  }
  const auto elements = checked_product(lengths);
  return elements ? checked_multiply(*elements, data_type().item_size) : std::nullopt;
}

void Array::check_read(const Selection& selection, const Destination& destination) const {
  check_selection(selection, shape());
  if (data_type().is_variable() && destination.converter == nullptr &&
      destination.data != nullptr) {
    throw Error("elements of variable length are read with a converter");
  }
  if (destination.strides.size() != shape().size()) {
    throw Error("the destination does not have the " + std::to_string(shape().size()) +
                " dimensions of the array");
  }
}

ChunkPart Array::part_of(const ChunkSlice& slice, std::byte* data) const {
  ChunkPart part;
  part.chain = grid_.is_regular() ? first_chain_ : &chain_of(grid_.chunk_shape(slice.chunk));
  part.key = key_of(slice.chunk);
  part.axes = permute_axes(slice.axes, part.chain->axis_order());
  if (data != nullptr) part.destination = data + slice.offset;
  return part;
}

void Array::read_selection(const Selection& selection, const Destination& destination,
                           const ReadOptions& options) const {
  check_read(selection, destination);
  ChunkReader reader(*store_, *context_, id_, fill_value_, data_type().item_size,
                     destination.converter, options);
  std::vector<ChunkPart> batch;
  for_each_chunk(grid_, selection, destination.strides, [&](const ChunkSlice& slice) {
    batch.push_back(part_of(slice, destination.data));
    if (batch.size() == ChunkReader::kBatchSize) {
      reader.read(std::move(batch));
      batch.clear();
    }
  });
  reader.read(std::move(batch));
}

void Array::read(const Selection& selection, void* destination, std::size_t size,
                 const ReadOptions& options) const {
  const auto elements = checked_product(selection.count);
  const auto bytes = elements ? checked_multiply(*elements, data_type().item_size) : std::nullopt;
  if (bytes != size) {
    throw Error(description() + ": the selection has a size other than the destination's " +
                std::to_string(size) + " bytes");
  }
  read(selection,
       {static_cast<std::byte*>(destination), c_strides(selection.count, data_type().item_size)},
       options);
}

}  // namespace zarrcore
