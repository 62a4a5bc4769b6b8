#include "zarrcore/icechunk/session.h"

#include <set>
#include <tuple>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/mutable_file.h"

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

Transaction::Session::Session(std::shared_ptr<Store> files, std::string branch,
                              std::shared_ptr<VirtualFiles> virtual_files, std::string prefix,
                              const TransactionOptions& options)
    : files_(std::move(files)),
      branch_(std::move(branch)),
      virtual_files_(std::move(virtual_files)),
      prefix_(std::move(prefix)),
      options_(options),
      creates_branch_(options.creates_branch) {
  check_can_replace(*files_);
  const VersionName version{VersionName::Kind::branch, branch_};
  const auto repository = newest_repository(version);
  format_ = repository->format();
  if (creates_branch_) check_new_branch(*files_, format_, branch_);
  if (format_ == 1) {
    can_move_nodes_ = false;
  } else {
    const auto file = files_->get(kRepositoryFile);
    if (!file) throw Error("the repository has been removed");
    const RepositoryInfo info(file->span());
    info.check_online();
    can_move_nodes_ = info.is_enabled(kMoveNode);
  }
  configuration_ =
      with_context("the configuration", [&] { return Configuration(repository->configuration()); });
  start_from(repository, options.snapshot.empty()
                             ? version
                             : VersionName{VersionName::Kind::snapshot, options.snapshot});
}

std::shared_ptr<const Repository> Transaction::Session::newest_repository(
    const VersionName& version) const {
  files_->refresh(kRepositoryFile);
  files_->refresh(branch_key(branch_));
  return Repository::open(files_, version);
}

void Transaction::Session::start_from(std::shared_ptr<const Repository> repository,
                                      const VersionName& version) {
  auto base = std::make_shared<IcechunkStore>(std::move(repository), version, virtual_files_);
  auto changes = std::make_unique<ChangeSet>(base->snapshot(), ++version_);
  start_from(std::move(base), std::move(changes));
  log_ = std::make_shared<ReferenceLog>(options_.max_memory);
}

void Transaction::Session::start_from(std::shared_ptr<IcechunkStore> base,
                                      std::unique_ptr<ChangeSet> changes) {
  base_ = std::move(base);
  changes_ = std::move(changes);
  given_ = {};
  given_by_.clear();
  origins_.clear();
  ++generation_;
}

void Transaction::Session::roll_back() {
  const std::lock_guard lock(mutex_);
  auto changes = std::make_unique<ChangeSet>(base_->snapshot(), ++version_);
  log_ = std::make_shared<ReferenceLog>(options_.max_memory);
  start_from(base_, std::move(changes));
  attempts_.clear();  // what they hold are now changes of others
}

StoreTraits Transaction::Session::traits() const {
  std::unique_lock lock(mutex_);
  const auto base = base_;
  lock.unlock();
  StoreTraits traits = base->traits();
  traits.read_only_reason = {};
  traits.lists_all_at_once = true;
  traits.puts_conditionally = true;
  return traits;
}

std::optional<std::size_t> Transaction::Session::base_array_of(
    const ChangeSet::Nodes::value_type& array, const ArrayChanges& chunks) const {
  const auto& base = array.second.base;
  if (!base || base_->snapshot().rank(*base) != chunks.rank()) return std::nullopt;
  return base;
}

