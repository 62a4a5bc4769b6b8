#include "zarrcore/icechunk/transaction.h"

#include <tuple>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/path.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kNodeDocument = "zarr.json";

// What the first number of a version says.
enum class VersionOf : std::uint8_t { document, object, log_entry, base_entry };

// Objects never change, so neither a commit nor a move makes another version of them.
ValueVersion version_of(const ChunkReference& reference, VersionOf kind, std::uint64_t place,
                        std::uint64_t generation) {
  if (reference.kind != ChunkReference::Kind::native) {
    return ValueVersion({static_cast<std::uint64_t>(kind), place, generation, 0});
  }
  const auto id = parse_id<ObjectId>(reference.object);
  return ValueVersion(
      {static_cast<std::uint64_t>(VersionOf::object) << 32 |
           load_integer<std::uint32_t>(id.data(), Endian::little),
       load_integer<std::uint64_t>(id.data() + sizeof(std::uint32_t), Endian::little),
       reference.offset, reference.length});
}

ChunkReference inlined(ByteSpan bytes) {
  ChunkReference reference;
  reference.bytes = bytes;
  reference.length = bytes.size();
  return reference;
}

}  // namespace

// One version of a value, or its absence.
class Transaction::OpenChunk final : public OpenValue {
 public:
  explicit OpenChunk(std::optional<Value> value) : value_(std::move(value)) {}

  std::optional<Buffer> get(std::uint64_t max_size) override {
    if (!value_) return std::nullopt;
    check_value_size(value_->reference.length, max_size);
    return value_->base->read_whole(value_->reference);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    if (!value_) return std::nullopt;
    return ranges.empty() ? std::vector<Buffer>() : value_->base->read(value_->reference, ranges);
  }
  ValueVersion version() const override {
    return value_ ? value_->version : ValueVersion::absent();
  }

 private:
  std::optional<Value> value_;
};

template <typename Body>
auto Transaction::naming(std::string_view key, const Body& body) const {
  return with_context(
      [&] { return description() + ", branch " + branch() + ": " + std::string(key); }, body);
}

std::shared_ptr<OpenValue> Transaction::open(std::string_view key) {
  return naming(key, [&] { return std::make_shared<OpenChunk>(find(key)); });
}

std::optional<Buffer> Transaction::get(std::string_view key, std::uint64_t max_size) {
  return naming(key, [&] { return OpenChunk(find(key)).get(max_size); });
}

std::optional<std::vector<Buffer>> Transaction::get_ranges(std::string_view key,
                                                           std::span<const ByteRange> ranges) {
  return naming(key, [&] { return OpenChunk(find(key)).get_ranges(ranges); });
}

ValueVersion Transaction::current_version(std::string_view key) {
  return naming(key, [&] { return OpenChunk(find(key)).version(); });
}

bool Transaction::put_parts(std::string_view key, std::span<const ValuePart> parts,
                            const PutOptions& options) {
  return naming(key, [&] {
    check_key(key);
    if (last_segment(key) != kNodeDocument) return put_chunk(key, parts, options);
    return put_document(key, join_parts(parts).text(), options);
  });
}

StoreTraits Transaction::traits() const {
  std::unique_lock lock(mutex_);
  const auto base = base_;
  lock.unlock();
  StoreTraits traits = base->traits();
  traits.read_only_reason = {};
  traits.lists_all_at_once = true;
  traits.puts_conditionally = true;
  return traits;
}

std::optional<std::size_t> Transaction::base_array_of(const ChangeSet::Nodes::value_type& array,
                                                      const ArrayChanges& chunks) const {
  const auto& base = array.second.base;
  if (!base || base_->snapshot().rank(*base) != chunks.rank()) return std::nullopt;
  return base;
}

