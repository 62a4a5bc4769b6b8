#include "zarrcore/icechunk/snapshot.h"

#include <algorithm>
#include <ranges>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/envelope.h"
#include "zarrcore/icechunk/object_id.h"

namespace zarrcore::icechunk {
namespace {

// Comparing longer paths would take too long if many of them share their text.
constexpr std::size_t kMaxPathSize = 64 << 10;
// From and to, of 32 bits each.
constexpr std::size_t kExtentSize = 8;

constexpr unsigned kArray = 1;
constexpr unsigned kGroup = 2;

// The ids of fields.
namespace snapshot_field {
constexpr unsigned kId = 0;
constexpr unsigned kNodes = 2;
constexpr unsigned kNodeId = 0;
constexpr unsigned kPath = 1;
constexpr unsigned kUserData = 2;
constexpr unsigned kDataType = 3;
constexpr unsigned kData = 4;
constexpr unsigned kManifests = 2;
constexpr unsigned kManifestId = 0;
constexpr unsigned kExtents = 1;
}  // namespace snapshot_field

std::string manifest_id(const FlatTable& ref) {
  return id_text(
      required(ref.structure(snapshot_field::kManifestId, kObjectIdSize), "id of a manifest"));
}

FlatStructures extents_of(const FlatTable& ref) {
  return required(ref.structures(snapshot_field::kExtents, kExtentSize), "extents of a manifest");
}

}  // namespace

Snapshot::Snapshot(ByteSpan file, std::string_view id)
    : content_(open_envelope(file, FileType::snapshot)),
      root_(FlatTable::root(content_.span())),
      nodes_(required(root_.tables(snapshot_field::kNodes), "nodes")) {
  const std::string own_id =
      id_text(required(root_.structure(snapshot_field::kId, kObjectIdSize), "id"));
  if (own_id != id) throw Error("it holds snapshot " + own_id);
  std::string_view previous;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string_view path = required(nodes_[i].text(snapshot_field::kPath), "path of a node");
    if (!path.starts_with('/')) throw Error("the path of a node does not begin with a slash");
    if (path.size() > kMaxPathSize) throw Error("the path of a node is too long");
    if (i > 0 && path <= previous) throw Error("its nodes are not in the order of their paths");
    previous = path;
  }
}

std::string_view Snapshot::path(std::size_t node) const {
  return required(nodes_[node].text(snapshot_field::kPath), "path of a node").substr(1);
}

std::size_t Snapshot::lower_bound(std::string_view path) const {
  const auto all = std::views::iota(std::size_t{0}, nodes_.size());
  return static_cast<std::size_t>(
      std::ranges::lower_bound(all, path, {}, [this](std::size_t i) { return this->path(i); }) -
      all.begin());
}

std::optional<std::size_t> Snapshot::find(std::string_view path) const {
  const std::size_t i = lower_bound(path);
  if (i == nodes_.size() || this->path(i) != path) return std::nullopt;
  return i;
}

std::optional<std::size_t> Snapshot::find_array_of(std::string_view key) const {
  while (true) {
    if (const auto node = find(key)) {
      return is_array(*node) ? node : std::nullopt;
    }
    if (key.empty()) return std::nullopt;
    key = parent_path(key);
  }
}

std::vector<std::string> Snapshot::children(std::string_view path) const {
  const auto all = std::views::iota(std::size_t{0}, nodes_.size());
  DirectoryListing listing = list_sorted(
      path,
      [&](std::string_view key) {
        return all.begin() + static_cast<std::ptrdiff_t>(lower_bound(key));
      },
      all.end(), [this](std::size_t i) { return this->path(i); });
  std::vector<std::string> names;
  std::ranges::set_union(listing.keys, listing.prefixes, std::back_inserter(names));
  std::erase_if(names, [](const std::string& name) { return !is_valid_segment(name); });
  return names;
}

bool Snapshot::is_array(std::size_t node) const {
  switch (const auto type = nodes_[node].number<std::uint8_t>(snapshot_field::kDataType)) {
    case kArray:
      return true;
    case kGroup:
      return false;
    default:
      throw Error("/" + std::string(path(node)) + " is neither an array nor a group, but of type " +
                  std::to_string(type));
  }
}

ByteSpan Snapshot::id(std::size_t node) const {
  return required(nodes_[node].structure(snapshot_field::kNodeId, kNodeIdSize), "id of the node");
}

std::string_view Snapshot::document(std::size_t node) const {
  const ByteSpan text =
      required(nodes_[node].bytes(snapshot_field::kUserData), "document of the node");
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::vector<ManifestPart> Snapshot::manifests(std::size_t array, std::size_t rank) const {
  const FlatTable data = required(nodes_[array].table(snapshot_field::kData), "data of the array");
  const FlatTables refs =
      required(data.tables(snapshot_field::kManifests), "manifests of the array");
  std::vector<ManifestPart> parts;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const FlatTable ref = refs[i];
    ManifestPart part{manifest_id(ref), {}, {}};
    const FlatStructures extents = extents_of(ref);
    if (extents.size() != rank) {
      throw Error("manifest " + part.id + " has chunks of " + std::to_string(extents.size()) +
                  " dimensions; the array has " + std::to_string(rank));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) {
      part.from.push_back(load_integer<std::uint32_t>(extents[axis].data(), Endian::little));
      part.to.push_back(load_integer<std::uint32_t>(extents[axis].data() + 4, Endian::little));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

bool ManifestPart::contains(std::span<const std::uint64_t> index) const {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (index[i] < from[i] || index[i] >= to[i]) return false;
  }
  return true;
}

}  // namespace zarrcore::icechunk
