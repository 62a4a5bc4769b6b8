#include "zarrcore/array/array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/prefetcher.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {

ArrayState::ArrayState(std::shared_ptr<Store> array_store, std::string array_path,
                       ArrayMetadata array_metadata, std::shared_ptr<Context> array_context)
    : store(std::move(array_store)),
      path(std::move(array_path)),
      description(store->description() + ": array /" + path),
      metadata(std::move(array_metadata)),
      context(std::move(array_context)),
      cached(context->chunks) {
  with_context(description, [&] {
    make_fill_value();
    grid = metadata.chunk_runs.empty()
               ? ChunkGrid::regular(metadata.shape, metadata.chunk_shape)
               : ChunkGrid::rectilinear(metadata.shape, metadata.chunk_runs);
    // Created here, so that opening the array reports faulty codecs.
    const Shape first(metadata.shape.size(), 0);
    first_chain = chain_for(grid.chunk_shape(first));
    // The assumptions made here become part of the metadata, so that copies of the array state
    // them.
    if (first_chain->assumes_bytes()) metadata.codecs = first_chain->codecs();
    const std::uint64_t elements = checked_product(metadata.shape).value_or(UINT64_MAX);
    byte_count = checked_multiply(elements, metadata.data_type.item_size).value_or(UINT64_MAX);
    pattern = std::make_unique<AccessPattern>(*store, metadata.shape, grid, *first_chain,
                                              inner_chunk_shape(), metadata.data_type.item_size);
    // For the v3 draft, writers and the specification differ on the key of a scalar's
    // only chunk.
    if (const auto other = metadata.chunk_key_encoding.other_scalar_key(); other && first.empty()) {
      const std::string key = metadata.chunk_key_encoding.encode(first, metadata.chunk_prefix);
      if (!store->get_ranges(key, {})) scalar_key = join_path(metadata.chunk_prefix, *other);
    }
  });
}

void ArrayState::make_fill_value() {
  const DataType& type = metadata.data_type;
  const auto& value = metadata.fill_value;
  fill_value.assign(memory_size(type.item_size), std::byte{0});
  if (!value) return;
  if (type.is_variable()) {
    const VariableElement element{reinterpret_cast<const char*>(value->data()), value->size()};
    std::memcpy(fill_value.data(), &element, sizeof(element));
  } else {
    fill_value = *value;
    fill_value.resize(memory_size(type.item_size));
  }
}

std::shared_ptr<const std::string> ArrayState::key_of(std::span<const std::uint64_t> chunk) const {
  return std::make_shared<const std::string>(
      scalar_key ? *scalar_key : metadata.chunk_key_encoding.encode(chunk, metadata.chunk_prefix));
}

// In a regular grid, the array owns the chain, and nobody has to count its owners.
SharedChain ArrayState::chain_of(std::span<const std::uint64_t> chunk) const {
  if (grid.is_regular()) return {std::shared_ptr<void>(), first_chain.get()};
  return chain_for(grid.chunk_shape(chunk));
}

SharedChain ArrayState::chain_for(const Shape& chunk_shape) const {
  constexpr std::uint64_t kMaxBytes = 16 << 20;
  const std::lock_guard lock(chains_mutex);
  const auto known = chains.find(chunk_shape);
  if (known != chains.end()) return known->second;
  // A codec takes about as much memory as this, and may keep a copy of the fill value.
  const std::uint64_t text_size = dump_json(format_codec_list(metadata.codecs)).size();
  const std::uint64_t chain_bytes = text_size * (16 + metadata.data_type.item_size / 8);
  if (chains.size() * chain_bytes >= kMaxBytes) chains.clear();
  auto chain = std::make_shared<const CodecChain>(
      metadata.codecs, ChunkSpec{chunk_shape, metadata.data_type, fill_value});
  return chains.emplace(chunk_shape, std::move(chain)).first->second;
}

StoredPart ArrayState::part_of(const ChunkSlice& slice, std::byte* data,
                               std::shared_ptr<const std::string> key) const {
  StoredPart part;
  part.chain = chain_of(slice.chunk);
  part.key = key ? std::move(key) : key_of(slice.chunk);
  part.axes = permute_axes(slice.axes, part.chain->axis_order());
  if (data != nullptr) part.destination = data + slice.offset;
  return part;
}

Shape ArrayState::inner_chunk_shape() const {
  // Dimension i of `chain` is dimension axes[i] of the array.
  const CodecChain* chain = first_chain.get();
  if (chain->sharding() == nullptr) return grid.max_chunk_shape();
  std::vector<std::size_t> axes(metadata.shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  while (const ShardingCodec* sharding = chain->sharding()) {
    std::vector<std::size_t> stored;
    for (const std::size_t axis : chain->axis_order()) stored.push_back(axes[axis]);
    axes = std::move(stored);
    chain = &sharding->inner_chain();
  }
  Shape inner(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) inner[axes[i]] = chain->spec().shape[i];
  return inner;
}

void ArrayState::check_read(const Selection& selection, const Destination& destination) const {
  check_selection(selection, metadata.shape);
  if (metadata.data_type.is_variable() && destination.converter == nullptr &&
      destination.data != nullptr) {
    throw Error("elements of variable length are read with a converter");
  }
  if (destination.strides.size() != metadata.shape.size()) {
    throw Error("the destination does not have the " + std::to_string(metadata.shape.size()) +
                " dimensions of the array");
  }
}

Array::Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata,
             std::shared_ptr<Context> context)
    : state_(std::move(store), std::move(path), std::move(metadata), std::move(context)) {}