std::optional<Transaction::Chunk> Transaction::find_chunk(std::string_view key) const {
  const auto array = changes_->find_array_of(key);
  if (array == changes_->nodes.end()) return std::nullopt;
  const auto below = key_below(array->first, key);
  if (!below || below->empty()) return std::nullopt;
  const ArrayChanges& chunks = changes_->chunks(*array);
  auto index = chunks.keys.decode(*below, chunks.rank());
  const auto number = index ? chunks.number_of(*index) : std::nullopt;
  if (!number) return std::nullopt;
  Chunk chunk{array->second.id, *std::move(index), *number, {}, {}};
  const auto changed = chunks.references.find(*number);
  if (changed != chunks.references.end()) {
    chunk.place = changed->second;
  } else {
    chunk.base_array = base_array_of(*array, chunks);
  }
  return chunk;
}

Transaction::Chunk Transaction::find_chunk_to_change(std::string_view key) const {
  auto chunk = find_chunk(key);
  if (chunk) return *std::move(chunk);
  throw Error("it is neither the document of a node nor a chunk of an array");
}

std::optional<Transaction::Value> Transaction::value_of(const Chunk& chunk,
                                                        const std::shared_ptr<IcechunkStore>& base,
                                                        const ReferenceLog& log,
                                                        std::uint64_t generation) const {
  if (chunk.place) {
    if (*chunk.place == ArrayChanges::kErased) return std::nullopt;
    ReferenceLog::Entry entry = log.get(*chunk.place);
    const auto version =
        version_of(entry.reference, VersionOf::log_entry, *chunk.place, generation);
    return Value{std::move(entry.reference), std::move(entry.owner), base, version};
  }
  if (!chunk.base_array) return std::nullopt;
  auto place = base->find_chunk(*chunk.base_array, chunk.index);
  if (!place) return std::nullopt;
  const auto version = version_of(place->reference, VersionOf::base_entry, 0, generation);
  return Value{std::move(place->reference), std::move(place->owner), base, version};
}

std::optional<Transaction::Value> Transaction::value_of(const Node& node) const {
  const std::shared_ptr<const void> owner =
      node.document ? std::shared_ptr<const void>(node.document) : base_;
  return Value{inlined(std::as_bytes(std::span(changes_->document(node)))), owner, base_,
               ValueVersion({static_cast<std::uint64_t>(VersionOf::document), node.version,
                             load_integer<std::uint64_t>(node.id.data(), Endian::little), 0})};
}

std::optional<Transaction::Value> Transaction::find(std::string_view key) const {
  const std::string in_repository = join_path(prefix_, key);
  std::unique_lock lock(mutex_);
  if (last_segment(in_repository) == kNodeDocument) {
    const Node* node = changes_->find(parent_path(in_repository));
    return node != nullptr ? value_of(*node) : std::nullopt;
  }
  const auto chunk = find_chunk(in_repository);
  if (!chunk) return std::nullopt;
  const auto [base, log, generation] = std::tuple(base_, log_, generation_);
  lock.unlock();
  return value_of(*chunk, base, *log, generation);
}

bool Transaction::has_version(std::string_view key, const PutOptions& options) const {
  if (!options.expected || options.expected->is_unknown()) return true;
  std::optional<Value> value;
  if (last_segment(key) == kNodeDocument) {
    const Node* node = changes_->find(parent_path(key));
    if (node != nullptr) value = value_of(*node);
  } else if (const auto chunk = find_chunk(key)) {
    value = value_of(*chunk, base_, *log_, generation_);
  }
  return !(value ? value->version : ValueVersion::absent()).differs_from(*options.expected);
}

bool Transaction::put_document(std::string_view key, std::string_view text,
                               const PutOptions& options) {
  const std::string in_repository = join_path(prefix_, key);
  const std::lock_guard lock(mutex_);
  check_takes_changes();
  if (!has_version(in_repository, options)) return false;
  const bool is_change = changes_->put_document(
      parent_path(in_repository), text, ++version_,
      [this](const auto& array, const ArrayChanges& present, const ArrayChanges& changed) {
        return lost_chunks(array, present, changed);
      });
  if (is_change) note_change();
  return true;
}

