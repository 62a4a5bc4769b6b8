#include "zarrcore/icechunk/manifest_writer.h"

#include <algorithm>
#include <set>

#include "zarrcore/icechunk/flat_builder.h"
#include "zarrcore/icechunk/mutable_file.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::uint32_t kLog = UINT32_MAX;
// Larger manifests are split, whatever the configuration says: they are read as a whole.
constexpr std::uint64_t kMaxContent = std::uint64_t{64} << 20;
// Of a reference without its bytes or names: its table, its index and the offset to it.
constexpr std::uint32_t kReferenceSize = 44;

using Index = std::vector<std::uint64_t>;

void write_reference(FlatBuilder& builder, FlatBuilder::Place place, const Index& index,
                     const ChunkReference& reference) {
  FlatFields fields;
  fields.offset(0);
  switch (reference.kind) {
    case ChunkReference::Kind::inlined:
      fields.offset(1);
      break;
    case ChunkReference::Kind::native:
      fields.number(3, reference.length).structure(4, parse_id<ObjectId>(reference.object));
      break;
    case ChunkReference::Kind::external:
      fields.number(3, reference.length).offset(5);
      if (!reference.etag.empty()) fields.offset(6);
      if (reference.last_modified != 0) fields.number(7, reference.last_modified);
      break;
  }
  if (reference.offset != 0) fields.number(2, reference.offset);
  const auto table = builder.table(place, fields);
  std::array<std::byte, sizeof(std::uint32_t) * 64> numbers;  // NOLINT: filled below
  std::vector<std::byte> many;
  std::byte* start = numbers.data();
  const std::size_t size = index.size() * sizeof(std::uint32_t);
  if (size > numbers.size()) {
    many.resize(size);
    start = many.data();
  }
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    store_integer(static_cast<std::uint32_t>(index[axis]), Endian::little,
                  start + axis * sizeof(std::uint32_t));
  }
  builder.structures(table[0], {start, size}, sizeof(std::uint32_t), sizeof(std::uint32_t));
  if (reference.kind == ChunkReference::Kind::inlined) builder.bytes(table[1], reference.bytes);
  if (reference.kind == ChunkReference::Kind::external) {
    builder.text(table[5], reference.object);
    if (!reference.etag.empty()) builder.text(table[6], reference.etag);
  }
}

}  // namespace

struct ManifestWriter::Sources {
  NodeId array;
  NodeId old_array;  // whose references the manifests of the base have
  const ArrayChanges& chunks;
  std::vector<std::shared_ptr<const Manifest>> manifests;
};

std::vector<ManifestPart> ManifestWriter::write(const ChangeSet& changes,
                                                const ChangeSet::Nodes::value_type& array,
                                                const ArrayChanges& chunks) {
  const Snapshot& snapshot = base_.snapshot();
  const Node& node = array.second;
  std::vector<ManifestPart> old;
  if (node.base && snapshot.dimensions(*node.base).size() == chunks.rank()) {
    old = snapshot.manifests(*node.base, chunks.rank());
  }
  Sources sources{node.id, node.base ? node_id(snapshot, *node.base) : NodeId{}, chunks, {}};
  const std::vector<std::uint64_t> split =
      configuration_.split_sizes(array.first, chunks.dimension_names, chunks.rank());
  const auto box_of = [&](const Index& index) {
    Index box(index);
    for (std::size_t axis = 0; axis < box.size(); ++axis) box[axis] /= split[axis];
    return box;
  };
  std::map<Index, std::vector<Entry>> boxes;
  for (const auto& [number, place] : chunks.references) {
    std::vector<Entry>& entries = boxes[box_of(chunks.index_of(number))];
    if (place == ArrayChanges::kErased) continue;
    entries.push_back(
        {number, place, kLog, kReferenceSize + static_cast<std::uint32_t>(log_.size(place))});
  }
  std::set<Index> changed;
  for (const auto& [box, entries] : boxes) changed.insert(box);
  std::vector<ManifestPart> parts;
  for (const ManifestPart& part : old) {
    const Index from(part.from.begin(), part.from.end());
    Index last(part.to.begin(), part.to.end());
    for (std::uint64_t& each : last) --each;
    const Index box = box_of(from);
    const bool is_whole = changes.is_kept(node) && box == box_of(last) && chunks.keeps(last);
    if (is_whole && !changed.contains(box)) {
      parts.push_back(part);
      continue;
    }
    const auto source = static_cast<std::uint32_t>(sources.manifests.size());
    sources.manifests.push_back(base_.manifest(part.id));
    const Manifest& manifest = *sources.manifests.back();
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        UINT32_MAX, manifest.byte_count() / manifest.reference_count() + 1));
    manifest.for_each(
        sources.old_array, chunks.rank(),
        [&](std::span<const std::uint64_t> index, std::size_t place) {
          if (!part.contains(index) || !chunks.keeps(index)) return;
          const auto number = chunks.number_of(index);
          if (!number || chunks.references.contains(*number)) return;
          boxes[box_of({index.begin(), index.end()})].push_back({*number, place, source, size});
        });
  }
  for (auto& [box, entries] : boxes) {
    std::ranges::sort(entries, {}, &Entry::number);
    if (node.base && !changes.is_kept(node)) {
      for (const Entry& entry : entries) copied[node.id].push_back(entry.number);
    }
    if (!entries.empty()) put(sources, entries, 0, parts);
    std::vector<Entry>().swap(entries);
  }
  std::ranges::sort(copied[node.id]);
  if (copied[node.id].empty()) copied.erase(node.id);
  return parts;
}

