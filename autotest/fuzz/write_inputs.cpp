// Writes what fuzzing begins with into a folder: `zarr.dict`, the words of the formats, and
// `seeds/TARGET/…`, made of the fixtures and of the chains of chains.h.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "autotest/cpp/support/icechunk_repository.h"
#include "autotest/cpp/support/npy.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/fuzz/chains.h"
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/store_text.h"
#include "zarrcore/base/path.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::fuzz {
namespace {

namespace fs = std::filesystem;

// Smaller inputs are found, and changed, sooner.
constexpr std::size_t kMaxSeedSize = 6 << 10;
constexpr std::size_t kMaxWordSize = 24;

fs::path stores() {
  return FIXTURES_FOLDER "/stores";
}

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

bool is_document(const fs::path& file) {
  static const std::set<std::string> kNames{"zarr.json", ".zarray", ".zgroup",   ".zattrs",
                                            "meta",      "attrs",   ".zmetadata"};
  return kNames.contains(file.filename().string()) || file.extension() == ".json";
}

StoreValues values_of(const fs::path& folder) {
  StoreValues values;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    values[file.path().lexically_relative(folder).generic_string()] = test::read_file(file.path());
  }
  return values;
}

// --- The dictionary ------------------------------------------------------------------------------

// Strings of a document and of all in it, and the names of members.
void count_words(const Json& value, std::map<std::string, int>& counts) {
  if (value.is_string()) ++counts[value.get<std::string>()];
  for (const auto& [key, member] : value.items()) {
    if (value.is_object()) ++counts[key];
    if (value.is_structured()) count_words(member, counts);
  }
}

std::set<std::string> dictionary_words() {
  std::set<std::string> words;
  for (const CodecName& codec : codec_names()) {
    words.emplace(codec.name);
    Input members(reinterpret_cast<const std::uint8_t*>(codec.members.data()),
                  codec.members.size());
    while (!members.is_empty()) words.emplace(members.until(" "));
  }
  // What several documents say is a word of the formats, or of a convention.
  std::map<std::string, int> counts;
  for (const auto& file : fs::recursive_directory_iterator(stores())) {
    if (file.is_regular_file() && is_document(file.path())) {
      succeeds([&] { count_words(parse_json(test::read_file(file.path())), counts); });
    }
  }
  for (const auto& [word, count] : counts) {
    if (count > 1) words.insert(word);
  }
  return words;
}