std::vector<std::uint64_t> Transaction::lost_chunks(const ChangeSet::Nodes::value_type& array,
                                                    const ArrayChanges& present,
                                                    const ArrayChanges& changed) const {
  std::vector<std::uint64_t> lost;
  const auto& base = array.second.base;
  if (!base || !changed.has_chunks_outside_of(present)) return lost;
  const Snapshot& snapshot = base_->snapshot();
  const std::size_t rank = snapshot.rank(*base);
  if (rank != changed.rank()) return lost;
  const auto is_lost = [&](std::span<const std::uint64_t> index) {
    return rank != present.rank() || !present.number_of(index);
  };
  for (const ManifestPart& part : snapshot.manifests(*base, rank)) {
    if (!is_lost(part.last())) continue;
    base_->for_each_chunk(*base, part, [&](const auto& index, const auto& /*reference*/) {
      if (!is_lost(index)) return;
      if (const auto number = changed.number_of(index)) lost.push_back(*number);
    });
  }
  return lost;
}

bool Transaction::put_chunk(std::string_view key, std::span<const ValuePart> parts,
                            const PutOptions& options) {
  const std::string in_repository = join_path(prefix_, key);
  {
    const std::lock_guard lock(mutex_);
    find_chunk_to_change(in_repository);
    if (!has_version(in_repository, options)) return false;
  }
  const std::uint64_t threshold =
      options_.inline_threshold.value_or(configuration_.inline_threshold());
  // Parts are fetched as long as the chunk may be small.
  std::vector<ValuePart> counted(parts.begin(), parts.end());
  std::vector<Buffer> fetched;
  std::uint64_t size = 0;
  for (ValuePart& part : counted) {
    if (size > threshold) break;
    if (part.fetch) {
      fetched.push_back(part.fetch());
      part = {fetched.back().span()};
    }
    size += part.bytes.size();
  }
  if (size <= threshold) {
    const Buffer bytes = join_parts(counted);
    return put_reference(key, inlined(bytes.span()), options);
  }
  ChunkReference reference;
  reference.kind = ChunkReference::Kind::native;
  reference.object = id_text(new_id<ObjectId>());
  for (ValuePart& part : counted) {
    reference.length += part.bytes.size();
    if (!part.fetch) continue;
    part.fetch = [&reference, fetch = part.fetch] {
      Buffer bytes = fetch();
      reference.length += bytes.size();
      return bytes;
    };
  }
  files_->put_parts(IcechunkStore::object_key(reference), counted,
                    {.is_new_key = true, .durability = Durability::after_flush});
  return put_reference(key, reference, options);
}

bool Transaction::put_reference(std::string_view key, const ChunkReference& reference,
                                const PutOptions& options) {
  check_reference(reference);
  const std::string in_repository = join_path(prefix_, key);
  const std::lock_guard lock(mutex_);
  check_takes_changes();
  const Chunk chunk = find_chunk_to_change(in_repository);
  if (!has_version(in_repository, options)) return false;
  changes_->arrays.at(chunk.array).references[chunk.number] = log_->add(reference);
  note_change();
  return true;
}

void Transaction::put_reference(std::string_view key, const ChunkReference& reference) {
  naming(key, [&] { put_reference(key, reference, {}); });
}

bool Transaction::erase(std::string_view key, const EraseOptions& options) {
  return naming(key, [&] {
    const std::string in_repository = join_path(prefix_, key);
    const std::lock_guard lock(mutex_);
    check_takes_changes();
    if (!has_version(in_repository, options)) return false;
    note_change();
    if (last_segment(in_repository) == kNodeDocument) {
      changes_->erase(parent_path(in_repository));
      return true;
    }
    const auto array = changes_->find_array_of(in_repository);
    auto chunk = find_chunk(in_repository);
    if (!chunk) return true;
    ArrayChanges& chunks = changes_->chunks(*array);
    chunk->base_array = base_array_of(*array, chunks);
    chunk->place.reset();
    if (value_of(*chunk, base_, *log_, generation_)) {
      chunks.references[chunk->number] = ArrayChanges::kErased;
    } else {
      chunks.references.erase(chunk->number);
    }
    return true;
  });
}

