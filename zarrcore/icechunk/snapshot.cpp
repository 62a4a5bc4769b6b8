#include "zarrcore/icechunk/snapshot.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/object_file.h"

namespace zarrcore::icechunk {
namespace {

// Comparing longer paths would take too long if many of them share their text.
constexpr std::size_t kMaxPathSize = 64 << 10;
// From and to, of 32 bits each.
constexpr std::size_t kExtentSize = 8;
// An offset, another to the field table, an id.
constexpr std::uint64_t kMinManifestRefSize = 4 + 4 + kObjectIdSize;
// The structure of format 1: an id, a size, a count, with padding behind the first and the last.
constexpr std::size_t kManifestFileSize = 32;
constexpr std::size_t kSizePlace = 16;
constexpr std::size_t kCountPlace = 24;

constexpr unsigned kArray = 1;
constexpr unsigned kGroup = 2;

// The ids of fields.
namespace snapshot_field {
constexpr unsigned kId = 0;
constexpr unsigned kParent = 1;  // of format 1
constexpr unsigned kNodes = 2;
constexpr unsigned kTime = 3;
constexpr unsigned kMessage = 4;
constexpr unsigned kProperties = 5;
constexpr unsigned kManifestFiles = 6;    // of format 1
constexpr unsigned kManifestFilesV2 = 7;  // of format 2
constexpr unsigned kNodeId = 0;
constexpr unsigned kPath = 1;
constexpr unsigned kUserData = 2;
constexpr unsigned kDataType = 3;
constexpr unsigned kData = 4;
constexpr unsigned kShape = 0;  // of format 1
constexpr unsigned kDimensionNames = 1;
constexpr unsigned kManifests = 2;
constexpr unsigned kShapeV2 = 3;  // of format 2
constexpr unsigned kManifestId = 0;
constexpr unsigned kExtents = 1;
constexpr unsigned kFileId = 0;
constexpr unsigned kFileSize = 1;
constexpr unsigned kFileReferences = 2;
}  // namespace snapshot_field

std::string manifest_id(const FlatTable& ref) {
  return id_text(
      required(ref.structure(snapshot_field::kManifestId, kObjectIdSize), "id of a manifest"));
}

// Without its first slash, which the constructor has seen.
std::string_view path_of(const FlatTable& node) {
  return required(node.text(snapshot_field::kPath), "path of a node").substr(1);
}

FlatStructures extents_of(const FlatTable& ref) {
  return required(ref.structures(snapshot_field::kExtents, kExtentSize), "extents of a manifest");
}

}  // namespace

Snapshot::Snapshot(ByteSpan file, std::string_view id)
    : format_(format_of(file)),
      content_(open_envelope(file, FileType::snapshot)),
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
  load_manifest_files();
  check_manifest_files();
}

void Snapshot::load_manifest_files() {
  if (const auto files = root_.structures(snapshot_field::kManifestFiles, kManifestFileSize)) {
    for (std::size_t i = 0; i < files->size(); ++i) {
      const ByteSpan file = (*files)[i];
      manifest_files_[id_text(file.first(kObjectIdSize))] = {
          load_integer<std::uint64_t>(file.data() + kSizePlace, Endian::little),
          load_integer<std::uint32_t>(file.data() + kCountPlace, Endian::little)};
    }
  }
  if (const auto files = root_.tables(snapshot_field::kManifestFilesV2)) {
    for (std::size_t i = 0; i < files->size(); ++i) {
      const FlatTable file = (*files)[i];
      const auto id = file.structure(snapshot_field::kFileId, kObjectIdSize);
      manifest_files_[id_text(required(id, "id of a manifest"))] = {
          file.number<std::uint64_t>(snapshot_field::kFileSize),
          file.number<std::uint32_t>(snapshot_field::kFileReferences)};
    }
  }
}

// Without this, damage could hide arrays or their chunks.
void Snapshot::check_manifest_files() const {
  std::set<std::string> used;
  std::uint64_t bytes = 0;
  bool knows_all = !manifest_files_.empty();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const auto type = nodes_[node].number<std::uint8_t>(snapshot_field::kDataType);
    knows_all &= type == kArray || type == kGroup;  // is_array() reports others
    if (type != kArray) continue;
    const FlatTables refs = manifest_refs(node);
    // Else a small file could take much memory and time.
    bytes += refs.size() * kMinManifestRefSize;
    if (bytes > content_.size())
      throw Error("arrays have more manifests than the file has room for");
    for (std::size_t i = 0; i < refs.size(); ++i) used.insert(manifest_id(refs[i]));
  }
  if (!knows_all) return;
  for (const std::string& id : used) {
    if (!manifest_files_.contains(id)) throw Error("it does not list manifest " + id);
  }
  for (const auto& [id, file] : manifest_files_) {
    if (!used.contains(id)) throw Error("no array has manifest " + id + ", which it lists");
  }
}

