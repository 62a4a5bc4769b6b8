#include "zarrcore/icechunk/icechunk_store.h"

#include <algorithm>

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kDocument = "zarr.json";
constexpr std::string_view kContainerScheme = "vcc://";
// Of a snapshot or a manifest, compressed.
constexpr std::uint64_t kMaxFileSize = std::uint64_t{1} << 30;

Buffer get_manifest(Store& files, const std::string& key) {
  auto file = files.get(key, kMaxFileSize);
  if (!file) throw Error("this file of the repository does not exist");
  return *std::move(file);
}

std::string find_snapshot(const Repository& repository, const VersionName& version) {
  return with_context({repository.description()},
                      [&] { return repository.find_snapshot(version); });
}

// The path of the node that has this document; nullopt for the keys of other values.
std::optional<std::string_view> node_of_document(std::string_view key) {
  if (last_segment(key) != kDocument) return std::nullopt;
  return parent_path(key);
}

}  // namespace

Snapshot read_snapshot(Store& files, std::string_view id) {
  const std::string key = join_path("snapshots", id);
  return with_context({key}, [&] {
    const auto file = is_object_id(id) ? files.get(key, kMaxFileSize) : std::nullopt;
    if (!file) throw Error("the snapshot does not exist");
    return Snapshot(file->span(), id);
  });
}

void KeyNames::add(std::string_view key, std::string_view prefix) {
  const auto rest = key_below(prefix, key);
  if (!rest) return;
  const auto slash = rest->find('/');
  if (slash == std::string_view::npos) {
    keys.emplace(*rest);
  } else {
    prefixes.emplace(rest->substr(0, slash));
  }
}

IcechunkStore::IcechunkStore(std::shared_ptr<const Repository> repository,
                             const VersionName& version,
                             std::shared_ptr<VirtualFiles> virtual_files, std::string prefix,
                             std::uint64_t max_manifest_bytes)
    : repository_(std::move(repository)),
      version_(version),
      snapshot_id_(find_snapshot(*repository_, version)),
      virtual_files_(std::move(virtual_files)),
      prefix_(std::move(prefix)),
      snapshot_(with_context({repository_->description()},
                             [&] { return read_snapshot(repository_->files(), snapshot_id_); })),
      manifests_(max_manifest_bytes) {}

template <typename Body>
auto IcechunkStore::naming(std::string_view key, const Body& body) const {
  return with_context(
      [&] { return description() + ", " + describe(version_) + ": " + std::string(key); }, body);
}

std::optional<Buffer> IcechunkStore::get(std::string_view key, std::uint64_t max_size) {
  return naming(key, [&]() -> std::optional<Buffer> {
    const auto place = locate(key);
    if (!place) return std::nullopt;
    check_value_size(place->reference.length, max_size);
    return read_whole(place->reference);
  });
}

std::optional<std::vector<Buffer>> IcechunkStore::get_ranges(std::string_view key,
                                                             std::span<const ByteRange> ranges) {
  return naming(key, [&]() -> std::optional<std::vector<Buffer>> {
    const auto place = locate(key);
    if (!place) return std::nullopt;
    if (ranges.empty()) return std::vector<Buffer>();
    return read(place->reference, ranges);
  });
}

bool IcechunkStore::has_below(std::string_view prefix) {
  if (snapshot_.find(join_path(prefix_, prefix))) return true;
  return !list(prefix).is_empty();
}

std::optional<IcechunkStore::Place> IcechunkStore::locate(std::string_view key_in_store) {
  const std::string key = join_path(prefix_, key_in_store);
  if (const auto path = node_of_document(key)) {
    const auto node = snapshot_.find(*path);
    if (!node) return std::nullopt;
    check_kind(*node);
    Place place;
    place.reference.bytes = std::as_bytes(std::span(snapshot_.document(*node)));
    place.reference.length = place.reference.bytes.size();
    return place;
  }
  const auto array = snapshot_.find_array_of(key);
  if (!array) return std::nullopt;
  const auto chunk_key = key_below(snapshot_.path(*array), key);
  if (!chunk_key) return std::nullopt;
  const auto chunks = chunks_of(*array);
  const auto index = chunks->keys.decode(*chunk_key, chunks->rank);
  return index ? find_chunk(*array, *index) : std::nullopt;
}

// The chunks of an array that is taken for a group would seem to be missing.
void IcechunkStore::check_kind(std::size_t node) const {
  const Json document = parse_json(snapshot_.document(node));
  const std::string* kind = find_string(document, "node_type");
  if (kind != nullptr && (*kind == "array") != snapshot_.is_array(node)) {
    throw Error("the document says that the node is of type " + *kind +
                "; the snapshot says another type");
  }
}

