#include "autotest/cpp/support/icechunk_repository.h"

#include <zstd.h>

#include <span>

#include "zarrcore/base/endian.h"

namespace zarrcore::test {
namespace {

constexpr const char* kGroup =
    R"({"zarr_format": 3, "node_type": "group", "attributes": {"title": "sea"}})";
constexpr const char* kArray =
    R"({"zarr_format": 3, "node_type": "array", "shape": [12], "data_type": "uint8",
"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
"chunk_key_encoding": {"name": "default"}, "fill_value": 9, "codecs": [{"name": "bytes"}]})";

// {"virtual_chunk_containers": {"file:///data": {"name": "here", "url_prefix": "file:///data"}}} as
// a FlexBuffer, written from the inside out.
std::string config() {
  std::string bytes;
  const auto add = [&](std::string_view text) {  // a key
    const std::size_t at = bytes.size();
    bytes.append(text).append(1, '\0');
    return at;
  };
  const auto back = [&](std::size_t target) { bytes += static_cast<char>(bytes.size() - target); };
  const auto add_text = [&](std::string_view text) {
    bytes += static_cast<char>(text.size());
    return add(text);
  };
  // Keys, then values, of maps whose numbers have one byte.
  const auto add_map = [&](std::span<const std::size_t> keys, std::span<const std::size_t> values,
                           unsigned type) {
    bytes += static_cast<char>(keys.size());
    const std::size_t key_vector = bytes.size();
    for (const std::size_t key : keys) back(key);
    back(key_vector);
    bytes += '\1';
    bytes += static_cast<char>(values.size());
    const std::size_t start = bytes.size();
    for (const std::size_t value : values) back(value);
    for (std::size_t i = 0; i < values.size(); ++i) bytes += static_cast<char>(type << 2);
    return start;
  };
  constexpr unsigned kString = 5;
  constexpr unsigned kMap = 9;
  const std::size_t member_keys[] = {add("name"), add("url_prefix")};
  const std::size_t member_values[] = {add_text("here"), add_text("file:///data")};
  const std::size_t container[] = {add_map(member_keys, member_values, kString)};
  const std::size_t url[] = {add("file:///data")};
  const std::size_t containers[] = {add_map(url, container, kMap)};
  const std::size_t section[] = {add("virtual_chunk_containers")};
  const std::size_t root = add_map(section, containers, kMap);
  back(root);
  return bytes + static_cast<char>(kMap << 2) + '\1';
}

std::string id_of(int length, unsigned first) {
  std::string id;
  for (int i = 0; i < length; ++i) id += static_cast<char>(first + static_cast<unsigned>(i));
  return id;
}

std::string compress(const std::string& content, bool checksum, std::string_view dictionary = {}) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string compressed(ZSTD_compressBound(content.size()), '\0');
  compressed.resize(ZSTD_compress2(context, compressed.data(), compressed.size(), content.data(),
                                   content.size()));
  ZSTD_freeCCtx(context);
  return compressed;
}

FlatObject chunk_at(std::uint32_t index) {
  return FlatObject().vector(0, little(index), 4);
}

FlatObject part_of(FlatObject chunk, std::uint64_t offset) {
  return chunk.number(2, offset).number(3, std::uint64_t{2});
}

const std::string kSnapshotId = "\x0b\x1c\xc8\xd6\x78\x75\x80\xf0\xe3\x3a\x65\x34";
const std::string kManifestId = id_of(12, 0x14);
const std::string kObjectId = id_of(12, 0);
constexpr std::string_view kDictionary = "of locations, as file:///data/other.bin";
const std::string kArrayId = id_of(8, 0x30);

}  // namespace

std::string icechunk_file(unsigned type, const std::string& content, FileCompression compression) {
  std::string file = "ICE\xF0\x9F\xA7\x8A";
  file += "CHUNKtest                    ";
  file.resize(36, ' ');
  file += {'\2', static_cast<char>(type),
           static_cast<char>(compression == FileCompression::none ? 0 : 1)};
  if (compression == FileCompression::none) return file + content;
  return file + compress(content, compression == FileCompression::zstd_with_checksum);
}

