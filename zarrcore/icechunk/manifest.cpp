#include "zarrcore/icechunk/manifest.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace zarrcore::icechunk {
namespace {

// No URL is longer.
constexpr std::uint64_t kMaxLocationSize = 64 << 10;

// How locations are compressed.
constexpr std::uint8_t kPlainLocations = 0;
constexpr std::uint8_t kZstdLocations = 1;

// The ids of fields.
namespace manifest_field {
constexpr unsigned kId = 0;
constexpr unsigned kArrays = 1;
constexpr unsigned kDictionary = 2;
constexpr unsigned kCompression = 3;
constexpr unsigned kNodeId = 0;
constexpr unsigned kReferences = 1;
constexpr unsigned kIndex = 0;
constexpr unsigned kInline = 1;
constexpr unsigned kOffset = 2;
constexpr unsigned kLength = 3;
constexpr unsigned kChunkId = 4;
constexpr unsigned kLocation = 5;
constexpr unsigned kEtag = 6;
constexpr unsigned kLastModified = 7;
constexpr unsigned kCompressedLocation = 8;
}  // namespace manifest_field

using Index = std::vector<std::uint64_t>;

ByteSpan node_id(const FlatTable& array) {
  return required(array.structure(manifest_field::kNodeId, kNodeIdSize), "id of an array");
}

FlatTables references_of(const FlatTable& array) {
  return required(array.tables(manifest_field::kReferences), "references to chunks");
}

int compare(ByteSpan a, ByteSpan b) {
  return std::memcmp(a.data(), b.data(), kNodeIdSize);
}

void load_index(const FlatTable& reference, std::size_t rank, Index& index) {
  const auto numbers =
      required(reference.vector<std::uint32_t>(manifest_field::kIndex), "index of a chunk");
  if (numbers.size() != rank) {
    throw Error("the index of a chunk has " + std::to_string(numbers.size()) +
                " numbers; the array has " + std::to_string(rank) + " dimensions");
  }
  index.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) index[i] = numbers[i];
}

}  // namespace

void check_reference(const ChunkReference& reference) {
  if (reference.length == 0) throw Error("the reference to the chunk has no length");
  if (reference.length > UINT64_MAX - reference.offset) {
    throw Error("the reference to the chunk has an offset that is too large");
  }
  if (reference.kind == ChunkReference::Kind::external && reference.object.empty()) {
    throw Error("the reference to the chunk names no place");
  }
}

FlatTarget write_reference(FlatBuilder& builder, std::span<const std::uint64_t> index,
                           const ChunkReference& reference) {
  FlatFields fields;
  fields.offset(manifest_field::kIndex, builder.numbers<std::uint32_t>(index));
  if (reference.kind == ChunkReference::Kind::inlined) {
    fields.offset(manifest_field::kInline, builder.bytes(reference.bytes));
  } else {
    fields.number(manifest_field::kLength, reference.length);
  }
  if (reference.kind == ChunkReference::Kind::native) {
    fields.structure(manifest_field::kChunkId, parse_id<ObjectId>(reference.object));
  }
  if (reference.kind == ChunkReference::Kind::external) {
    fields.offset(manifest_field::kLocation, builder.text(reference.object));
    if (!reference.etag.empty()) {
      fields.offset(manifest_field::kEtag, builder.text(reference.etag));
    }
    if (reference.last_modified != 0) {
      fields.number(manifest_field::kLastModified, reference.last_modified);
    }
  }
  if (reference.offset != 0) fields.number(manifest_field::kOffset, reference.offset);
  return builder.table(fields);
}

Buffer make_manifest(FlatBuilder& builder, const ObjectId& id, const NodeId& array,
                     FlatTarget references, int format) {
  const auto write_array = [&](const NodeId& node) {
    return builder.table(FlatFields()
                             .structure(manifest_field::kNodeId, node)
                             .offset(manifest_field::kReferences, references));
  };
  const FlatTarget root = builder.table(
      FlatFields()
          .structure(manifest_field::kId, id)
          .offset(manifest_field::kArrays, builder.vector(std::span(&array, 1), write_array))
          .number(manifest_field::kCompression, kPlainLocations));
  return make_envelope(builder.finish(root), FileType::manifest, format);
}

