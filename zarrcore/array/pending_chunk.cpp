#include "zarrcore/array/pending_chunk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

std::uint64_t product(std::span<const AxisSlice> axes, std::uint64_t AxisSlice::*member) {
  std::uint64_t result = 1;
  for (const AxisSlice& axis : axes) result *= axis.*member;
  return result;
}

// Elements of variable length, whose bytes move into the arena.
void copy_variable(const SliceLayout& layout, const ElementConverter* converter,
                   const std::byte* source, Arena& arena, std::byte* destination) {
  constexpr std::size_t kItem = sizeof(VariableElement);
  std::uint64_t count = 1;
  for (const std::uint64_t length : layout.counts) count *= length;
  std::vector<VariableElement> elements(count);
  auto* bytes = reinterpret_cast<std::byte*>(elements.data());
  const Strides dense = c_strides(layout.counts, kItem);
  if (converter != nullptr) {
    convert_strided(layout.counts, *converter, source, layout.in_memory, bytes, dense);
  } else {
    copy_strided(layout.counts, kItem, source, layout.in_memory, bytes, dense);
  }
  for (VariableElement& element : elements) element = arena.keep(element.text());
  copy_strided(layout.counts, kItem, bytes, dense, destination, layout.in_chunk);
}

}  // namespace

// Counts what becomes of a unit while this object lives, whether it ends well or not.
class PendingChunk::Count {
 public:
  Count(PendingChunk& chunk, const Unit& unit)
      : chunk_(chunk), unit_(unit), bytes_(unit.bytes()), is_finished_(unit.is_finished()) {}
  ~Count() {
    const std::uint64_t more = unit_.bytes() - bytes_;
    chunk_.bytes_ += more;
    chunk_.add_to_totals(more);
    chunk_.finished_ += (unit_.is_finished() ? 1u : 0u) - (is_finished_ ? 1u : 0u);
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  PendingChunk& chunk_;
  const Unit& unit_;
  std::uint64_t bytes_;
  bool is_finished_;
};

PendingChunk::PendingChunk(const Array& array, Index index, std::atomic<std::uint64_t>& total)
    : array_(array),
      index_(std::move(index)),
      key_(array.key_of(index_)),
      chain_(array.chain_of(array.grid_.chunk_shape(index_))),
      sharding_(chain_.shard_is_addressable() ? chain_.sharding() : nullptr),
      unit_chain_(sharding_ != nullptr ? sharding_->inner_chain() : chain_),
      total_(total) {
  if (sharding_ == nullptr) return;
  for (std::size_t i = 0; i < index_.size(); ++i) {
    const std::size_t axis = chain_.axis_order()[i];
    const GridDimension& dimension = array_.grid_.dimension(axis);
    const std::uint64_t extent =
        std::min(dimension.chunk_length(index_[axis]),
                 dimension.array_length() - dimension.chunk_start(index_[axis]));
    units_inside_ *= (extent + sharding_->inner_shape()[i] - 1) / sharding_->inner_shape()[i];
  }
}

PendingChunk::~PendingChunk() {
  add_to_totals(-bytes_);
}

void PendingChunk::add_to_totals(std::uint64_t bytes) {
  total_ += bytes;
  array_.context_->waiting_bytes += bytes;
}

std::vector<InnerSlice> PendingChunk::cut(const ChunkSlice& slice) const {
  std::vector<AxisSlice> axes = permute_axes(slice.axes, chain_.axis_order());
  if (sharding_ == nullptr) return {{0, std::move(axes), slice.offset}};
  std::vector<InnerSlice> parts;
  for_each_inner_chunk(*sharding_, axes, [&](InnerSlice inner) {
    inner.offset += slice.offset;
    parts.push_back(std::move(inner));
  });
  return parts;
}

bool PendingChunk::write(const InnerSlice& part, const std::byte* source,
                         const ElementConverter* converter) {
  const std::shared_lock lock(mutex_);
  if (is_retired_) return false;
  Unit& unit = unit_at(part.position);
  const std::lock_guard unit_lock(unit.mutex);
  with_context([&] { return "chunk " + *key_; }, [&] { change(part, source, converter, unit); });
  return true;
}

void PendingChunk::change(const InnerSlice& part, const std::byte* source,
                          const ElementConverter* converter, Unit& unit) {
  const Count count(*this, unit);
  const std::uint64_t inside = product(part.axes, &AxisSlice::extent);
  if (unit.inside.empty()) {
    for (const AxisSlice& axis : part.axes) unit.inside.push_back(axis.extent);
  }
  if (is_whole(part.axes)) {
    const bool is_all = inside * array_.data_type().item_size == unit_chain_.decoded_size();
    DecodedChunk fresh =
        is_all ? DecodedChunk{Buffer(unit_chain_.decoded_size()), {}} : make_filled();
    copy(part, source, converter, fresh);
    unit.decoded = std::move(fresh);
  } else {
    if (unit.state != State::decoded) unit.decoded = load(part.position, unit);
    unit.state = State::decoded;
    copy(part, source, converter, unit.decoded);
  }
  unit.state = State::decoded;
  unit.encoded = {};
  unit.written += product(part.axes, &AxisSlice::count);
  // Of parts that overlap that may be too early, which costs no more than to decode it again.
  if (unit.written >= inside) encode(unit);
}

PendingChunk::Unit& PendingChunk::unit_at(std::size_t position) {
  const std::lock_guard lock(units_mutex_);
  auto& unit = units_[position];
  if (!unit) unit = std::make_unique<Unit>();
  return *unit;
}

PendingChunk::Unit* PendingChunk::find_unit(std::size_t position) const {
  const std::lock_guard lock(units_mutex_);
  const auto it = units_.find(position);
  return it == units_.end() ? nullptr : it->second.get();
}

DecodedChunk PendingChunk::make_filled() const {
  DecodedChunk chunk{Buffer(unit_chain_.decoded_size()), {}};
  const Shape& shape = unit_chain_.stored_spec().shape;
  const std::uint64_t item_size = array_.data_type().item_size;
  copy_strided(shape, item_size, array_.fill_value_.data(), Strides(shape.size(), 0),
               chunk.elements.data(), c_strides(shape, item_size));
  return chunk;
}

// The elements of a unit as they are now.
DecodedChunk PendingChunk::load(std::size_t position, const Unit& unit) {
  if (unit.state == State::encoded) return unit_chain_.decode(unit.encoded.span());
  if (unit.state == State::absent) return make_filled();
  const auto encoded = fetch(position);
  if (encoded) unit_chain_.check_kept(encoded->span());
  return encoded ? unit_chain_.decode(encoded->span()) : make_filled();
}

std::optional<Buffer> PendingChunk::fetch(std::size_t position) {
  if (sharding_ == nullptr) return array_.store_->get(*key_, chain_.max_encoded_size());
  const std::shared_ptr<const StoredShard> shard = stored_shard();
  const auto entry = shard ? shard->find(position) : std::nullopt;
  if (!entry) return std::nullopt;
  try {
    return shard->read(entry->offset, entry->length);
  } catch (...) {
    // It may have been changed by somebody else: the next one looks again.
    const std::lock_guard lock(units_mutex_);
    stored_.reset();
    throw;
  }
}

std::shared_ptr<const StoredShard> PendingChunk::stored_shard() {
  const std::lock_guard lock(units_mutex_);
  if (!stored_) {
    auto shard = StoredShard::open(*array_.store_, *key_, chain_);
    stored_ = shard ? std::make_shared<const StoredShard>(std::move(*shard)) : nullptr;
  }
  return *stored_;
}

void PendingChunk::copy(const InnerSlice& part, const std::byte* source,
                        const ElementConverter* converter, DecodedChunk& chunk) const {
  const std::uint64_t item_size = array_.data_type().item_size;
  const SliceLayout layout = layout_of(part.axes, unit_chain_.stored_spec().shape, item_size);
  std::byte* destination = chunk.elements.data() + layout.offset;
  if (array_.data_type().is_variable()) {
    copy_variable(layout, converter, source, chunk.arena, destination);
  } else if (converter != nullptr) {
    convert_strided(layout.counts, *converter, source, layout.in_memory, destination,
                    layout.in_chunk);
  } else {
    copy_strided(layout.counts, item_size, source, layout.in_memory, destination, layout.in_chunk);
  }
}

void PendingChunk::encode(Unit& unit) const {
  const bool is_filled =
      array_.metadata().fill_value && unit_chain_.is_filled(unit.decoded.elements.span());
  if (!is_filled) {
    try {
      unit.encoded = unit_chain_.encode(std::move(unit.decoded.elements));
    } catch (const Error&) {
      if (!repeat_edges(unit)) throw;
      unit.encoded = unit_chain_.encode(std::move(unit.decoded.elements));
    }
  }
  // Encoders ask for as much memory as there could be bytes. Units of a shard wait for each other;
  // a chunk that is one unit is put next.
  if (sharding_ != nullptr) unit.encoded.shrink_to_fit();
  unit.state = is_filled ? State::absent : State::encoded;
  unit.decoded = {};
  unit.written = 0;
}

// Gives elements outside the array the value of their neighbours inside: filters may not hold the
// fill value, which nobody wrote there. False when there are no such elements.
bool PendingChunk::repeat_edges(Unit& unit) const {
  const Shape& shape = unit_chain_.stored_spec().shape;
  if (unit.inside.size() != shape.size() || unit.inside == shape) return false;
  std::uint64_t count = 1;  // of the rows along a dimension, each of whose items has `size` bytes
  std::uint64_t size = unit.decoded.elements.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::uint64_t row = size;
    size /= shape[i];
    for (std::uint64_t k = 0; k < count; ++k) {
      std::byte* start = unit.decoded.elements.data() + k * row;
      const std::byte* last = start + (unit.inside[i] - 1) * size;
      for (std::uint64_t at = unit.inside[i]; at < shape[i]; ++at) {
        std::memcpy(start + at * size, last, size);
      }
    }
    count *= shape[i];
  }
  return true;
}