void write_dictionary(const fs::path& path) {
  std::string text;
  for (const std::string& word : dictionary_words()) {
    const bool is_plain = std::ranges::all_of(
        word, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (word.empty() || word.size() > kMaxWordSize || !is_plain) continue;
    text += "\"\\\"" + word + "\\\"\"\n";
  }
  for (const char* token :
       {"null", "true", "false", "NaN", "-Infinity", "-1", "1e400", "18446744073709551616",
        "9223372036854775807", "{}", "[]", "[[", "]]", "\\x0a----\\x0a", "c/0/0", "0.0"}) {
    text += std::string("\"") + token + "\"\n";
  }
  write_file(path, text);
}

// --- Seeds ---------------------------------------------------------------------------------------

// An element that every codec takes: a small number, or one of two words.
void set_element(MutableByteSpan element, const DataType& type, std::uint64_t number) {
  static constexpr std::string_view kWords[] = {"one", "two"};
  const std::string_view word = kWords[number % 2];
  if (type.is_variable()) {
    const VariableElement variable{word.data(), word.size()};
    std::memcpy(element.data(), &variable, sizeof(variable));
  } else if (type.kind == TypeKind::fixed_utf32) {
    const std::u32string text(word.begin(), word.end());
    std::memcpy(element.data(), text.data(), text.size() * sizeof(char32_t));
  } else if (const auto converter = make_numeric_converter({TypeKind::unsigned_integer, 1}, type)) {
    const auto value = static_cast<std::byte>(number % 5);
    converter->convert(&value, 0, element.data(), 0, 1);
  } else {
    element[0] = static_cast<std::byte>(number % 5);
  }
}

// A chunk in stored order.
test::Bytes chunk_of(const CodecChain& chain) {
  const DataType& type = chain.stored_spec().data_type;
  test::Bytes chunk(chain.decoded_size());
  for (std::uint64_t i = 0; i < chunk.size() / type.item_size; ++i) {
    set_element(std::span(chunk).subspan(i * type.item_size, type.item_size), type, i);
  }
  return chunk;
}

// The same, encoded.
test::Bytes encoded_chunk_of(const CodecChain& chain, const TestChain& test) {
  if (!test.chunk.empty()) return test::from_hex(test.chunk);
  const test::Bytes chunk = chunk_of(chain);
  std::optional<test::Bytes> encoded;
  succeeds([&] { encoded = test::to_bytes(chain.encode(chunk).span()); });
  return encoded.value_or(chunk);
}

// A chunk of every chain, and stores of one array with it.
void write_chunks(const fs::path& seeds) {
  for (std::size_t i = 0; i < test_chains().size(); ++i) {
    const ChainArray array(test_chains()[i]);
    const test::Bytes encoded = encoded_chunk_of(array.chain(), test_chains()[i]);
    check(succeeds([&] { array.chain().decode(encoded); }), "the chunk of a chain can be decoded");
    const std::string text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    const std::string name = std::to_string(i);
    write_file(seeds / "chunks" / name, static_cast<char>(i) + text);
    write_file(seeds / "stores" / ("chain" + name),
               make_store_text({{"zarr.json", dump_json(array.document())}, {kChunkKey, text}}));
  }
}

// The documents of every node, and of consolidated metadata.
void write_documents(const fs::path& seeds, const std::string& store, const StoreValues& values) {
  std::map<std::string, StoreValues> nodes;
  for (const auto& [key, value] : values) {
    const std::string_view name = last_segment(key);
    if (is_document(key)) nodes[std::string(parent_path(key))][std::string(name)] = value;
  }
  int number = 0;
  for (const auto& [path, documents] : nodes) {
    // Those of the draft of 2020 stand in one folder.
    const std::string text = make_store_text(values.contains("meta/root.group.json") ||
                                                     values.contains("meta/root.array.json")
                                                 ? values
                                                 : documents);
    if (text.size() > kMaxSeedSize) continue;
    write_file(seeds / "metadata" / (store + "." + std::to_string(number++)), text);
  }
}

void write_fixtures(const fs::path& seeds) {
  for (const auto& store : fs::directory_iterator(stores())) {
    if (!store.is_directory()) continue;
    const std::string name = store.path().filename().string();
    const StoreValues values = values_of(store.path());
    write_documents(seeds, name, values);
    const std::string text = make_store_text(values);
    if (text.size() <= kMaxSeedSize) write_file(seeds / "stores" / name, text);
    write_file(seeds / "documents" / name, name + "\n0 1 null\n");
  }
  for (const auto& file : fs::directory_iterator(stores() / "kerchunk")) {
    if (file.path().extension() == ".json") {
      write_file(seeds / "references" / file.path().filename(), test::read_file(file.path()));
    }
  }
  std::string parquet = values_of(stores() / "v2_tree_consolidated.zarr").at(".zmetadata");
  parquet.insert(parquet.find('{') + 1, "\"record_size\": 10,");
  write_file(seeds / "references" / "parquet", parquet);
  for (const auto& [key, value] : values_of(stores() / "kerchunk_parquet")) {
    if (!key.ends_with(".parq") || value.size() > kMaxSeedSize) continue;
    std::string name = key;
    std::ranges::replace(name, '/', '_');
    write_file(seeds / "parquet" / name, value);
  }
}

// What no fixture has: N5, and chunks of several lengths as ZEP 3 has them.
void write_other_formats(const fs::path& seeds) {
  const auto write = [&](const std::string& name, const StoreValues& values) {
    write_file(seeds / "stores" / name, make_store_text(values));
    write_file(seeds / "metadata" / name, make_store_text(values));
  };
  for (const char* compression :
       {R"({"type": "raw"})", R"({"type": "gzip", "level": -1, "useZlib": true})",
        R"({"type": "bzip2", "blockSize": 9})", R"({"type": "xz", "preset": 6})",
        R"({"type": "lz4", "blockSize": 65536})", R"({"type": "zstd", "level": 3})",
        R"({"type": "blosc", "cname": "lz4", "clevel": 6, "shuffle": 1, "blocksize": 0,
            "nthreads": 1})"}) {
    const std::string header("\0\0\0\2\0\0\0\4\0\0\0\3", 12);  // of {4, 3}
    const std::string attributes =
        std::string(R"({"n5": "2.5.1", "dimensions": [6, 7], "blockSize": [4, 3],
                        "dataType": "int16", "axes": ["x", "y"], "compression": )") +
        compression + "}";
    const std::string type = parse_json(compression).at("type").get<std::string>();
    write("n5_" + type, {{"attributes.json", attributes}, {"0/0", header + std::string(24, '\1')}});
  }
  Json document =
      test::array_document({7, 6}, {4, 6}, R"("int16")", test::codec_list({test::bytes_codec()}));
  for (const auto& [grid, lengths] :
       {std::pair("rectangular", "[[4, 3], 6]"), std::pair("zarrs.regular_bounded", "[4, 6]")}) {
    document["chunk_grid"] = {{"name", grid},
                              {"configuration", {{"chunk_shape", parse_json(lengths)}}}};
    write(grid, {{"zarr.json", dump_json(document)}, {"c/1/0", std::string(36, '\1')}});
  }
}

