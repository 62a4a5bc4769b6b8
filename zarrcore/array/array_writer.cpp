#include "zarrcore/array/array_writer.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <shared_mutex>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Whether all that the array has of a chunk is written.
bool is_whole(std::span<const AxisSlice> axes) {
  return std::all_of(axes.begin(), axes.end(), [](const AxisSlice& axis) {
    return axis.start == 0 && axis.step == 1 && axis.count == axis.extent;
  });
}

std::uint64_t product(std::span<const AxisSlice> axes, std::uint64_t AxisSlice::*member) {
  std::uint64_t result = 1;
  for (const AxisSlice& axis : axes) result *= axis.*member;
  return result;
}

}  // namespace

// What is written of one chunk, or, in a shard whose inner chunks can be put together without
// decoding them, of one inner chunk: a unit.
struct ArrayWriter::Part {
  ChunkIndex chunk;
  std::size_t unit = 0;         // position of the inner chunk
  std::vector<AxisSlice> axes;  // of the unit, in its stored order; strides are the source's
  const std::byte* source = nullptr;
};

// The units of a chunk or shard that wait to be put.
class ArrayWriter::PendingChunk {
 public:
  PendingChunk(const Array& array, ChunkIndex index)
      : array_(array),
        index_(std::move(index)),
        key_(array.key_of(index_)),
        chain_(array.chain_of(array.grid_.chunk_shape(index_))),
        sharding_(chain_.shard_is_addressable() ? chain_.sharding() : nullptr),
        unit_chain_(sharding_ != nullptr ? sharding_->inner_chain() : chain_) {
    if (sharding_ == nullptr) return;
    // Inner chunks that reach into the array.
    const Shape& grid = sharding_->inner_grid();
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const std::size_t axis = chain_.axis_order()[i];
      const GridDimension& dimension = array_.grid_.dimension(axis);
      const std::uint64_t extent =
          std::min(dimension.chunk_length(index_[axis]),
                   dimension.array_length() - dimension.chunk_start(index_[axis]));
      units_inside_ *= (extent + sharding_->inner_shape()[i] - 1) / sharding_->inner_shape()[i];
      units_ *= grid[i];
    }
  }

  const ChunkIndex& index() const { return index_; }
  const std::string& key() const { return *key_; }
  std::uint64_t bytes() const { return bytes_; }

  // Whether every unit that the array has is written as a whole.
  bool is_complete() const { return finished_ == units_inside_; }

  // False when this object is no longer the one for its chunk.
  bool write(const Part& part, const ElementConverter* converter) {
    const std::shared_lock lock(mutex_);
    if (is_retired_) return false;
    Unit& unit = find_unit(part.unit);
    const std::lock_guard unit_lock(unit.mutex);
    with_context([&] { return "chunk " + *key_; }, [&] { change(part, converter, unit); });
    return true;
  }

  // Encodes what is not, and puts the chunk.
  void put() {
    const std::unique_lock lock(mutex_);
    // Of what could not be written nothing waits.
    std::erase_if(waiting_,
                  [](const auto& item) { return item.second->state == State::untouched; });
    if (waiting_.empty()) return;
    with_context([&] { return "chunk " + *key_; },
                 [&] {
      for (auto& [position, unit] : waiting_) {
        if (unit->state == State::decoded) encode(*unit);
      }
      if (sharding_ != nullptr) {
        put_shard();
      } else if (waiting_.begin()->second->state == State::absent) {
        array_.store_->erase(*key_);
      } else {
        array_.store_->put(*key_, waiting_.begin()->second->encoded.span());
      }
    });
    waiting_.clear();
    stored_.reset();
    bytes_ = 0;
    finished_ = 0;
  }

  // If nothing waits: lets nothing more be written.
  bool retire() {
    const std::unique_lock lock(mutex_);
    is_retired_ = waiting_.empty();
    return is_retired_;
  }

 private:
  enum class State : std::uint8_t { untouched, decoded, encoded, absent };

  struct Unit {
    std::mutex mutex;
    State state = State::untouched;
    std::optional<DecodedChunk> decoded;
    Buffer encoded;
    std::uint64_t written = 0;  // elements, since it was encoded last

    bool is_finished() const { return state == State::encoded || state == State::absent; }
    std::uint64_t bytes() const { return encoded.size() + (decoded ? decoded->byte_count() : 0); }
  };

  // The shard as it is stored: its index, or nothing when it is absent.
  struct Stored {
    std::shared_ptr<const ShardIndex> index;
  };

  void change(const Part& part, const ElementConverter* converter, Unit& unit) {
    const std::uint64_t before = unit.bytes();
    const bool was_finished = unit.is_finished();
    open(part, unit);
    try {
      copy(part, converter, *unit.decoded);
    } catch (...) {
      // What has not been there before is as if it had not been touched.
      if (before == 0) {
        unit.decoded.reset();
        unit.state = State::untouched;
      }
      throw;
    }
    unit.written += product(part.axes, &AxisSlice::count);
    // Of parts that overlap that may be too early, which costs no more than to decode it again.
    if (unit.written >= product(part.axes, &AxisSlice::extent)) encode(unit);
    bytes_ += unit.bytes() - before;
    finished_ += (unit.is_finished() ? 1 : 0) - (was_finished ? 1 : 0);
  }

  // Makes the elements of a unit ready to be changed.
  void open(const Part& part, Unit& unit) {
    if (is_whole(part.axes)) {
      const std::uint64_t inside = product(part.axes, &AxisSlice::extent);
      const bool is_inside = inside * array_.data_type().item_size == unit_chain_.decoded_size();
      unit.decoded.emplace(is_inside ? DecodedChunk{Buffer(unit_chain_.decoded_size()), {}}
                                     : make_filled());
    } else if (!unit.decoded) {
      unit.decoded.emplace(load(part.unit, unit));
    }
    unit.state = State::decoded;
    unit.encoded = {};
  }

  Unit& find_unit(std::size_t position) {
    const std::lock_guard lock(units_mutex_);
    auto& unit = waiting_[position];
    if (!unit) unit = std::make_unique<Unit>();
    return *unit;
  }

  DecodedChunk make_filled() const {
    DecodedChunk chunk{Buffer(unit_chain_.decoded_size()), {}};
    const Shape& shape = unit_chain_.stored_spec().shape;
    const std::uint64_t item_size = array_.data_type().item_size;
    copy_strided(shape, item_size, array_.fill_value_.data(), Strides(shape.size(), 0),
                 chunk.elements.data(), c_strides(shape, item_size));
    return chunk;
  }

  // The elements of a unit as they are now.
  DecodedChunk load(std::size_t position, const Unit& unit) {
    switch (unit.state) {
      case State::encoded:
        return unit_chain_.decode(unit.encoded.span());
      case State::absent:
        return make_filled();
      default:
        break;
    }
    const auto encoded = fetch(position);
    return encoded ? unit_chain_.decode(encoded->span()) : make_filled();
  }

  std::optional<Buffer> fetch(std::size_t position) {
    if (sharding_ == nullptr) return array_.store_->get(*key_, chain_.max_encoded_size());
    const std::shared_ptr<const ShardIndex> index = stored_index();
    if (!index || !index->at(position).is_present()) return std::nullopt;
    const ShardIndex::Entry entry = index->at(position);
    const ByteRange range = ByteRange::at(chain_.framing().prefix + entry.offset, entry.length);
    if (entry.length > unit_chain_.max_encoded_size()) {
      throw Error("the index says that inner chunk " + std::to_string(position) + " has " +
                  std::to_string(entry.length) + " bytes, which cannot be right");
    }
    auto parts = array_.store_->get_ranges(*key_, {&range, 1});
    if (!parts) throw Error("the shard is gone since its index was read");
    return std::move(parts->front());
  }

  std::shared_ptr<const ShardIndex> stored_index() {
    const std::lock_guard lock(units_mutex_);
    if (!stored_) {
      const std::uint64_t size = sharding_->encoded_index_size();
      const Framing& framing = chain_.framing();
      const ByteRange range = sharding_->index_at_end() ? ByteRange::suffix(size + framing.suffix)
                                                        : ByteRange::at(framing.prefix, size);
      const auto parts = array_.store_->get_ranges(*key_, {&range, 1});
      stored_.emplace();
      if (parts) {
        stored_->index = std::make_shared<const ShardIndex>(
            sharding_->decode_index(parts->front().span().first(size)));
      }
    }
    return stored_->index;
  }

  void copy(const Part& part, const ElementConverter* converter, DecodedChunk& chunk) const {
    const std::uint64_t item_size = array_.data_type().item_size;
    Strides strides = c_strides(unit_chain_.stored_spec().shape, item_size);
    Strides source;
    Shape counts;
    std::byte* destination = chunk.elements.data();
    for (std::size_t i = 0; i < part.axes.size(); ++i) {
      const AxisSlice& axis = part.axes[i];
      destination += static_cast<std::ptrdiff_t>(axis.start) * strides[i];
      strides[i] = axis.count > 1 ? strides[i] * static_cast<std::ptrdiff_t>(axis.step) : 0;
      counts.push_back(axis.count);
      source.push_back(axis.stride);
    }
    if (array_.data_type().is_variable()) {
      copy_variable(counts, converter, part.source, source, chunk.arena, destination, strides);
    } else if (converter != nullptr) {
      convert_strided(counts, *converter, part.source, source, destination, strides);
    } else {
      copy_strided(counts, item_size, part.source, source, destination, strides);
    }
  }

  // Elements whose bytes move into the arena.
  static void copy_variable(const Shape& counts, const ElementConverter* converter,
                            const std::byte* source, const Strides& source_strides, Arena& arena,
                            std::byte* destination, const Strides& strides) {
    constexpr std::size_t kItem = sizeof(VariableElement);
    std::uint64_t count = 1;
    for (const std::uint64_t length : counts) count *= length;
    std::vector<VariableElement> elements(count);
    auto* bytes = reinterpret_cast<std::byte*>(elements.data());
    const Strides dense = c_strides(counts, kItem);
    if (converter != nullptr) {
      convert_strided(counts, *converter, source, source_strides, bytes, dense);
    } else {
      copy_strided(counts, kItem, source, source_strides, bytes, dense);
    }
    for (VariableElement& element : elements) element = arena.keep(element.text());
    copy_strided(counts, kItem, bytes, dense, destination, strides);
  }

  void encode(Unit& unit) const {
    const ByteSpan elements = unit.decoded->elements.span();
    if (array_.metadata().fill_value && is_filled(elements)) {
      unit.state = State::absent;
      unit.encoded = {};
    } else {
      unit.encoded = unit_chain_.encode(elements);
      unit.state = State::encoded;
    }
    unit.decoded.reset();
    unit.written = 0;
  }

  bool is_filled(ByteSpan elements) const {
    const std::uint64_t size = array_.data_type().item_size;
    for (std::size_t i = 0; i < elements.size(); i += size) {
      if (!same_element(array_.data_type(), elements.data() + i, array_.fill_value_.data())) {
        return false;
      }
    }
    return true;
  }

  // Units that wait, and beside them those of the shard that is stored, as they are there.
  void put_shard() {
    std::vector<std::optional<ByteSpan>> chunks(units_);
    std::optional<Buffer> stored;
    if (waiting_.size() < units_inside_) {
      stored = array_.store_->get(*key_, chain_.max_encoded_size());
    }
    Buffer shard;
    if (stored) {
      shard = chain_.decode_shard(stored->span());
      stored.reset();
      const std::uint64_t size = sharding_->encoded_index_size();
      if (shard.size() < size) throw Error("the shard is too short for its index");
      const ShardIndex index = sharding_->decode_index(
          sharding_->index_at_end() ? shard.span().last(size) : shard.span().first(size));
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const ShardIndex::Entry entry = index.at(i);
        if (!entry.is_present()) continue;
        if (entry.offset > shard.size() || entry.length > shard.size() - entry.offset) {
          throw Error("the shard index points outside the shard");
        }
        chunks[i] = shard.span().subspan(entry.offset, entry.length);
      }
    }
    for (const auto& [position, unit] : waiting_) {
      chunks[position] = unit->state == State::absent
                             ? std::nullopt
                             : std::optional<ByteSpan>(unit->encoded.span());
    }
    if (std::none_of(chunks.begin(), chunks.end(), [](const auto& c) { return c.has_value(); })) {
      array_.store_->erase(*key_);
      return;
    }
    const Buffer changed = chain_.encode_shard(sharding_->assemble(chunks));
    array_.store_->put(*key_, changed.span());
  }

  const Array& array_;
  ChunkIndex index_;
  std::shared_ptr<const std::string> key_;
  const CodecChain& chain_;
  const ShardingCodec* sharding_;  // null when the chunk is one unit
  const CodecChain& unit_chain_;
  std::uint64_t units_ = 1;
  std::uint64_t units_inside_ = 1;

  std::shared_mutex mutex_;  // shared by those who write, not by who puts
  bool is_retired_ = false;
  std::mutex units_mutex_;
  std::map<std::size_t, std::unique_ptr<Unit>> waiting_;
  std::optional<Stored> stored_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> finished_{0};
};