Array::~Array() = default;

void Array::refresh() const {
  state_.store->refresh();
  if (!state_.store->traits().knows_versions || state_.has_pinned.exchange(false)) {
    state_.invalidate_all();
  }
}

std::optional<StoredRange> Array::find_stored_range(std::span<const std::uint64_t> position) const {
  return with_context(state_.description, [&] {
    const ChunkGrid& grid = state_.grid;
    if (!grid.is_regular()) throw Error("the chunks of a grid that is not regular differ");
    const Shape inner = inner_chunk_shape();
    std::vector<std::uint64_t> chunk;
    std::vector<std::uint64_t> start;  // in the chunk
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const auto first =
          i < position.size() ? checked_multiply(position[i], inner[i]) : std::nullopt;
      if (!first || *first >= shape()[i]) throw Error("no chunk has this position");
      chunk.push_back(grid.dimension(i).chunk_of(*first));
      start.push_back(*first - grid.dimension(i).chunk_start(chunk.back()));
    }
    StoredPart part;
    part.chain = state_.first_chain;
    part.key = state_.key_of(chunk);
    const ReadOptions options;
    return ChunkReader(state_, state_.cached, nullptr, options).find_stored_range(part, start);
  });
}

void Array::read(const Selection& selection, const Destination& destination,
                 const ReadOptions& options) const {
  with_context(state_.description, [&] { read_selection(selection, destination, options); });
}

void Array::prefetch(const Selection& selection, const ReadOptions& options) const {
  state_.has_pinned = true;
  with_context(state_.description,
               [&] { read_selection(selection, {nullptr, Strides(shape().size(), 0)}, options); });
}

void Array::expect_reads(const Selection& selection, const ReadOptions& options) const {
  check_selection(selection, shape());
  Prefetcher* const prefetcher = this->prefetcher(options);
  const bool is_empty = std::ranges::find(selection.count, 0u) != selection.count.end();
  if (prefetcher != nullptr && !is_empty) state_.pattern->expect(box_around(selection));
}

std::optional<std::uint64_t> Array::decoded_bytes(const Selection& selection) const {
  const Shape inner = inner_chunk_shape();
  Shape lengths;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (selection.count[i] == 0) return 0;
    const std::uint64_t length = std::max<std::uint64_t>(1, inner[i]);
    const std::uint64_t last = (selection.start[i] + selection.count[i] - 1) / length;
    const auto elements = checked_multiply(last - selection.start[i] / length + 1, length);
    if (!elements) return std::nullopt;
    lengths.push_back(*elements);
  }
  const auto elements = checked_product(lengths);
  return elements ? checked_multiply(*elements, data_type().item_size) : std::nullopt;
}

Prefetcher* Array::prefetcher(const ReadOptions& options) const {
  if (!options.lasting_scope || options.threads <= 1) return nullptr;
  std::call_once(prefetches_, [this] { prefetcher_ = std::make_unique<Prefetcher>(state_); });
  return prefetcher_.get();
}

void Array::read_selection(const Selection& selection, const Destination& destination,
                           const ReadOptions& options) const {
  state_.check_read(selection, destination);
  Prefetcher* const prefetcher = this->prefetcher(options);
  // Prefetched chunks stay cached for the reads that follow.
  AccessPattern::Request request(
      *state_.pattern, selection,
      {.may_prefetch = prefetcher != nullptr && state_.context->pool.has_workers(),
       .threads = options.threads,
       .max_prefetched_bytes = state_.context->chunks.max_bytes() / 4,
       .fits_cache = state_.byte_count <= state_.context->chunks.max_bytes(),
       .is_read = destination.data != nullptr});
  const Prefetcher::Reading reading(prefetcher, request, options);
  ChunkReader reader(state_, state_.cached, destination.converter, options, &request);
  if (request.walk()) reader.help_with([prefetcher] { return prefetcher->help(); });
  std::vector<StoredPart> batch;
  for_each_chunk(state_.grid, selection, destination.strides, [&](const ChunkSlice& slice) {
    batch.push_back(state_.part_of(slice, destination.data, request.key(slice.chunk, [&] {
      return state_.key_of(slice.chunk);
    })));
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
    throw Error(state_.description + ": the selection has a size other than the destination's " +
                std::to_string(size) + " bytes");
  }
  read(selection,
       {static_cast<std::byte*>(destination), c_strides(selection.count, data_type().item_size)},
       options);
}

}  // namespace zarrcore