Manifest::Manifest(ByteSpan file, std::string_view id)
    : content_(open_envelope(file, FileType::manifest)), root_(FlatTable::root(content_.span())) {
  const std::string own_id =
      id_text(required(root_.structure(manifest_field::kId, kObjectIdSize), "id"));
  if (own_id != id) throw Error("it holds manifest " + own_id);
  const FlatTables arrays = required(root_.tables(manifest_field::kArrays), "arrays");
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    if (compare(node_id(arrays[i - 1]), node_id(arrays[i])) >= 0) {
      throw Error("its arrays are not in the order of their ids");
    }
  }
  const auto dictionary = root_.bytes(manifest_field::kDictionary);
  if (dictionary && !dictionary->empty()) dictionary_ = make_zstd_dictionary(*dictionary);
}

std::size_t Manifest::place_of(const FlatTables& arrays, ByteSpan array) {
  const std::size_t place = arrays.first_not_before(
      [&](const FlatTable& each) { return compare(node_id(each), array) < 0; });
  if (place == arrays.size() || compare(node_id(arrays[place]), array) != 0) {
    throw Error("it has no references to chunks of the array, whose snapshot names it");
  }
  return place;
}

FlatTables Manifest::references(ByteSpan array, std::size_t rank) const {
  const FlatTables arrays = required(root_.tables(manifest_field::kArrays), "arrays");
  const std::size_t place = place_of(arrays, array);
  const FlatTables references = references_of(arrays[place]);
  const std::lock_guard lock(mutex_);
  if (checked_.contains(place)) return references;
  // Out of order, a chunk would seem to be missing.
  Index previous;
  Index index;
  for (std::size_t i = 0; i < references.size(); ++i) {
    load_index(references[i], rank, index);
    if (i > 0 && index <= previous) throw Error("its references are not in the order of chunks");
    std::swap(index, previous);
  }
  checked_.insert(place);
  return references;
}

std::uint64_t Manifest::reference_count() const {
  std::uint64_t count = 0;
  for (const FlatTable array : required(root_.tables(manifest_field::kArrays), "arrays")) {
    count += references_of(array).size();
  }
  return count;
}

std::optional<ChunkReference> Manifest::find(ByteSpan array,
                                             std::span<const std::uint64_t> index) const {
  const FlatTables references = this->references(array, index.size());
  Index current;
  const std::size_t place = references.first_not_before([&](const FlatTable& each) {
    load_index(each, index.size(), current);
    return std::ranges::lexicographical_compare(current, index);
  });
  if (place == references.size()) return std::nullopt;
  const FlatTable reference = references[place];
  load_index(reference, index.size(), current);
  if (!std::ranges::equal(current, index)) return std::nullopt;
  return make_reference(reference);
}

ChunkReference Manifest::make_reference(const FlatTable& table) const {
  ChunkReference reference;
  if (const auto bytes = table.bytes(manifest_field::kInline)) {
    reference.bytes = *bytes;
    reference.length = bytes->size();
    return reference;
  }
  reference.offset = table.number<std::uint64_t>(manifest_field::kOffset);
  reference.length = table.number<std::uint64_t>(manifest_field::kLength);
  if (const auto id = table.structure(manifest_field::kChunkId, kObjectIdSize)) {
    reference.kind = ChunkReference::Kind::native;
    reference.object = id_text(*id);
    check_reference(reference);
    return reference;
  }
  reference.kind = ChunkReference::Kind::external;
  if (const auto location = table.text(manifest_field::kLocation)) {
    reference.object = *location;
  } else if (const auto compressed = table.bytes(manifest_field::kCompressedLocation)) {
    switch (const auto compression =
                root_.number<std::uint8_t>(manifest_field::kCompression, kZstdLocations)) {
      case kPlainLocations:
        reference.object = text_of(*compressed);
        break;
      case kZstdLocations:
        reference.object = decompress_zstd(*compressed, kMaxLocationSize, dictionary_.get()).text();
        break;
      default:
        throw Error("the locations have the unknown compression " + std::to_string(compression));
    }
  }
  reference.etag = table.text(manifest_field::kEtag).value_or("");
  reference.last_modified = table.number<std::uint32_t>(manifest_field::kLastModified);
  check_reference(reference);
  return reference;
}

void Manifest::for_each(ByteSpan array, std::size_t rank,
                        const std::function<void(std::span<const std::uint64_t> index,
                                                 std::size_t place)>& visit) const {
  const FlatTables references = this->references(array, rank);
  Index index;
  for (std::size_t i = 0; i < references.size(); ++i) {
    load_index(references[i], rank, index);
    visit(index, i);
  }
}

ChunkReference Manifest::reference(ByteSpan array, std::size_t place) const {
  const FlatTables arrays = required(root_.tables(manifest_field::kArrays), "arrays");
  return make_reference(references_of(arrays[place_of(arrays, array)])[place]);
}

}  // namespace zarrcore::icechunk
