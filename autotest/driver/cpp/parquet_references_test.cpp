// References in Parquet files, read from a layer in memory with the columns of such a file: not
// every GDAL has a driver for the files themselves.
#include "driver/stores/references/parquet_references.h"

#include <cpl_conv.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/stores/references/reference_store.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

struct TestRow {
  const char* path = nullptr;
  GIntBig offset = 0;
  GIntBig size = 0;
  const char* raw = nullptr;
};

// A layer with these rows; `raw_type` is what the column raw holds.
class TestLayer {
 public:
  explicit TestLayer(const std::vector<TestRow>& rows, OGRFieldType raw_type = OFTBinary) {
    CPLSetConfigOption("GDAL_DRIVER_PATH", "disable");
    GDALAllRegister();
    GDALDriver* driver =
        GetGDALDriverManager()->GetDriverByName(GDAL_ZARR_AT_LEAST(3, 11) ? "MEM" : "Memory");
    dataset_.reset(driver->Create("", 0, 0, 0, GDT_Unknown, nullptr));
    layer_ = dataset_->CreateLayer("refs", nullptr, wkbNone, nullptr);
    for (const auto& [name, type] : {std::pair{"path", OFTString},
                                     {"offset", OFTInteger64},
                                     {"size", OFTInteger64},
                                     {"raw", raw_type}}) {
      OGRFieldDefn field(name, type);
      EXPECT_EQ(layer_->CreateField(&field), OGRERR_NONE);
    }
    for (const TestRow& row : rows) {
      OGRFeature feature(layer_->GetLayerDefn());
      if (row.path != nullptr) {
        feature.SetField("path", row.path);
      } else {
        feature.SetFieldNull(0);
      }
      feature.SetField("offset", row.offset);
      feature.SetField("size", row.size);
      if (row.raw != nullptr && raw_type == OFTBinary) {
        feature.SetField(3, static_cast<int>(strlen(row.raw)), row.raw);
      } else if (row.raw != nullptr) {
        feature.SetField(3, row.raw);
      }
      EXPECT_EQ(layer_->CreateFeature(&feature), OGRERR_NONE);
    }
  }

  OGRLayer& layer() { return *layer_; }
  ReferenceTable table() { return ReferenceTable::read(*layer_); }

 private:
  std::unique_ptr<GDALDataset> dataset_;
  OGRLayer* layer_ = nullptr;
};

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReferenceTable, KnowsFourKindsOfRows) {
  for (const OGRFieldType raw_type : {OFTBinary, OFTString}) {
    TestLayer layer({{"a.nc", 7, 20, nullptr},
                     {"b.nc", 0, 0, nullptr},
                     {nullptr, 0, 0, "inline"},
                     {nullptr, 0, 0, nullptr},
                     {"a.nc", 0, 5, nullptr},
                     {"", 0, 0, nullptr}},
                    raw_type);
    const ReferenceTable table = layer.table();

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
    EXPECT_EQ(table.find(4)->length, 5U);
    EXPECT_FALSE(table.find(5));
    EXPECT_FALSE(table.find(6));
    EXPECT_FALSE(table.find(UINT64_MAX));
  }
}

TEST(ReferenceTable, RefusesNegativeNumbers) {
  EXPECT_EQ(message_of([] { TestLayer({{"a.nc", -1, 20, nullptr}}).table(); }), "offset is -1");
  EXPECT_EQ(message_of([] { TestLayer({{"a.nc", 1, -20, nullptr}}).table(); }), "size is -20");
}

TEST(ReferenceTable, RefusesOtherColumns) {
  TestLayer layer({});
  layer.layer().DeleteField(3);
  EXPECT_NO_THROW(layer.table());
  layer.layer().DeleteField(0);
  EXPECT_EQ(message_of([&] { layer.table(); }), "it has neither a column path nor a column raw");
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
        Buffer::copy_of(metadata), [this](const std::string& file) {
          ++reads_[file];
          if (file == "scalar/refs.0.parq") return TestLayer({{nullptr, 0, 0, "s"}}).table();
          if (file == "g/v/refs.3.parq") return ReferenceTable();
          const std::string names[] = {file + "#0", file + "#1", file + "#2", file + "#3"};
          return TestLayer({{names[0].c_str()},
                            {names[1].c_str()},
                            {names[2].c_str()},
                            {names[3].c_str()}})
              .table();
        });
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
  EXPECT_EQ(references->find("g/.zgroup")->value.text(), R"({"zarr_format": 2})");
  EXPECT_FALSE(references->find("g/v/.zattrs"));
  EXPECT_FALSE(references->find("zarr.json"));
  EXPECT_EQ(references->list("").keys, std::vector<std::string>{".zgroup"});
  EXPECT_EQ(references->list("").prefixes, (std::vector<std::string>{"g", "scalar"}));
  EXPECT_TRUE(reads_.empty());
}

TEST_F(ParquetReferencesTest, RefuseChunksThatAreNone) {
  const auto references = make();
  for (const char* key : {"g/v/5.0", "g/v/0.3", "g/v/0", "g/v/0.0.0", "g/v/0.0x", "g/v/a.b",
                          "g/v/-1.0", "g/v/0.", "g/v/x/0.0", "scalar/1"}) {
    const std::string message = message_of([&] { references->find(key); });
    EXPECT_NE(message.find("is not a chunk of the array"), std::string::npos) << key << message;
  }
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
  EXPECT_EQ(message_of([&] { references->find("w/0"); }), "\"chunks\" holds a zero");
  EXPECT_EQ(message_of([&] { references->find("x/0"); }), "\"shape\" or \"chunks\" is missing");
}

TEST_F(ParquetReferencesTest, AreAStore) {
  const std::string folder = "/vsimem/parquet_references_test/";
  const std::string path = folder + "g/v/refs.1.parq#0";
  std::string content = "chunk 1.1";
  VSIFCloseL(VSIFileFromMemBuffer(path.c_str(), reinterpret_cast<GByte*>(content.data()),
                                  content.size(), FALSE));
  ReferenceStore store(make(), TargetPaths(folder + ".zmetadata"), "refs", "g");
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
}  // namespace gdal_zarr