ArrayWriter::ArrayWriter(std::shared_ptr<const Array> array, std::uint64_t max_bytes)
    : array_(std::move(array)), max_bytes_(max_bytes) {}

ArrayWriter::~ArrayWriter() = default;

std::uint64_t ArrayWriter::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Pending& chunk : order_) bytes += chunk->bytes();
  return bytes;
}

ArrayWriter::Pending ArrayWriter::pending(const ChunkIndex& chunk) {
  const std::lock_guard lock(mutex_);
  if (const auto it = chunks_.find(chunk); it != chunks_.end()) {
    order_.splice(order_.begin(), order_, it->second);
    return *it->second;
  }
  order_.push_front(std::make_shared<PendingChunk>(*array_, chunk));
  chunks_.emplace(chunk, order_.begin());
  return order_.front();
}

void ArrayWriter::write(const Selection& selection, const Source& source,
                        const WriteOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
    check_selection(selection, array_->shape());
    const std::size_t rank = array_->shape().size();
    if (source.strides.size() != rank) {
      throw Error("the source does not have the " + std::to_string(rank) +
                  " dimensions of the array");
    }
    if (std::find(selection.count.begin(), selection.count.end(), 0) != selection.count.end()) {
      return;
    }
    // A negative step walks the array forwards and the source backwards.
    const std::byte* data = source.data;
    Strides strides = source.strides;
    std::vector<std::uint64_t> steps(rank, 1);
    std::vector<AxisWalker> walkers;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t count = selection.count[i];
      const std::int64_t step = selection.step.empty() || count == 1 ? 1 : selection.step[i];
      std::uint64_t start = selection.start[i];
      steps[i] = static_cast<std::uint64_t>(step);
      if (step < 0) {
        steps[i] = 0 - steps[i];
        start -= (count - 1) * steps[i];
        data += static_cast<std::ptrdiff_t>(count - 1) * strides[i];
        strides[i] = -strides[i];
      }
      walkers.emplace_back(array_->grid_.dimension(i), start, count, steps[i]);
    }
    std::vector<Part> parts;
    std::vector<AxisSlice> slices(rank);
    do {
      Part part;
      part.source = data;
      for (std::size_t i = 0; i < rank; ++i) {
        const AxisPart& along = walkers[i].part();
        const GridDimension& dimension = array_->grid_.dimension(i);
        part.chunk.push_back(along.chunk);
        slices[i] = {along.start, along.count, steps[i],
                     std::min(dimension.chunk_length(along.chunk),
                              array_->shape()[i] - dimension.chunk_start(along.chunk)),
                     strides[i]};
        part.source += static_cast<std::ptrdiff_t>(along.position) * strides[i];
      }
      add_units(std::move(part), slices, parts);
      if (parts.size() >= ChunkReader::kBatchSize) write_parts(parts, source, options);
    } while (advance(walkers));
    write_parts(parts, source, options);
  });
}

