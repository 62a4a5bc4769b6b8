// References in Parquet files, made by the writer of such files.
#include "driver/stores/references/parquet_references.h"

#include <cpl_conv.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/stores/references/parquet/parquet_file.h"
#include "driver/stores/references/reference_store.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test::parquet_references_test {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

ReferenceTable table_of(const std::string& file) {
  return ReferenceTable::read(std::as_bytes(std::span(file)));
}

// The rows of a file.
class TestRows {
 public:
  TestRows& add_part(std::string target, std::uint64_t offset = 0,
                     std::optional<std::uint64_t> length = {}) {
    rows_.push_back(Reference{std::move(target), offset, length, {}});
    return *this;
  }
  TestRows& add_value(std::string_view value) {
    rows_.push_back(Reference{{}, 0, {}, Buffer::copy_of(value)});
    return *this;
  }
  TestRows& add_nothing() {
    rows_.emplace_back();
    return *this;
  }
  std::string file() const { return write_reference_table(rows_); }
  ReferenceTable table() const { return table_of(file()); }

 private:
  std::vector<std::optional<Reference>> rows_;
};

TEST(ReferenceTable, KnowsFourKindsOfRows) {
  const ReferenceTable table = TestRows()
                                   .add_part("a.nc", 7, 20)
                                   .add_part("b.nc")
                                   .add_value("inline")
                                   .add_nothing()
                                   .add_part("a.nc", 0, 5)
                                   .add_value("")
                                   .add_value("base64:aGk=")
                                   .add_part("a.nc", 0, 0)
                                   .table();
  const auto part = table.find(0);
  EXPECT_EQ(part->target, "a.nc");
  EXPECT_EQ(part->offset, 7U);
  EXPECT_EQ(part->length, 20U);
  const auto whole = table.find(1);
  EXPECT_EQ(whole->target, "b.nc");
  EXPECT_EQ(whole->length, std::nullopt);
  const auto text = table.find(2);
  EXPECT_EQ(text->target, "");
  EXPECT_EQ(text->value.text(), "inline");
  EXPECT_FALSE(table.find(3));
  EXPECT_FALSE(table.has(3));
  EXPECT_EQ(table.find(4)->length, 5U);
  EXPECT_EQ(table.find(5)->value.text(), "");
  EXPECT_EQ(table.find(6)->value.text(), "hi");
  // No bytes of a file are not the whole file.
  EXPECT_EQ(table.find(7)->target, "");
  EXPECT_FALSE(table.find(8));
  EXPECT_FALSE(table.find(UINT64_MAX));
}

TEST(ReferenceTable, HoldsManyRows) {
  TestRows rows;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    i % 3 == 0 ? rows.add_nothing() : rows.add_part("file " + std::to_string(i % 7), i + 1, i);
  }
  const ReferenceTable table = rows.table();
  for (const std::uint64_t i : {1, 2, 3, 5000, 99'998}) {
    EXPECT_EQ(table.has(i), i % 3 != 0);
    if (i % 3 == 0) continue;
    EXPECT_EQ(table.find(i)->target, "file " + std::to_string(i % 7));
    EXPECT_EQ(table.find(i)->offset, i + 1);
    EXPECT_EQ(table.find(i)->length, i);
  }
  EXPECT_TRUE(TestRows().table().byte_count() < 1000);
}

// A file with one row, of which some columns are left out.
std::string file_with(const std::vector<std::string>& columns, std::int64_t number) {
  const std::optional<std::string_view> path("a.nc");
  ParquetWriter writer(1);
  for (const std::string& name : columns) {
    if (name == "offset" || name == "size") {
      writer.add_numbers(name, {&number, 1});
    } else {
      writer.add_texts(name, {&path, 1}, ParquetWriter::Texts::bytes);
    }
  }
  return writer.finish();
}

TEST(ReferenceTable, NamesInvalidRows) {
  const ReferenceTable table = table_of(file_with({"path", "offset", "size"}, -20));
  EXPECT_EQ(message_of([&] { table.find(0); }), "offset is -20");
}

TEST(ReferenceTable, RefusesOtherColumns) {
  EXPECT_TRUE(table_of(file_with({"size", "path", "offset", "other"}, 1)).has(0));
  EXPECT_TRUE(table_of(file_with({"raw"}, 1)).has(0));
  EXPECT_EQ(message_of([&] { table_of(file_with({"offset", "size"}, 1)); }),
            "it has neither a column path nor a column raw");
  EXPECT_EQ(message_of([&] { table_of(file_with({"path", "size"}, 1)); }),
            "it has no column offset");
  EXPECT_EQ(message_of([&] { table_of(file_with({"path", "offset"}, 1)); }),
            "it has no column size");
  const std::optional<std::string_view> text("1");
  ParquetWriter writer(1);
  for (const char* name : {"path", "offset", "size"}) {
    writer.add_texts(name, {&text, 1}, ParquetWriter::Texts::utf8);
  }
  EXPECT_EQ(message_of([&] { table_of(writer.finish()); }),
            "column offset: it does not hold integers");
}