// Below an array there are only chunks.
void Transaction::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  check_key(prefix);
  erase_all(first);
  {
    const std::lock_guard lock(mutex_);
    check_takes_changes();
    changes_->erase_prefix(join_path(prefix_, prefix));
    note_change();
  }
  erase_all(list_all(prefix));
}

bool Transaction::rename_prefix(std::string_view from, std::string_view to,
                                const RenameOptions& options) {
  if (options.exchanges) return false;
  check_key(to);
  naming(from, [&] {
    const std::lock_guard lock(mutex_);
    check_takes_changes();
    changes_->rename(join_path(prefix_, from), join_path(prefix_, to), can_move_nodes_, ++version_);
    note_change();
  });
  return true;
}

// The numbers and sizes of the chunks that exist.
std::vector<std::pair<std::uint64_t, std::uint64_t>> Transaction::chunks_of(
    const ChangeSet::Nodes::value_type& array, const ArrayChanges& chunks) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  const Snapshot& snapshot = base_->snapshot();
  if (const auto base_array = base_array_of(array, chunks)) {
    for (const ManifestPart& part : snapshot.manifests(*base_array, chunks.rank())) {
      base_->for_each_chunk(*base_array, part, [&](const auto& index, const auto& reference) {
        const auto number = chunks.number_of(index);
        if (!number || chunks.references.contains(*number)) return;
        found.emplace_back(*number, reference().length);
      });
    }
  }
  for (const auto& [number, place] : chunks.references) {
    if (place == ArrayChanges::kErased) continue;
    found.emplace_back(number, log_->get(place).reference.length);
  }
  return found;
}

DirectoryListing Transaction::list(std::string_view prefix_in_store,
                                   const ListOptions& /*options*/) {
  const std::string prefix = join_path(prefix_, prefix_in_store);
  return naming(prefix_in_store, [&] {
    const std::lock_guard lock(mutex_);
    const DirectoryListing nodes = list_sorted(prefix, changes_->nodes);
    KeyNames names;
    names.prefixes.insert(nodes.prefixes.begin(), nodes.prefixes.end());
    names.prefixes.insert(nodes.keys.begin(), nodes.keys.end());
    names.prefixes.erase("");  // the root among its own nodes
    if (changes_->find(prefix) != nullptr) names.keys.emplace(kNodeDocument);
    const auto array = changes_->find_array_of(prefix);
    if (array != changes_->nodes.end()) {
      const ArrayChanges& chunks = changes_->chunks(*array);
      for (const auto& [number, size] : chunks_of(*array, chunks)) {
        names.add(chunks.keys.encode(chunks.index_of(number), array->first), prefix);
      }
    }
    return names.listing();
  });
}

void Transaction::visit_values(std::string_view prefix, const VisitValue& visit,
                               const VisitOptions& options) {
  const bool is_array = naming(prefix, [&] {
    std::unique_lock lock(mutex_);
    const auto array = changes_->nodes.find(join_path(prefix_, prefix));
    if (array == changes_->nodes.end() || !array->second.is_array) return false;
    const ArrayChanges& changes = changes_->chunks(*array);
    const auto found = chunks_of(*array, changes);
    const ArrayChanges chunks = changes.without_references();
    lock.unlock();
    for (const auto& [number, size] : found) {
      visit(chunks.keys.encode(chunks.index_of(number), prefix), size);
    }
    return true;
  });
  if (!is_array) return Store::visit_values(prefix, visit, options);
  visit(join_path(prefix, kNodeDocument), std::nullopt);
}

}  // namespace zarrcore::icechunk