// All values of a store.
StoreValues values_of(Store& store) {
  StoreValues values;
  store.visit_values("", [&](std::string_view key, std::optional<std::uint64_t> /*size*/) {
    values[std::string(key)] = store.get(key, kNoSizeLimit)->text();
  });
  return values;
}

// A repository, and changes of it: a new array, and chunks that are put and erased.
void write_session(const fs::path& seed, int format) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files, format);
  icechunk::Transaction transaction(files, "main", nullptr);
  const std::string chunk = "CD";
  const auto put = [&](const char* key, const std::string& value) {
    transaction.put(key, std::as_bytes(std::span(value)));
  };
  const std::string array = dump_json(
      test::array_document({7, 6}, {1, 2}, R"("uint8")", test::codec_list({test::bytes_codec()})));
  put("a/zarr.json", array);
  put("a/c/0/0", chunk);
  put("a/c/0/1", chunk);
  transaction.commit({});
  StoreValues values = values_of(*files);
  put("new/zarr.json", array);
  put("new/c/0/0", chunk);
  transaction.put_reference("new/c/1/0", {.kind = icechunk::ChunkReference::Kind::external,
                                          .object = test::IcechunkRepository::kUrl,
                                          .length = 2});
  put("a/c/0/0", chunk);
  transaction.erase("a/c/0/1");
  values["session"] = transaction.changes();
  write_file(seed, make_store_text(values));
}

// A repository of each format. Uncompressed files are easier to change.
void write_repositories(const fs::path& seeds) {
  for (const int format : {1, 2}) {
    for (const auto compression : {test::FileCompression::none, test::FileCompression::zstd}) {
      test::IcechunkRepository repository;
      repository.compression = compression;
      MemoryStore files;
      repository.put(files, format);
      const bool is_plain = compression == test::FileCompression::none;
      write_file(seeds / "icechunk" / (std::to_string(format) + (is_plain ? "" : "zstd")),
                 make_store_text(values_of(files)));
    }
    write_session(seeds / "icechunk" / (std::to_string(format) + "session"), format);
  }
}

// Of the stores that names.cpp puts into memory.
void write_names(const fs::path& seeds) {
  int number = 0;
  for (const char* name :
       {"/vsimem/stores/v2_5d.zarr", "ZARR:/vsimem/stores/v3_5d.zarr",
        "ZARR:\"/vsimem/stores/v2_5d.zarr\":/v2_5d:0:1:2", "ZARR:\"/vsimem/stores/v3_5d.zarr\":/",
        "ZARR:\"/vsimem/stores/v2_tree_consolidated.zarr\":/a/b",
        "/vsimem/stores/v2_tree_consolidated.zarr/.zmetadata", "/vsimem/stores/v1_zlib.zarr/meta",
        "/vsimem/stores/draft3_zarr213.zarr/zarr.json", "/vsizip//vsimem/stores/z2.zip",
        "/vsizip/{/vsimem/stores/z2.zip}/", "/vsimem/stores/kerchunk/v1.json",
        "ZARR:\"/vsimem/stores/kerchunk/v0.json\":/v", "ICECHUNK:/vsimem/stores?branch=main",
        "/vsiicechunk/{/vsimem/stores?tag=v1&ignore-timestamp-etag=yes}/a",
        "file:///vsimem/stores/z2.zip|zip:|zarr2:", "/vsimem/stores/v3_5d.zarr|zarr3:",
        "/vsimem/stores|icechunk://tag.v5/g/|zarr3:",
        "ZARR:\"/vsimem/stores/v3_5d.zarr\":/v3_5d:bands=1-9"}) {
    write_file(seeds / "names" / std::to_string(number++), name);
  }
}

// Fails when there is a codec that no chain has.
void check_chains() {
  std::string chains;
  for (const TestChain& chain : test_chains()) chains += chain.codecs;
  for (const CodecName& codec : codec_names()) {
    if (!kHasZfp && codec.name.find("zfp") != std::string_view::npos) continue;
    check(chains.find('"' + std::string(codec.name) + '"') != std::string::npos,
          "a chain of chains.h has the codec " + std::string(codec.name));
  }
}

}  // namespace
}  // namespace zarrcore::fuzz

int main(int count, char** arguments) {
  using namespace zarrcore::fuzz;
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const fs::path folder = arguments[1];
  check_chains();
  write_dictionary(folder / "zarr.dict");
  write_chunks(folder / "seeds");
  write_fixtures(folder / "seeds");
  write_other_formats(folder / "seeds");
  write_repositories(folder / "seeds");
  write_names(folder / "seeds");
  return 0;
}