// Whatever is changed or missing, reading ends with a table or an error.
TEST(ReferenceTable, SurvivesDamage) {
  const std::string file = TestRows().add_part("a.nc", 7, 20).add_value("inline").file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(message_of([&] { table_of(file.substr(0, size)); }), "no error") << size;
  }
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      message_of([&] { table_of(damaged).find(0); });
    }
  }
}

constexpr std::string_view kMetadata = R"({
  "metadata": {
    ".zgroup": {"zarr_format": 2},
    "g/.zgroup": {"zarr_format": 2},
    "g/v/.zarray": {"zarr_format": 2, "shape": [50, 7], "chunks": [10, 3]},
    "scalar/.zarray": {"zarr_format": 2, "shape": [], "chunks": []}
  },
  "record_size": 4
})";

// References of 5 x 3 chunks in files of four, whose reading is counted.
class ParquetReferencesTest : public testing::Test {
 protected:
  std::unique_ptr<References> make(std::string_view metadata = kMetadata) {
    return std::make_unique<ParquetReferences>(
        Buffer::copy_of(metadata),
        ParquetReferences::Files{[this](const std::string& file) {
                                   ++reads_[file];
                                   TestRows rows;
                                   if (file == "g/v/refs.3.parq") return ReferenceTable();
                                   if (file == "scalar/refs.0.parq")
                                     return rows.add_value("s").table();
                                   for (const char* end : {"#0", "#1", "#2", "#3"})
                                     rows.add_part(file + end);
                                   return rows.table();
                                 },
                                 {}});
  }

  std::map<std::string, int> reads_;
};

TEST_F(ParquetReferencesTest, CountChunksInCOrder) {
  const auto references = make();
  EXPECT_EQ(references->find("g/v/0.0")->target, "g/v/refs.0.parq#0");
  EXPECT_EQ(references->find("g/v/0.2")->target, "g/v/refs.0.parq#2");
  EXPECT_EQ(references->find("g/v/1.0")->target, "g/v/refs.0.parq#3");
  EXPECT_EQ(references->find("g/v/1.1")->target, "g/v/refs.1.parq#0");
  EXPECT_EQ(references->find("g/v/3/2")->target, "g/v/refs.2.parq#3");
  EXPECT_FALSE(references->find("g/v/4.2"));  // its file is absent
  EXPECT_EQ(references->find("scalar/0")->value.text(), "s");
  EXPECT_EQ(reads_, (std::map<std::string, int>{{"g/v/refs.0.parq", 1},
                                                {"g/v/refs.1.parq", 1},
                                                {"g/v/refs.2.parq", 1},
                                                {"g/v/refs.3.parq", 1},
                                                {"scalar/refs.0.parq", 1}}));
}

TEST_F(ParquetReferencesTest, HoldTheDocuments) {
  const auto references = make();
  EXPECT_EQ(references->find("g/.zgroup")->value.text(), R"({"zarr_format":2})");
  EXPECT_FALSE(references->find("g/v/.zattrs"));
  EXPECT_FALSE(references->find("zarr.json"));
  EXPECT_EQ(references->list("", 0).keys, std::vector<std::string>{".zgroup"});
  EXPECT_EQ(references->list("", 0).prefixes, (std::vector<std::string>{"g", "scalar"}));
  EXPECT_TRUE(reads_.empty());
}

TEST_F(ParquetReferencesTest, HaveOnlyTheChunksOfTheirArrays) {
  const auto references = make();
  for (const char* key : {"g/v/5.0", "g/v/0.3", "g/v/0", "g/v/0.0.0", "g/v/0.0x", "g/v/a.b",
                          "g/v/-1.0", "g/v/0.", "g/v/x/0.0", "scalar/1", "x/0.0", "g/v", ""}) {
    EXPECT_FALSE(references->find(key)) << key;
  }
  EXPECT_TRUE(reads_.empty());
}

TEST_F(ParquetReferencesTest, ListChunksThatExist) {
  const auto references = make();
  const auto below = references->list("g/v", 1000);
  EXPECT_EQ(below.keys,
            (std::vector<std::string>{".zarray", "0.0", "0.1", "0.2", "1.0", "1.1", "1.2", "2.0",
                                      "2.1", "2.2", "3.0", "3.1", "3.2"}));
  EXPECT_TRUE(below.prefixes.empty());
  EXPECT_EQ(references->list("g/v", 2).keys, (std::vector<std::string>{".zarray", "0.0", "0.1"}));
  EXPECT_EQ(references->list("scalar", 9).keys, (std::vector<std::string>{".zarray", "0"}));
  EXPECT_TRUE(references->list("g/v/0", 9).is_empty());
  EXPECT_TRUE(references->has_below("g"));
  EXPECT_TRUE(references->has_below("g/v"));
  EXPECT_FALSE(references->has_below("g/v/0"));
  EXPECT_FALSE(references->has_below("x"));
}