void PendingChunk::encode(std::size_t position) {
  const std::shared_lock lock(mutex_);
  Unit* unit = find_unit(position);
  if (unit == nullptr) return;
  const std::lock_guard unit_lock(unit->mutex);
  if (unit->state != State::decoded) return;
  const Count count(*this, *unit);
  with_context([&] { return "chunk " + *key_; }, [&] { encode(*unit); });
}

std::vector<std::size_t> PendingChunk::waiting_units() const {
  const std::shared_lock lock(mutex_);
  const std::lock_guard units_lock(units_mutex_);
  std::vector<std::size_t> positions;
  for (const auto& [position, unit] : units_) positions.push_back(position);
  return positions;
}

void PendingChunk::put() {
  const std::unique_lock lock(mutex_);
  // Of what could not be written nothing waits.
  std::erase_if(units_, [](const auto& item) { return item.second->state == State::untouched; });
  if (units_.empty()) return;
  with_context([&] { return "chunk " + *key_; },
               [&] {
    for (auto& [position, unit] : units_) {
      const Count count(*this, *unit);
      if (unit->state == State::decoded) encode(*unit);
    }
    put_waiting();
  });
  // Before somebody finds that nothing waits here, and asks the caches.
  array_.forget_cached();
  units_.clear();
  stored_.reset();
  add_to_totals(-bytes_);
  bytes_ = 0;
  finished_ = 0;
}