// All of the entries agree in the dimensions before `axis`, so boxes are intervals of this one.
void ManifestWriter::put(const Sources& sources, std::span<const Entry> entries, std::size_t axis,
                         std::vector<ManifestPart>& parts) {
  std::uint64_t size = 0;
  for (const Entry& entry : entries) size += entry.size;
  if (size <= kMaxContent || entries.size() == 1) {
    parts.push_back(put_one(sources, entries));
    return;
  }
  const auto along = [&](const Entry& entry) {
    return sources.chunks.index_of(entry.number)[axis];
  };
  const std::uint64_t first = along(entries.front());
  if (first == along(entries.back())) return put(sources, entries, axis + 1, parts);
  const std::uint64_t middle = std::max(along(entries[entries.size() / 2]), first + 1);
  const auto cut = std::ranges::lower_bound(entries, middle, {}, along) - entries.begin();
  put(sources, entries.first(static_cast<std::size_t>(cut)), axis, parts);
  put(sources, entries.subspan(static_cast<std::size_t>(cut)), axis, parts);
}

ManifestPart ManifestWriter::put_one(const Sources& sources, std::span<const Entry> entries) {
  const auto id = new_id<ObjectId>();
  const std::size_t rank = sources.chunks.rank();
  ManifestPart part{id_text(id), std::vector<std::uint32_t>(rank, UINT32_MAX),
                    std::vector<std::uint32_t>(rank, 0)};
  std::uint64_t size = 256;
  for (const Entry& entry : entries) size += entry.size;
  FlatBuilder builder(memory_size(size));
  constexpr std::uint8_t kPlainLocations = 0;
  const auto root = builder.table(
      FlatBuilder::root(), FlatFields().structure(0, id).offset(1).number(3, kPlainLocations));
  const auto array = builder.table(builder.offsets(root[1], 1),
                                   FlatFields().structure(0, sources.array).offset(1));
  FlatBuilder::Place place = builder.offsets(array[1], entries.size());
  for (const Entry& entry : entries) {
    const Index index = sources.chunks.index_of(entry.number);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const auto at = static_cast<std::uint32_t>(index[axis]);
      part.from[axis] = std::min(part.from[axis], at);
      part.to[axis] = std::max(part.to[axis], at + 1);
    }
    if (entry.source == kLog) {
      write_reference(builder, place, index, log_.get(entry.place).reference);
    } else {
      write_reference(
          builder, place, index,
          sources.manifests[entry.source]->reference(sources.old_array, memory_size(entry.place)));
    }
    place += sizeof(std::uint32_t);
  }
  const Buffer file = make_envelope(builder.content(), FileType::manifest, format_);
  put_file(files_, "manifests", id, file.span());
  written_[part.id] = {file.size(), static_cast<std::uint32_t>(entries.size())};
  return part;
}

}  // namespace zarrcore::icechunk
