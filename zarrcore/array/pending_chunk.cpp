#include "zarrcore/array/pending_chunk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

// So often a chunk is put at a time when others may put it as well; then they have to wait.
constexpr int kTriesWithoutLock = 3;
// Where nobody can be made to wait.
constexpr int kMaxTries = 100;

std::uint64_t product(std::span<const AxisSlice> axes, std::uint64_t AxisSlice::* member) {
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
    note_whole(unit);
  } else {
    if (unit.state != State::decoded) unit.decoded = load(part.position, unit);
    unit.state = State::decoded;
    copy(part, source, converter, unit.decoded);
    if (!unit.is_whole) {
      unit.written.add(part.axes, unit_chain_.stored_spec().shape);
      if (unit.written.count() == inside) note_whole(unit);
    }
  }
  unit.state = State::decoded;
  unit.encoded = {};
  unit.changed += product(part.axes, &AxisSlice::count);
  // Of parts that overlap that may be too early, which costs no more than to decode it again.
  if (unit.is_whole && unit.changed >= inside) encode(unit);
}

// From now on nothing of the unit is the store's.
void PendingChunk::note_whole(Unit& unit) const {
  unit.is_whole = true;
  unit.written = {};
  unit.base_shard.reset();
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
DecodedChunk PendingChunk::load(std::size_t position, Unit& unit) {
  if (unit.state == State::encoded) return unit_chain_.decode(unit.encoded.span());
  if (unit.state == State::absent) return make_filled();
  return decode(fetch(position, unit));
}

DecodedChunk PendingChunk::decode(const std::optional<Buffer>& stored) const {
  if (!stored) return make_filled();
  unit_chain_.check_kept(stored->span());
  return unit_chain_.decode(stored->span());
}

std::optional<Buffer> PendingChunk::fetch(std::size_t position, Unit& unit) {
  if (sharding_ == nullptr) {
    const auto value = array_.store_->open(*key_);
    auto encoded = value->get(chain_.max_encoded_size());
    unit.base = value->version();
    return encoded;
  }
  std::shared_ptr<const StoredShard> known;
  {
    const std::lock_guard lock(units_mutex_);
    known = std::exchange(stored_, nullptr);  // until it has been good for this
  }
  for (int tries = 1;; ++tries) {
    try {
      std::shared_ptr<StoredShard> opened;
      if (!known) {
        opened =
            std::make_shared<StoredShard>(StoredShard::open(*array_.store_, *key_, chain_, false));
        known = opened;
      }
      const auto entry = known->find(position);
      auto encoded =
          entry ? std::optional(known->read(entry->offset, entry->length)) : std::nullopt;
      if (opened) opened->close();
      unit.base_shard = known;
      const std::lock_guard lock(units_mutex_);
      stored_ = std::move(known);
      return encoded;
    } catch (const ValueChanged&) {
      if (tries == kMaxTries) throw;
      known.reset();
    }
  }
}

void PendingChunk::rebase(Unit& unit, const std::optional<Buffer>& stored) const {
  DecodedChunk fresh = decode(stored);
  DecodedChunk own;
  if (unit.state == State::encoded) own = unit_chain_.decode(unit.encoded.span());
  if (unit.state == State::absent) own = make_filled();
  const std::byte* elements = (unit.state == State::decoded ? unit.decoded : own).elements.data();
  const std::uint64_t item_size = array_.data_type().item_size;
  unit.written.for_each_run([&](std::uint64_t start, std::uint64_t length) {
    std::byte* target = fresh.elements.data() + start * item_size;
    std::memcpy(target, elements + start * item_size, length * item_size);
    if (!array_.data_type().is_variable()) return;
    auto* items = reinterpret_cast<VariableElement*>(target);
    for (std::uint64_t i = 0; i < length; ++i) items[i] = fresh.arena.keep(items[i].text());
  });
  unit.decoded = std::move(fresh);
  unit.encoded = {};
  unit.state = State::decoded;
  encode(unit);
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
  unit.changed = 0;
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
  for (int tries = 1;; ++tries) {
    std::unique_ptr<StoreLock> lock;
    if (tries > kTriesWithoutLock) lock = array_.store_->lock(parent_path(*key_));
    const bool is_locked = lock != nullptr;
    try {
      const bool is_put =
          sharding_ != nullptr ? try_to_put_shard(is_locked) : try_to_put_chunk(is_locked);
      if (is_put) return;
    } catch (const ValueChanged&) {
      if (tries == kMaxTries) throw;
    }
    if (tries == kMaxTries) throw Error("other programs change it all the time");
  }
}

bool PendingChunk::try_to_put_chunk(bool is_locked) {
  Store& store = *array_.store_;
  Unit& unit = *units_.begin()->second;
  ValueVersion expected;  // nothing, of a chunk that replaces whatever is stored
  std::shared_ptr<OpenValue> stored;
  if (!unit.is_whole) {
    expected = unit.base;
    if (!expected.is_good_for(store.current_version(*key_))) {
      stored = store.open(*key_);
      const Count count(*this, unit);
      rebase(unit, stored->get(chain_.max_encoded_size()));
      expected = stored->version();
    }
  }
  const ValuePart value{unit.encoded.span()};
  if (!is_locked) {
    return unit.state == State::absent ? store.erase_if(*key_, expected)
                                       : store.put_if(*key_, expected, {&value, 1});
  }
  unit.state == State::absent ? void(store.erase(*key_)) : store.put_parts(*key_, {&value, 1});
  return true;
}

bool PendingChunk::try_to_put_shard(bool is_locked) {
  const bool is_partial = std::any_of(units_.begin(), units_.end(),
                                      [](const auto& item) { return !item.second->is_whole; });
  std::optional<StoredShard> stored;
  if (is_partial || !is_complete()) {
    stored = StoredShard::open(*array_.store_, *key_, chain_, true);
  }
  InnerChunks changed;
  for (const auto& [position, unit] : units_) {
    if (!unit->is_whole && !unit->base_shard->is_good_for(*stored)) {
      const Count count(*this, *unit);
      const auto entry = stored->find(position);
      rebase(*unit,
             entry ? std::optional(stored->read(entry->offset, entry->length)) : std::nullopt);
    }
    auto& chunk = changed[position];
    if (unit->state == State::encoded) chunk = unit->encoded.span();
  }
  return put_shard(*array_.store_, *key_, chain_, changed, stored ? &*stored : nullptr, is_locked);
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