// Cuts what is wanted of a chunk along its inner chunks, if it has such that can be put together.
void ArrayWriter::add_units(Part chunk, const std::vector<AxisSlice>& slices,
                            std::vector<Part>& parts) const {
  const CodecChain& chain = array_->chain_of(array_->grid_.chunk_shape(chunk.chunk));
  chunk.axes = permute_axes(slices, chain.axis_order());
  const ShardingCodec* sharding = chain.shard_is_addressable() ? chain.sharding() : nullptr;
  if (sharding == nullptr) {
    parts.push_back(std::move(chunk));
    return;
  }
  const Shape& inner_shape = sharding->inner_shape();
  const Shape& grid = sharding->inner_grid();
  const std::size_t rank = grid.size();
  std::vector<AxisWalker> walkers;
  for (std::size_t i = 0; i < rank; ++i) {
    const AxisSlice& slice = chunk.axes[i];
    walkers.emplace_back(GridDimension(grid[i] * inner_shape[i], inner_shape[i]), slice.start,
                         slice.count, slice.step);
  }
  std::vector<AxisSlice> inner(rank);
  do {
    Part part{chunk.chunk, 0, {}, chunk.source};
    for (std::size_t i = 0; i < rank; ++i) {
      const AxisPart& along = walkers[i].part();
      const AxisSlice& slice = chunk.axes[i];
      inner[i] = {along.start, along.count, slice.step,
                  std::min(inner_shape[i], slice.extent - along.chunk * inner_shape[i]),
                  slice.stride};
      part.source += static_cast<std::ptrdiff_t>(along.position) * slice.stride;
      part.unit = part.unit * grid[i] + along.chunk;
    }
    part.axes = permute_axes(inner, sharding->inner_chain().axis_order());
    parts.push_back(std::move(part));
  } while (advance(walkers));
}

