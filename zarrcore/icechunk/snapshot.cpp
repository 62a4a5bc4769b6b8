#include "zarrcore/icechunk/snapshot.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/path.h"

namespace zarrcore::icechunk {
namespace {

// Comparing longer paths would take too long if many of them share their text.
constexpr std::size_t kMaxPathSize = 64 << 10;
// An offset, another to the field table, an id.
constexpr std::uint64_t kMinManifestRefSize = 4 + 4 + kObjectIdSize;
// The structure of format 1: an id, a size, a count, with padding after the first and the last.
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

// In format 1, a structure of two numbers for each dimension: its length and its chunks' length.
std::optional<FlatVector<ByteSpan>> shape_v1(const FlatTable& data) {
  return data.vector<ByteSpan>(snapshot_field::kShape, 2 * sizeof(std::uint64_t));
}

// In format 2, the shape of format 1 is empty.
void write_shape(FlatBuilder& builder, FlatFields& data, int format,
                 const std::vector<Snapshot::Dimension>& dimensions) {
  std::vector<std::uint64_t> lengths;
  if (format == 1) {
    for (const auto& [length, chunks, name] : dimensions) {
      lengths.insert(lengths.end(), {length, chunks == 0 ? 0 : (length - 1) / chunks + 1});
    }
  }
  data.offset(snapshot_field::kShape, builder.numbers<std::uint64_t>(lengths, 2));
  if (format == 1) return;
  data.offset(snapshot_field::kShapeV2,
              builder.vector(dimensions, [&](const Snapshot::Dimension& dimension) {
                const auto chunks = static_cast<std::uint32_t>(dimension.chunk_count);
                return builder.table(FlatFields().number(0, dimension.length).number(1, chunks));
              }));
}

FlatTarget write_array(FlatBuilder& builder, int format, const NewNode& node) {
  FlatFields data;
  write_shape(builder, data, format, node.dimensions);
  if (node.has_dimension_names) {
    data.offset(snapshot_field::kDimensionNames,
                builder.vector(node.dimensions, [&](const Snapshot::Dimension& dimension) {
                  FlatFields name;
                  if (dimension.name) name.offset(0, builder.text(*dimension.name));
                  return builder.table(name);
                }));
  }
  data.offset(
      snapshot_field::kManifests, builder.vector(node.manifests, [&](const ManifestPart& part) {
        std::vector<std::uint32_t> extents;
        for (std::size_t axis = 0; axis < part.from.size(); ++axis) {
          extents.insert(extents.end(), {part.from[axis], part.to[axis]});
        }
        return builder.table(
            FlatFields()
                .structure(snapshot_field::kManifestId, parse_id<ObjectId>(part.id))
                .offset(snapshot_field::kExtents, builder.numbers<std::uint32_t>(extents, 2)));
      }));
  return builder.table(data);
}

FlatTarget write_node(FlatBuilder& builder, int format, const NewNode& node) {
  const auto type = static_cast<std::uint8_t>(node.is_array ? kArray : kGroup);
  return builder.table(
      FlatFields()
          .structure(snapshot_field::kNodeId, node.id)
          .offset(snapshot_field::kPath, builder.text('/' + std::string(node.path)))
          .offset(snapshot_field::kUserData, builder.bytes(std::as_bytes(std::span(node.document))))
          .offset(snapshot_field::kData,
                  node.is_array ? write_array(builder, format, node) : builder.table(FlatFields()))
          .number(snapshot_field::kDataType, type));
}

// Ids are in the same order as texts and as bytes. In format 2, the list of format 1 is empty.
void write_manifest_files(FlatBuilder& builder, FlatFields& root, int format,
                          const ManifestFiles& manifests) {
  Buffer structures(format == 1 ? manifests.size() * kManifestFileSize : 0);
  std::ranges::fill(structures.span(), std::byte{0});
  if (format == 1) {
    std::byte* place = structures.data();
    for (const auto& [text, file] : manifests) {
      std::ranges::copy(parse_id<ObjectId>(text), place);
      store_integer(file.size, Endian::little, place + kSizePlace);
      store_integer(file.reference_count, Endian::little, place + kCountPlace);
      place += kManifestFileSize;
    }
  }
  root.offset(snapshot_field::kManifestFiles,
              builder.structures(structures.span(), kManifestFileSize, sizeof(std::uint64_t)));
  if (format == 1) return;
  root.offset(snapshot_field::kManifestFilesV2, builder.vector(manifests, [&](const auto& item) {
    const auto& [text, file] = item;
    return builder.table(FlatFields()
                             .number(snapshot_field::kFileSize, file.size)
                             .structure(snapshot_field::kFileId, parse_id<ObjectId>(text))
                             .number(snapshot_field::kFileReferences, file.reference_count));
  }));
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
  using Structures = FlatVector<ByteSpan>;
  for (const ByteSpan file :
       root_.vector<ByteSpan>(snapshot_field::kManifestFiles, kManifestFileSize)
           .value_or(Structures())) {
    manifest_files_[id_text(file.first(kObjectIdSize))] = {
        load_integer<std::uint64_t>(file.data() + kSizePlace, Endian::little),
        load_integer<std::uint32_t>(file.data() + kCountPlace, Endian::little)};
  }
  for (const FlatTable file :
       root_.tables(snapshot_field::kManifestFilesV2).value_or(FlatTables())) {
    const auto id = file.structure(snapshot_field::kFileId, kObjectIdSize);
    manifest_files_[id_text(required(id, "id of a manifest"))] = {
        file.number<std::uint64_t>(snapshot_field::kFileSize),
        file.number<std::uint32_t>(snapshot_field::kFileReferences)};
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
    for (const FlatTable ref : refs) used.insert(manifest_id(ref));
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
  return required(nodes_[node].text(snapshot_field::kUserData), "document of the node");
}

SnapshotRecord Snapshot::record() const {
  SnapshotRecord record;
  if (const auto parent = root_.structure(snapshot_field::kParent, kObjectIdSize)) {
    record.parent = id_of<ObjectId>(*parent);
  }
  record.time = root_.number<std::uint64_t>(snapshot_field::kTime);
  record.message = required(root_.text(snapshot_field::kMessage), "message");
  record.properties = read_properties(root_, snapshot_field::kProperties);
  return record;
}

FlatTable Snapshot::data_of(std::size_t array) const {
  return required(nodes_[array].table(snapshot_field::kData), "data of the array");
}

// Format 1 has the lengths of chunks instead of their number.
std::vector<Snapshot::Dimension> Snapshot::dimensions(std::size_t array) const {
  const FlatTable data = data_of(array);
  std::vector<Dimension> dimensions;
  if (const auto shape = data.tables(snapshot_field::kShapeV2)) {
    for (const FlatTable axis : *shape) {
      dimensions.push_back({axis.number<std::uint64_t>(0), axis.number<std::uint32_t>(1), {}});
    }
  } else {
    for (const ByteSpan pair : required(shape_v1(data), "shape of the array")) {
      const auto length = load_integer<std::uint64_t>(pair.data(), Endian::little);
      const auto chunk =
          load_integer<std::uint64_t>(pair.data() + sizeof(std::uint64_t), Endian::little);
      dimensions.push_back({length, length == 0 || chunk == 0 ? 0 : (length - 1) / chunk + 1, {}});
    }
  }
  std::size_t axis = 0;
  for (const FlatTable name : data.tables(snapshot_field::kDimensionNames).value_or(FlatTables())) {
    if (axis == dimensions.size()) break;
    dimensions[axis++].name = name.text(0);
  }
  return dimensions;
}

bool Snapshot::has_dimension_names(std::size_t array) const {
  return data_of(array).tables(snapshot_field::kDimensionNames).has_value();
}

std::size_t Snapshot::rank(std::size_t array) const {
  const FlatTable data = data_of(array);
  if (const auto shape = data.tables(snapshot_field::kShapeV2)) return shape->size();
  return required(shape_v1(data), "shape of the array").size();
}

FlatTables Snapshot::manifest_refs(std::size_t array) const {
  return required(data_of(array).tables(snapshot_field::kManifests), "manifests of the array");
}

std::vector<ManifestPart> Snapshot::manifests(std::size_t array, std::size_t rank) const {
  std::vector<ManifestPart> parts;
  for (const FlatTable ref : manifest_refs(array)) {
    ManifestPart part{manifest_id(ref), {}, {}};
    const auto extents =
        required(ref.vector<ByteSpan>(snapshot_field::kExtents, 2 * sizeof(std::uint32_t)),
                 "extents of a manifest");
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

Buffer make_snapshot(const ObjectId& id, const SnapshotRecord& record, int format,
                     const std::vector<NewNode>& nodes, const ManifestFiles& manifests) {
  FlatBuilder builder;
  FlatFields root;
  root.number(snapshot_field::kTime, record.time).structure(snapshot_field::kId, id);
  if (format == 1 && record.parent) root.structure(snapshot_field::kParent, *record.parent);
  root.offset(snapshot_field::kNodes, builder.vector(nodes, [&](const NewNode& node) {
    return write_node(builder, format, node);
  }));
  root.offset(snapshot_field::kMessage, builder.text(record.message));
  root.offset(snapshot_field::kProperties, write_properties(builder, record.properties));
  write_manifest_files(builder, root, format, manifests);
  return make_envelope(builder.finish(builder.table(root)), FileType::snapshot, format);
}

std::vector<std::uint64_t> ManifestPart::last() const {
  std::vector<std::uint64_t> last(to.begin(), to.end());
  for (std::uint64_t& each : last) --each;
  return last;
}

bool ManifestPart::contains(std::span<const std::uint64_t> index) const {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (index[i] < from[i] || index[i] >= to[i]) return false;
  }
  return true;
}

}  // namespace zarrcore::icechunk