std::optional<IcechunkStore::Place> IcechunkStore::find_chunk(
    std::size_t array, std::span<const std::uint64_t> index) {
  const auto chunks = chunks_of(array);
  if (index.size() != chunks->rank) return std::nullopt;
  const auto part = std::ranges::find_if(
      chunks->manifests, [&](const ManifestPart& each) { return each.contains(index); });
  if (part == chunks->manifests.end()) return std::nullopt;
  auto manifest = this->manifest(part->id);
  return with_context({"manifests/", part->id}, [&]() -> std::optional<Place> {
    auto reference = manifest->find(snapshot_.id(array), index);
    if (!reference) return std::nullopt;
    return Place{*std::move(reference), std::move(manifest)};
  });
}

bool IcechunkStore::knows_place(std::string_view key_in_store) {
  const std::string key = join_path(prefix_, key_in_store);
  const auto array = snapshot_.find_array_of(key);
  const auto chunk_key = array ? key_below(snapshot_.path(*array), key) : std::nullopt;
  if (!chunk_key) return true;
  const auto chunks = chunks_of(*array);
  const auto index = chunks->keys.decode(*chunk_key, chunks->rank);
  return !index || std::ranges::all_of(chunks->manifests, [&](const ManifestPart& part) {
    return !part.contains(*index) || manifests_.find(part.id) != nullptr;
  });
}

std::shared_ptr<const IcechunkStore::Chunks> IcechunkStore::chunks_of(std::size_t array) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = chunks_.find(array); it != chunks_.end()) return it->second;
  }
  const NodeMetadata node =
      parse_v3_node(parse_json(snapshot_.document(array)), std::string(snapshot_.path(array)));
  const auto* metadata = std::get_if<ArrayMetadata>(&node);
  if (metadata == nullptr) throw Error("the document of the array is that of a group");
  const std::size_t rank = metadata->shape.size();
  auto chunks = std::make_shared<const Chunks>(
      Chunks{metadata->chunk_key_encoding, rank, snapshot_.manifests(array, rank)});
  const std::lock_guard lock(mutex_);
  return chunks_.emplace(array, std::move(chunks)).first->second;
}

std::shared_ptr<const Manifest> IcechunkStore::manifest(const std::string& id) {
  if (auto found = manifests_.find(id)) return found;
  std::unique_lock lock(mutex_);
  std::mutex& reading = reading_[id];
  lock.unlock();
  const std::lock_guard reading_lock(reading);
  if (auto found = manifests_.find(id)) return found;
  auto manifest = read_manifest(id);
  manifests_.insert(id, manifest, manifest->byte_count());
  return manifest;
}

std::shared_ptr<const Manifest> IcechunkStore::read_manifest(const std::string& id) const {
  const std::string key = join_path("manifests", id);
  return with_context({key}, [&] {
    const Buffer file = get_manifest(repository_->files(), key);
    const ManifestFile* known = snapshot_.manifest_file(id);
    if (known != nullptr && file.size() != known->size) {
      throw Error("it has " + std::to_string(file.size()) + " bytes; the snapshot says " +
                  std::to_string(known->size));
    }
    auto manifest = std::make_shared<const Manifest>(file.span(), id);
    if (known != nullptr && manifest->reference_count() != known->reference_count) {
      throw Error("it refers to " + std::to_string(manifest->reference_count()) +
                  " chunks; the snapshot says " + std::to_string(known->reference_count));
    }
    return manifest;
  });
}

ManifestFile IcechunkStore::manifest_file(const std::string& id) {
  if (const ManifestFile* known = snapshot_.manifest_file(id)) return *known;
  const std::string key = join_path("manifests", id);
  return with_context({key}, [&] {
    const Buffer file = get_manifest(repository_->files(), key);
    return ManifestFile{file.size(),
                        static_cast<std::uint32_t>(Manifest(file.span(), id).reference_count())};
  });
}

std::string IcechunkStore::object_key(const ChunkReference& native) {
  return join_path("chunks", native.object);
}

// Asked for with each virtual chunk, and in a file of its own in format 1.
std::string IcechunkStore::container_url(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = container_urls_.find(name); it != container_urls_.end()) return it->second;
  }
  // The URL below which are the chunks whose locations begin with vcc://NAME/.
  auto url = icechunk::container_url(repository_->configuration(), name);
  if (!url) throw Error("the repository has no virtual chunk container called \"" + name + "\"");
  const std::lock_guard lock(mutex_);
  return container_urls_.emplace(name, *std::move(url)).first->second;
}

