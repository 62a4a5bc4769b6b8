#include "zarrcore/array/array.h"

#include <algorithm>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/prefetcher.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
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
