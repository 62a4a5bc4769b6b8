// What an update of a node leaves as it is in its documents: the order of members, and numbers as
// they are spelled.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::kept_text_test {
namespace {

// Numbers that no float64 holds, and others that are not spelled as they would be written.
constexpr std::string_view kNumbers =
    R"({"n":1e400,"l":[1.10,-0],"o":{"x":123456789012345678901234567890,"y":1E5}})";

using DocumentTexts = std::map<std::string, std::string>;

std::shared_ptr<MemoryStore> store_of(const DocumentTexts& texts) {
  auto store = std::make_shared<MemoryStore>();
  for (const auto& [key, text] : texts) store->put(key, bytes_of(text));
  return store;
}

std::unique_ptr<Hierarchy> open(const std::shared_ptr<Store>& store) {
  HierarchyOptions options;
  options.is_writable = true;
  return std::make_unique<Hierarchy>(store, options);
}

std::string text_of(Store& store, const std::string& key) {
  return dump_json(parse_json(store.get(key, kNoSizeLimit)->text()), {.as_read = true});
}

Json& attributes_of(NodeMetadata& node) {
  return std::visit([](auto& one) -> Json& { return one.attributes; }, node);
}

void add_attribute(NodeMetadata& node) {
  attributes_of(node)["new"] = true;
}

void resize(NodeMetadata& node) {
  std::get<ArrayMetadata>(node).shape = {6};
}

std::string with(std::string text, const std::string& part, const std::string& other) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << text;
  return text.replace(at, part.size(), other);
}

// kNumbers with one member more.
std::string with_new_attribute() {
  return with(std::string(kNumbers), "}}", R"(},"new":true})");
}

// Expects the documents `texts` after both updates of the array at `path`.
void expect_updates(const std::shared_ptr<MemoryStore>& store, const std::string& path,
                    const DocumentTexts& texts) {
  const auto hierarchy = open(store);
  hierarchy->update_node(path, add_attribute);
  hierarchy->flush();
  hierarchy->update_node(path, resize);
  hierarchy->flush();
  for (const auto& [key, text] : texts) EXPECT_EQ(text_of(*store, key), text) << key;
}

TEST(KeptText, V1) {
  const std::string meta =
      R"({"zarr_format":1,"shape":[4],"chunks":[2],"dtype":"<f4","compression":"none",)"
      R"("compression_opts":null,"fill_value":1.10,"order":"C","mine":1e400})";
  expect_updates(store_of({{"meta", meta}, {"attrs", std::string(kNumbers)}}), "",
                 {{"meta", with(meta, "[4]", "[6]")}, {"attrs", with_new_attribute()}});
}

TEST(KeptText, V2AndItsConsolidatedMetadata) {
  const std::string group = R"({"zarr_format":2})";
  const std::string array =
      R"({"shape":[4],"zarr_format":2,"dtype":"<f4","chunks":[2],"compressor":null,)"
      R"("fill_value":1.10,"filters":null,"order":"C","mine":1e400})";
  const std::string numbers(kNumbers);
  const auto store = store_of({{".zgroup", group},
                               {".zattrs", numbers},
                               {"a/.zarray", array},
                               {"a/.zattrs", numbers},
                               {".zmetadata", R"({"metadata":{".zgroup":)" + group + "}}"}});
  const std::string resized = with(array, "[4]", "[6]");
  const std::string changed = with_new_attribute();
  expect_updates(store, "a",
                 {{"a/.zarray", resized},
                  {"a/.zattrs", changed},
                  {".zattrs", numbers},
                  {".zmetadata", R"({"zarr_consolidated_format":1,"metadata":{".zattrs":)" +
                                     numbers + R"(,".zgroup":)" + group + R"(,"a/.zarray":)" +
                                     resized + R"(,"a/.zattrs":)" + changed + "}}"}});
}

TEST(KeptText, V3AndItsConsolidatedMetadata) {
  const std::string numbers(kNumbers);
  const std::string group = R"({"zarr_format":3,"node_type":"group","attributes":)" + numbers + "}";
  const std::string array =
      R"({"node_type":"array","zarr_format":3,"shape":[4],"data_type":"float32",)"
      R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},)"
      R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)"
      R"("codecs":[{"name":"bytes","configuration":{"endian":"little"}}],)"
      R"("fill_value":1.10,"attributes":)" +
      numbers + "}";
  const std::string empty_copy =
      R"(,"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}}})";
  const auto store =
      store_of({{"zarr.json", with(group, "}}}", "}}" + empty_copy)}, {"a/zarr.json", array}});
  const std::string changed = with(with(array, numbers, with_new_attribute()), "[4]", "[6]");
  expect_updates(store, "a",
                 {{"a/zarr.json", changed},
                  {"zarr.json", with(group, "}}}",
                                     "}}" + with(empty_copy, R"("metadata":{})",
                                                 R"("metadata":{"a":)" + changed + "}"))}});
}

TEST(KeptText, CodecsKeepMembersThatTheFormatNeedNotSpell) {
  const auto store = store_of(
      {{".zarray", R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","order":"C",)"
                   R"("compressor":{"id":"zstd","level":1,"checksum":false},"fill_value":1.10})"}});
  const auto hierarchy = open(store);
  hierarchy->update_node("", add_attribute);
  hierarchy->flush();
  EXPECT_EQ(text_of(*store, ".zarray"),
            R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","order":"C",)"
            R"("compressor":{"id":"zstd","level":1,"checksum":false},)"
            R"("fill_value":1.10,"filters":null})");
  EXPECT_EQ(text_of(*store, ".zattrs"), R"({"new":true})");
}

TEST(KeptText, AttributesThatAreRenamedOrReplaced) {
  const auto store =
      store_of({{".zgroup", R"({"zarr_format":2})"}, {".zattrs", std::string(kNumbers)}});
  const auto hierarchy = open(store);
  hierarchy->update_node("", [](NodeMetadata& node) {
    Json& attributes = attributes_of(node);
    copy_member(attributes, "n", attributes, "m");
    attributes.erase("n");
    attributes["o"] = parse_json(R"({"x":2e400})");
  });
  hierarchy->flush();
  EXPECT_EQ(text_of(*store, ".zattrs"), R"({"l":[1.10,-0],"o":{"x":2e400},"m":1e400})");
}

}  // namespace
}  // namespace zarrcore::test::kept_text_test