TEST_F(ParquetReferencesTest, ListFoldersOfChunks) {
  const auto references = make(R"({"metadata": {"g/v/.zarray": {"shape": [2, 3, 9],
      "chunks": [1, 2, 5], "dimension_separator": "/"}}, "record_size": 4})");
  EXPECT_EQ(references->list("g/v", 9).prefixes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(references->list("g/v/1", 9).prefixes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(references->list("g/v/1/1", 9).keys, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(references->find("g/v/1/1/0")->target, "g/v/refs.1.parq#2");
  for (const char* prefix : {"g/v/2", "g/v/1/2", "g/v/1/1/0", "g/v/1/", "g/v/x", "g/v/1x"}) {
    EXPECT_TRUE(references->list(prefix, 9).is_empty()) << prefix;
    EXPECT_FALSE(references->has_below(prefix)) << prefix;
  }
}

TEST_F(ParquetReferencesTest, AreReadAgainInAnotherVersion) {
  FileVersion version{1, 0};
  std::string name = "a";
  const ParquetReferences references(
      Buffer::copy_of(kMetadata),
      {[&](const std::string&) { return TestRows().add_part(name).table(); },
       [&](const std::string&) { return std::optional(version); }});
  EXPECT_EQ(references.find("g/v/0.0")->target, "a");
  name = "b";
  EXPECT_EQ(references.find("g/v/0.0")->target, "a");
  version = {1, 5};
  EXPECT_EQ(references.find("g/v/0.0")->target, "b");
}

TEST_F(ParquetReferencesTest, RefuseOtherMetadata) {
  EXPECT_EQ(message_of([&] { make(R"({"metadata": {}, "record_size": 0})"); }),
            "\"record_size\" is zero");
  EXPECT_EQ(message_of([&] { make(R"({"metadata": [], "record_size": 1})"); }),
            "\"metadata\" is not an object");
  EXPECT_NE(message_of([&] { make(R"({"metadata": {}, "record_size": "1"})"); }), "no error");
  const auto references =
      make(R"({"metadata": {"v/.zarray": {"shape": [9223372036854775807, 9223372036854775807, 9],
                                          "chunks": [1, 1, 1]},
                            "w/.zarray": {"shape": [1], "chunks": [0]},
                            "x/.zarray": {"shape": [1]}},
               "record_size": 1})");
  EXPECT_NE(message_of([&] {
              references->find("v/9223372036854775806.9223372036854775806.8");
            }).find("more chunks than can be counted"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { references->find("w/0"); }), "w/.zarray: \"chunks\" holds a zero");
  EXPECT_EQ(message_of([&] { references->find("x/0"); }),
            "x/.zarray: \"shape\" or \"chunks\" is missing");
  EXPECT_NE(message_of([&] { references->check(); }), "no error");
  EXPECT_EQ(message_of([&] {
              make(R"({"metadata": {"v": 1}, "record_size": 1})")->check();
            }).substr(0, 2),
            "v:");
}

TEST_F(ParquetReferencesTest, AreAStore) {
  const std::string folder = "/vsimem/parquet_references_test/";
  const std::string path = folder + "g/v/refs.1.parq#0";
  std::string content = "chunk 1.1";
  VSIFCloseL(VSIFileFromMemBuffer(path.c_str(), reinterpret_cast<GByte*>(content.data()),
                                  content.size(), FALSE));
  ReferenceStore store(make(), folder + "refs.parq", "g");
  EXPECT_EQ(store.get("v/1.1", 100)->text(), "chunk 1.1");
  const zarrcore::ByteRange ranges[] = {
      zarrcore::ByteRange::suffix(3), zarrcore::ByteRange::at(9, 0), zarrcore::ByteRange::at(0, 5)};
  const auto parts = store.get_ranges("v/1.1", ranges);
  EXPECT_EQ((*parts)[0].text(), "1.1");
  EXPECT_EQ((*parts)[1].text(), "");
  EXPECT_EQ((*parts)[2].text(), "chunk");
  EXPECT_NE(message_of([&] { store.get("v/1.1", 8); }), "no error");
  EXPECT_NE(message_of([&] { store.get("v/0.0", 100); }).find("does not exist"), std::string::npos);
  EXPECT_FALSE(store.get("v/4.2", 100));
  EXPECT_EQ(store.list("").prefixes, std::vector<std::string>{"v"});
  EXPECT_NE(message_of([&] { store.put("v/1.1", {}); }).find("cannot be written"),
            std::string::npos);
  EXPECT_NE(message_of([&] { store.erase("v/1.1"); }).find("cannot be erased"), std::string::npos);
  VSIUnlink(path.c_str());
}

}  // namespace
}  // namespace gdal_zarr::test::parquet_references_test