VirtualFile IcechunkStore::virtual_file(const ChunkReference& external) {
  VirtualFile file{external.object, external.etag, external.last_modified};
  if (!file.url.starts_with(kContainerScheme)) return file;
  const std::string_view rest = std::string_view(external.object).substr(kContainerScheme.size());
  const std::string_view name = rest.substr(0, rest.find('/'));
  const std::string url =
      with_context({external.object}, [&] { return container_url(std::string(name)); });
  const std::string_view below = rest.substr(std::min(name.size() + 1, rest.size()));
  file.url = std::string(without_trailing(url, '/')) + '/' + std::string(below);
  return file;
}

std::vector<Buffer> IcechunkStore::read(const ChunkReference& reference,
                                        std::span<const ByteRange> ranges) {
  std::vector<ByteRange> in_file;
  in_file.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const std::uint64_t offset = resolve_range(range, reference.length);
    in_file.push_back(ByteRange::at(reference.offset + offset, range.length));
  }
  if (reference.kind == ChunkReference::Kind::inlined) {
    std::vector<Buffer> parts;
    parts.reserve(in_file.size());
    for (const ByteRange& range : in_file) {
      parts.push_back(Buffer::copy_of(
          reference.bytes.subspan(memory_size(range.offset), memory_size(range.length))));
    }
    return parts;
  }
  if (reference.kind == ChunkReference::Kind::external) {
    return virtual_files_->get_ranges(virtual_file(reference), in_file);
  }
  const std::string key = object_key(reference);
  return with_context({key}, [&] {
    auto parts = repository_->files().get_ranges(key, in_file);
    if (!parts) throw Error("this file of the repository does not exist");
    return *std::move(parts);
  });
}

std::shared_ptr<void> IcechunkStore::expect(std::span<const std::string_view> keys) {
  std::vector<VirtualFiles::Part> parts;
  try {
    for (const std::string_view key : keys) {
      // Other manifests than the first are read with their chunks, several at once.
      if (!parts.empty() && !knows_place(key)) continue;
      const auto place = locate(key);
      if (!place) continue;
      const ChunkReference& found = place->reference;
      // The chunks of an array are usually of one kind.
      if (parts.empty() && found.kind != ChunkReference::Kind::external) return nullptr;
      if (found.kind != ChunkReference::Kind::external) continue;
      parts.push_back({virtual_file(found), ByteRange::at(found.offset, found.length)});
    }
  } catch (const Error&) {
    return nullptr;  // reading the chunk reports it
  }
  return virtual_files_->expect(parts);
}

DirectoryListing IcechunkStore::list(std::string_view prefix_in_store,
                                     const ListOptions& /*options*/) {
  const std::string prefix = join_path(prefix_, prefix_in_store);
  return naming(prefix_in_store, [&] {
    KeyNames names;
    for (std::string& child : snapshot_.children(prefix)) names.prefixes.insert(std::move(child));
    if (snapshot_.find(prefix)) names.keys.emplace(kDocument);
    if (const auto array = snapshot_.find_array_of(prefix)) {
      const auto chunks = chunks_of(*array);
      const std::string_view path = snapshot_.path(*array);
      for (const ManifestPart& part : chunks->manifests) {
        for_each_chunk(*array, part, [&](const auto& index, const auto& /*reference*/) {
          names.add(chunks->keys.encode(index, path), prefix);
        });
      }
    }
    return names.listing();
  });
}

// Chunks in the order of their manifests, which are read once.
void IcechunkStore::visit_values(std::string_view prefix_in_store, const VisitValue& visit,
                                 const VisitOptions& options) {
  const std::string prefix = join_path(prefix_, prefix_in_store);
  const auto array = snapshot_.find_array_of(prefix);
  if (!array || snapshot_.path(*array) != prefix) {
    return Store::visit_values(prefix_in_store, visit, options);
  }
  naming(prefix_in_store, [&] {
    visit(join_path(prefix_in_store, kDocument), std::nullopt);
    const auto chunks = chunks_of(*array);
    for (const ManifestPart& part : chunks->manifests) {
      for_each_chunk(*array, part, [&](const auto& index, const auto& reference) {
        visit(join_path(prefix_in_store, chunks->keys.encode(index)), reference().length);
      });
    }
  });
}

// Snapshots do not change.
StoreTraits IcechunkStore::traits() const {
  const StoreTraits traits = repository_->files().traits();
  return {
      .knows_versions = true,
      .parallel_requests = std::max(traits.parallel_requests, virtual_files_->parallel_requests()),
      .bytes_per_range = traits.bytes_per_range,
      .read_only_reason =
          "snapshots of an Icechunk repository do not change; its branches do, by commits"};
}

std::string IcechunkStore::description() const {
  return repository_->description();
}

}  // namespace zarrcore::icechunk