void PendingChunk::put_waiting() {
  if (sharding_ != nullptr) {
    InnerChunks changed;
    for (const auto& [position, unit] : units_) {
      auto& chunk = changed[position];
      if (unit->state == State::encoded) chunk = unit->encoded.span();
    }
    put_shard(*array_.store_, *key_, chain_, changed, !is_complete());
  } else if (const Unit& unit = *units_.begin()->second; unit.state == State::absent) {
    array_.store_->erase(*key_);
  } else {
    array_.store_->put(*key_, unit.encoded.span());
  }
}

bool PendingChunk::retire() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  is_retired_ = units_.empty();
  return is_retired_;
}

std::optional<std::shared_lock<std::shared_mutex>> PendingChunk::hold() {
  std::shared_lock lock(mutex_);
  if (is_retired_) return std::nullopt;
  return lock;
}

bool PendingChunk::is_waiting(std::size_t position) const {
  const Unit* unit = find_unit(position);
  if (unit == nullptr) return false;
  const std::lock_guard lock(unit->mutex);
  return unit->state != State::untouched;
}

std::vector<InnerSlice> PendingChunk::split(const ChunkSlice& slice, std::byte* data,
                                            std::vector<ChunkPart>& stored) const {
  const ChunkPart whole = array_.part_of(slice, data);
  std::vector<InnerSlice> parts = cut(slice);
  const auto others =
      std::stable_partition(parts.begin(), parts.end(),
                            [&](const InnerSlice& part) { return is_waiting(part.position); });
  if (others == parts.begin()) {
    stored.push_back(whole);
    return {};
  }
  for (auto part = others; part != parts.end(); ++part) {
    stored.push_back(whole);
    stored.back().destination = data + part->offset;
    stored.back().axes = axes_in_shard(*sharding_, *part, whole.axes);
  }
  parts.erase(others, parts.end());
  return parts;
}

void PendingChunk::read(const InnerSlice& part, std::byte* destination,
                        const ElementConverter* converter) const {
  const Unit& unit = *find_unit(part.position);
  const std::lock_guard lock(unit.mutex);
  DecodedChunk loaded;
  if (unit.state == State::encoded) {
    loaded = with_context([&] { return "chunk " + *key_; },
                          [&] { return unit_chain_.decode(unit.encoded.span()); });
  }
  const std::uint64_t item_size = array_.data_type().item_size;
  SliceLayout layout = layout_of(part.axes, unit_chain_.stored_spec().shape, item_size);
  const std::byte* source = loaded.elements.data() + layout.offset;
  if (unit.state == State::decoded) source = unit.decoded.elements.data() + layout.offset;
  if (unit.state == State::absent) {
    source = array_.fill_value_.data();
    layout.in_chunk.assign(layout.counts.size(), 0);
  }
  if (converter != nullptr) {
    convert_strided(layout.counts, *converter, source, layout.in_chunk, destination,
                    layout.in_memory);
  } else {
    copy_strided(layout.counts, item_size, source, layout.in_chunk, destination, layout.in_memory);
  }
}

}  // namespace zarrcore