void ArrayWriter::write_parts(std::vector<Part>& parts, const Source& source,
                              const WriteOptions& options) {
  array_->context_->pool.parallel_for(
      parts.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i, std::size_t) {
    while (!pending(parts[i].chunk)->write(parts[i], source.converter)) {
    }
      },
      options.worker_scope);
  std::vector<Pending> complete;
  {
    const std::lock_guard lock(mutex_);
    for (const Part& part : parts) {
      const auto it = chunks_.find(part.chunk);
      if (it == chunks_.end() || !(*it->second)->is_complete()) continue;
      if (complete.empty() || complete.back() != *it->second) complete.push_back(*it->second);
    }
  }
  parts.clear();
  put(complete, options);
  shrink(options);
}

// Puts what has waited longest until the rest is within the bound.
void ArrayWriter::shrink(const WriteOptions& options) {
  std::vector<Pending> oldest;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const Pending& chunk : order_) bytes += chunk->bytes();
    for (auto it = order_.rbegin(); it != order_.rend() && bytes > max_bytes_; ++it) {
      bytes -= (*it)->bytes();
      oldest.push_back(*it);
    }
  }
  put(oldest, options);
}

void ArrayWriter::put(std::span<const Pending> chunks, const WriteOptions& options) {
  if (chunks.empty()) return;
  std::mutex error_mutex;
  std::exception_ptr first_error;
  array_->context_->pool.parallel_for(
      chunks.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i, std::size_t) {
    try {
      chunks[i]->put();
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!first_error) first_error = std::current_exception();
    }
      },
      options.worker_scope);
  array_->forget_cached();
  {
    const std::lock_guard lock(mutex_);
    for (const Pending& chunk : chunks) {
      const auto it = chunks_.find(chunk->index());
      if (it == chunks_.end() || *it->second != chunk || !chunk->retire()) continue;
      order_.erase(it->second);
      chunks_.erase(it);
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

void ArrayWriter::flush(const WriteOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
    std::vector<Pending> all;
    {
      const std::lock_guard lock(mutex_);
      all.assign(order_.begin(), order_.end());
    }
    put(all, options);
  });
}

void ArrayWriter::flush(const Selection& selection, const WriteOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
    check_selection(selection, array_->shape());
    std::vector<Pending> met;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [index, position] : chunks_) {
        if (is_met(index, selection)) met.push_back(*position);
      }
    }
    put(met, options);
  });
}

bool ArrayWriter::is_met(const ChunkIndex& chunk, const Selection& selection) const {
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (selection.count[i] == 0) return false;
    const std::int64_t step = selection.step.empty() ? 1 : selection.step[i];
    const std::uint64_t reach =
        (selection.count[i] - 1) * static_cast<std::uint64_t>(std::abs(step));
    const std::uint64_t first = step < 0 ? selection.start[i] - reach : selection.start[i];
    const GridDimension& dimension = array_->grid_.dimension(i);
    const std::uint64_t start = dimension.chunk_start(chunk[i]);
    if (start > first + reach || start + dimension.chunk_length(chunk[i]) <= first) return false;
  }
  return true;
}

}  // namespace zarrcore
