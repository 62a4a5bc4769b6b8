#include "zarrcore/icechunk/manifest_writer.h"

#include <algorithm>

#include "zarrcore/icechunk/flatbuffers.h"
#include "zarrcore/icechunk/mutable_file.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::uint32_t kLog = UINT32_MAX;
// Of a reference without its bytes or names: its table, its index and the offset to it.
constexpr std::uint32_t kReferenceSize = 44;

using Index = std::vector<std::uint64_t>;

// A box that contains chunks.
struct Hull {
  Index from;
  Index last;

  void add(const Index& low, const Index& high) {
    if (from.empty()) {
      from = low;
      last = high;
    }
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      from[axis] = std::min(from[axis], low[axis]);
      last[axis] = std::max(last[axis], high[axis]);
    }
  }
  bool meets(const Index& low, const Index& high) const {
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      if (high[axis] < from[axis] || low[axis] > last[axis]) return false;
    }
    return true;
  }
};

}  // namespace

struct ManifestWriter::Sources {
  NodeId array;
  NodeId old_array;  // whose references the manifests of the base have
  const ArrayChanges& chunks;
  std::vector<std::shared_ptr<const Manifest>> manifests;
};

// A manifest stays if it is as the configuration says and no chunk in its box has changed. A large
// one also stays if it is apart from all chunks that are written again: most changes of large
// arrays are local, or append to them. Where the configuration has changed, a manifest may be in
// several boxes: the chunks of all that meet one of them are written together, since the boxes of
// manifests must not overlap.
template <typename BoxOf>
std::vector<bool> ManifestWriter::find_changed(const std::vector<ManifestPart>& parts,
                                               const ArrayChanges& chunks, bool is_copy,
                                               const BoxOf& box_of) {
  std::map<Index, Hull> changed;  // by boxes
  for (const auto& [number, place] : chunks.references) {
    const Index index = chunks.index_of(number);
    changed[box_of(index)].add(index, index);
  }
  const auto is_in_one_box = [&](const ManifestPart& part) {
    return box_of(part.first()) == box_of(part.last());
  };
  const bool keeps_large = std::ranges::all_of(parts, is_in_one_box);
  const auto is_large = [&](const ManifestPart& part) {
    const ManifestFile file = base_.manifest_file(part.id);
    return std::max(file.size, file.reference_count * std::uint64_t{kReferenceSize}) >=
           max_size_ / 4;
  };
  std::vector<Hull> wide;  // the boxes of changed manifests that are in several
  std::vector<bool> is_changed(parts.size());
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (is_changed[i]) continue;
      const Index from = parts[i].first();
      const Index last = parts[i].last();
      const Index box = box_of(from);
      const Index last_box = box_of(last);
      const auto hull = changed.find(box);
      const bool is_apart = hull == changed.end() ||
                            (keeps_large && !hull->second.meets(from, last) && is_large(parts[i]));
      const bool is_met =
          std::ranges::any_of(wide, [&](const Hull& boxes) { return boxes.meets(box, last_box); });
      if (!is_copy && box == last_box && chunks.number_of(last) && is_apart && !is_met) continue;
      is_changed[i] = true;
      has_grown = true;
      box == last_box ? changed[box].add(from, last) : wide.emplace_back().add(box, last_box);
    }
  }
  return is_changed;
}

std::vector<ManifestPart> ManifestWriter::write(const ChangeSet& changes,
                                                const ChangeSet::Nodes::value_type& array,
                                                const ArrayChanges& chunks) {
  const Snapshot& snapshot = base_.snapshot();
  const Node& node = array.second;
  std::vector<ManifestPart> old;
  if (node.base && snapshot.rank(*node.base) == chunks.rank()) {
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
  std::vector<ManifestPart> parts;
  const std::vector<bool> is_changed =
      find_changed(old, chunks, !changes.is_from_base(node), box_of);
  for (std::size_t i = 0; i < old.size(); ++i) {
    const ManifestPart& part = old[i];
    if (!is_changed[i]) {
      parts.push_back(part);
      continue;
    }
    const auto source = static_cast<std::uint32_t>(sources.manifests.size());
    sources.manifests.push_back(base_.manifest(part.id));
    const Manifest& manifest = *sources.manifests.back();
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        UINT32_MAX,
        manifest.byte_count() / std::max<std::uint64_t>(manifest.reference_count(), 1) + 1));
    manifest.for_each(
        sources.old_array, chunks.rank(),
        [&](std::span<const std::uint64_t> index, std::size_t place) {
          if (!part.contains(index)) return;
          const auto number = chunks.number_of(index);
          if (!number || chunks.references.contains(*number)) return;
          boxes[box_of({index.begin(), index.end()})].push_back({*number, place, source, size});
        });
  }
  for (auto& [box, entries] : boxes) {
    std::ranges::sort(entries, {}, &Entry::number);
    if (node.base && !changes.is_from_base(node)) {
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
  if (size <= max_size_ || entries.size() == 1) {
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
  const FlatTarget references = builder.vector(entries, [&](const Entry& entry) {
    const Index index = sources.chunks.index_of(entry.number);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const auto at = static_cast<std::uint32_t>(index[axis]);
      part.from[axis] = std::min(part.from[axis], at);
      part.to[axis] = std::max(part.to[axis], at + 1);
    }
    if (entry.source == kLog) {
      const ReferenceLog::Entry logged = log_.get(entry.place);
      return write_reference(builder, index, logged.reference);
    }
    const Manifest& source = *sources.manifests[entry.source];
    return write_reference(builder, index,
                           source.reference(sources.old_array, memory_size(entry.place)));
  });
  const Buffer file = make_manifest(builder, id, sources.array, references, format_);
  put_file(files_, "manifests", id, file.span());
  written_[part.id] = {file.size(), static_cast<std::uint32_t>(entries.size())};
  return part;
}

}  // namespace zarrcore::icechunk