std::optional<Transaction::Session::Chunk> Transaction::Session::find_chunk(
    std::string_view key) const {
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

Transaction::Session::Chunk Transaction::Session::find_chunk_to_change(std::string_view key) const {
  auto chunk = find_chunk(key);
  if (chunk) return *std::move(chunk);
  throw Error("it is neither the document of a node nor a chunk of an array");
}

std::optional<Transaction::Session::Value> Transaction::Session::value_of(
    const Chunk& chunk, const std::shared_ptr<IcechunkStore>& base, const ReferenceLog& log,
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

std::optional<Transaction::Session::Value> Transaction::Session::value_of(const Node& node) const {
  const std::shared_ptr<const void> owner =
      node.document ? std::shared_ptr<const void>(node.document) : base_;
  return Value{inlined(std::as_bytes(std::span(changes_->document(node)))), owner, base_,
               ValueVersion({static_cast<std::uint64_t>(VersionOf::document), node.version,
                             load_integer<std::uint64_t>(node.id.data(), Endian::little), 0})};
}

std::optional<Transaction::Session::Value> Transaction::Session::find(std::string_view key) const {
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

bool Transaction::Session::has_version(std::string_view key, const PutOptions& options) const {
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

bool Transaction::Session::put_document(std::string_view key, std::string_view text,
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

std::vector<std::uint64_t> Transaction::Session::lost_chunks(
    const ChangeSet::Nodes::value_type& array, const ArrayChanges& present,
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
  const ByteSpan id = snapshot.id(*base);
  for (const ManifestPart& part : snapshot.manifests(*base, rank)) {
    std::vector<std::uint64_t> last(part.to.begin(), part.to.end());
    for (std::uint64_t& each : last) --each;
    if (!is_lost(last)) continue;
    base_->manifest(part.id)->for_each(
        id, rank, [&](std::span<const std::uint64_t> index, std::size_t /*place*/) {
          if (!part.contains(index) || !is_lost(index)) return;
          if (const auto number = changed.number_of(index)) lost.push_back(*number);
        });
  }
  return lost;
}

bool Transaction::Session::put_chunk(std::string_view key, std::span<const ValuePart> parts,
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

bool Transaction::Session::put_reference(std::string_view key, const ChunkReference& reference,
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

bool Transaction::Session::erase(std::string_view key, const PutOptions& options) {
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
  auto& references = chunks.references;
  if (value_of(*chunk, base_, *log_, generation_)) {
    references[chunk->number] = ArrayChanges::kErased;
  } else {
    references.erase(chunk->number);
  }
  return true;
}

void Transaction::Session::erase_nodes(std::string_view path) {
  const std::lock_guard lock(mutex_);
  check_takes_changes();
  changes_->erase_prefix(join_path(prefix_, path));
  note_change();
}

void Transaction::Session::rename(std::string_view from, std::string_view to) {
  const std::lock_guard lock(mutex_);
  check_takes_changes();
  changes_->rename(join_path(prefix_, from), join_path(prefix_, to), can_move_nodes_, ++version_);
  note_change();
}

// The numbers and sizes of the chunks that exist.
std::vector<std::pair<std::uint64_t, std::uint64_t>> Transaction::Session::chunks_of(
    const ChangeSet::Nodes::value_type& array, const ArrayChanges& chunks) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  const Snapshot& snapshot = base_->snapshot();
  if (const auto base_array = base_array_of(array, chunks)) {
    const ByteSpan id = snapshot.id(*base_array);
    for (const ManifestPart& part : snapshot.manifests(*base_array, chunks.rank())) {
      const auto manifest = base_->manifest(part.id);
      manifest->for_each(id, chunks.rank(),
                         [&](std::span<const std::uint64_t> index, std::size_t place) {
                           if (!part.contains(index)) return;
                           const auto number = chunks.number_of(index);
                           if (!number || chunks.references.contains(*number)) return;
                           found.emplace_back(*number, manifest->reference(id, place).length);
                         });
    }
  }
  for (const auto& [number, place] : chunks.references) {
    if (place == ArrayChanges::kErased) continue;
    found.emplace_back(number, log_->get(place).reference.length);
  }
  return found;
}

DirectoryListing Transaction::Session::list(std::string_view prefix_in_store) const {
  const std::string prefix = join_path(prefix_, prefix_in_store);
  const std::lock_guard lock(mutex_);
  const DirectoryListing nodes = list_sorted(prefix, changes_->nodes);
  std::set<std::string> names;
  std::set<std::string> prefixes(nodes.prefixes.begin(), nodes.prefixes.end());
  prefixes.insert(nodes.keys.begin(), nodes.keys.end());
  prefixes.erase("");  // the root among its own nodes
  if (changes_->find(prefix) != nullptr) names.emplace(kNodeDocument);
  const auto array = changes_->find_array_of(prefix);
  if (array != changes_->nodes.end()) {
    const ArrayChanges& chunks = changes_->chunks(*array);
    const auto below = key_below(array->first, prefix);
    const std::string start = below && !below->empty() ? std::string(*below) + '/' : std::string();
    for (const auto& [number, size] : chunks_of(*array, chunks)) {
      const std::string key = chunks.keys.encode(chunks.index_of(number));
      if (!key.starts_with(start)) continue;
      const std::string rest = key.substr(start.size());
      const auto slash = rest.find('/');
      slash == std::string::npos ? names.insert(rest) : prefixes.insert(rest.substr(0, slash));
    }
  }
  return {{names.begin(), names.end()}, {prefixes.begin(), prefixes.end()}};
}

bool Transaction::Session::visit_chunks(std::string_view path, const VisitValue& visit) const {
  std::unique_lock lock(mutex_);
  const auto array = changes_->nodes.find(join_path(prefix_, path));
  if (array == changes_->nodes.end() || !array->second.is_array) return false;
  const ArrayChanges& changes = changes_->chunks(*array);
  const auto found = chunks_of(*array, changes);
  ArrayChanges chunks = changes.without_references();
  lock.unlock();
  for (const auto& [number, size] : found) {
    visit(chunks.keys.encode(chunks.index_of(number), path), size);
  }
  return true;
}

}  // namespace zarrcore::icechunk