const ManifestFile* Snapshot::manifest_file(const std::string& id) const {
  const auto it = manifest_files_.find(id);
  return it == manifest_files_.end() ? nullptr : &it->second;
}

std::string_view Snapshot::path(std::size_t node) const {
  return path_of(nodes_[node]);
}

std::size_t Snapshot::lower_bound(std::string_view path) const {
  return nodes_.first_not_before([&](const FlatTable& node) { return path_of(node) < path; });
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
  const DirectoryListing listing = list_sorted(
      path, [this](std::string_view key) { return lower_bound(key); }, nodes_.size(),
      [this](std::size_t node) { return this->path(node); });
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

std::optional<ObjectId> Snapshot::parent() const {
  const auto bytes = root_.structure(snapshot_field::kParent, kObjectIdSize);
  if (!bytes) return std::nullopt;
  ObjectId id{};
  std::ranges::copy(*bytes, id.begin());
  return id;
}

std::uint64_t Snapshot::time() const {
  return root_.number<std::uint64_t>(snapshot_field::kTime);
}

std::string_view Snapshot::message() const {
  return required(root_.text(snapshot_field::kMessage), "message");
}

std::vector<Property> Snapshot::properties() const {
  return read_properties(root_, snapshot_field::kProperties);
}

// Format 1 has the lengths of chunks instead of their number.
std::vector<Snapshot::Dimension> Snapshot::dimensions(std::size_t array) const {
  constexpr std::size_t kNumberSize = sizeof(std::uint64_t);
  const FlatTable data = required(nodes_[array].table(snapshot_field::kData), "data of the array");
  std::vector<Dimension> dimensions;
  if (const auto shape = data.tables(snapshot_field::kShapeV2)) {
    for (std::size_t i = 0; i < shape->size(); ++i) {
      dimensions.push_back(
          {(*shape)[i].number<std::uint64_t>(0), (*shape)[i].number<std::uint32_t>(1), {}});
    }
  } else {
    const auto lengths =
        required(data.structures(snapshot_field::kShape, 2 * kNumberSize), "shape of the array");
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::byte* pair = lengths[i].data();
      const auto length = load_integer<std::uint64_t>(pair, Endian::little);
      const auto chunk = load_integer<std::uint64_t>(pair + kNumberSize, Endian::little);
      dimensions.push_back({length, length == 0 || chunk == 0 ? 0 : (length - 1) / chunk + 1, {}});
    }
  }
  const auto names = data.tables(snapshot_field::kDimensionNames);
  for (std::size_t i = 0; names && i < std::min(names->size(), dimensions.size()); ++i) {
    const auto name = (*names)[i].text(0);
    if (name) dimensions[i].name = std::string(*name);
  }
  return dimensions;
}

bool Snapshot::has_dimension_names(std::size_t array) const {
  const FlatTable data = required(nodes_[array].table(snapshot_field::kData), "data of the array");
  return data.tables(snapshot_field::kDimensionNames).has_value();
}

std::size_t Snapshot::rank(std::size_t array) const {
  const FlatTable data = required(nodes_[array].table(snapshot_field::kData), "data of the array");
  if (const auto shape = data.tables(snapshot_field::kShapeV2)) return shape->size();
  return required(data.structures(snapshot_field::kShape, 2 * sizeof(std::uint64_t)),
                  "shape of the array")
      .size();
}

FlatTables Snapshot::manifest_refs(std::size_t array) const {
  const FlatTable data = required(nodes_[array].table(snapshot_field::kData), "data of the array");
  return required(data.tables(snapshot_field::kManifests), "manifests of the array");
}

std::vector<ManifestPart> Snapshot::manifests(std::size_t array, std::size_t rank) const {
  const FlatTables refs = manifest_refs(array);
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
      if (part.from.back() >= part.to.back()) {
        throw Error("manifest " + part.id + " has no chunks in dimension " + std::to_string(axis));
      }
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