IcechunkRepository::IcechunkRepository() {
  const auto ref = [](std::string_view name) {
    return FlatObject().text(0, name).number(1, std::uint32_t{0});
  };
  info.number(0, std::uint8_t{2})
      .tables(1, {ref("v1")})
      .tables(2, {ref("main"), ref("other")})
      .texts(3, {"old"})
      .tables(4, {FlatObject().in_table(0, kSnapshotId).number(1, std::int32_t{-1}).text(3, "")})
      .table(5, FlatObject().number(0, std::uint8_t{0}))
      .vector(9, config());
  const auto node = [](unsigned number, std::string_view path, std::string_view document,
                       std::uint8_t type, FlatObject data) {
    return FlatObject()
        .in_table(0, id_of(8, number))
        .text(1, path)
        .vector(2, document)
        .number(3, type)
        .table(4, std::move(data));
  };
  const FlatObject manifest_ref =
      FlatObject().in_table(0, kManifestId).vector(1, little(0U) + little(6U), 8);
  snapshot.in_table(0, kSnapshotId)
      .tables(2, {node(0x10, "/", kGroup, 2, {}), node(0x20, "/g", kGroup, 2, {}),
                  node(0x30, "/g/a", kArray, 1, FlatObject().tables(2, {manifest_ref})),
                  node(0x40, "/g-b", kGroup, 2, {})});
  // '-' is before '/'.
  std::swap(snapshot.tables_of(2)[2], snapshot.tables_of(2)[3]);
  manifest.in_table(0, kManifestId)
      .vector(2, kDictionary)
      .tables(
          1, {FlatObject()
                  .in_table(0, kArrayId)
                  .tables(1, {chunk_at(0).vector(1, "XY"),
                              part_of(chunk_at(1), 3).in_table(4, kObjectId),
                              part_of(chunk_at(2), 0).text(5, kUrl),
                              part_of(chunk_at(3), 2).vector(8, compress(kUrl, false, kDictionary)),
                              part_of(chunk_at(4), 4).text(5, "vcc://here/file.bin")})});
  object = "...AB...";
  listed_id = kManifestId;
}

FlatObject& IcechunkRepository::chunk(std::size_t i) {
  return manifest.tables_of(1).front().tables_of(1)[i];
}

void IcechunkRepository::put(Store& store, int format) const {
  const auto put_text = [&](std::string_view key, const std::string& text) {
    store.put(key, std::as_bytes(std::span(text)));
  };
  const auto file_of = [&](unsigned type, const FlatObject& root) {
    return icechunk_file(type, write_flat_buffer(root), compression);
  };
  const std::string manifest_file = file_of(2, manifest);
  const std::uint64_t size = manifest_file.size() + added_size;
  const std::uint32_t count = 5 + added_count;
  FlatObject listing = snapshot;
  const std::string padding(4, '\0');
  if (!listed_id.empty() && format == 2) {
    listing.tables(7, {FlatObject().in_table(0, listed_id).number(1, size).number(2, count)});
  } else if (!listed_id.empty()) {
    listing.vector(6, listed_id + padding + little(size) + little(count) + padding, 32);
  }
  put_text(kSnapshotKey, file_of(1, listing));
  put_text(kManifestKey, manifest_file);
  put_text(kObjectKey, object);
  if (format == 2) {
    put_text("repo", file_of(6, info));
    return;
  }
  const std::string ref = std::string(R"({"snapshot":")") + kSnapshot + R"("})";
  for (const char* folder : {"branch.main", "branch.other", "tag.v1", "tag.old"}) {
    put_text(std::string("refs/") + folder + "/ref.json", ref);
  }
  put_text("refs/tag.old/ref.json.deleted", "");
  put_text("config.yaml",
           "virtual_chunk_containers:\n  here:\n    name: here\n    url_prefix: file:///data\n"
           "    store: !local_file_system ''\nmanifest: null\n");
}

}  // namespace zarrcore::test
