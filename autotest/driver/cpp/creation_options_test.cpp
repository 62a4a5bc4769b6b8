#include "driver/new_array/creation_options.h"

#include <cpl_minixml.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "autotest/driver/cpp/options.h"
#include "driver/gdal/compat.h"

namespace gdal_zarr::test::creation_options_test {
namespace {

using test::error_of;
using test::option_list;
using test::warnings_of;

CreationOptions parse(const std::vector<std::string>& options, unsigned scopes = kAllOptions) {
  return {option_list(options).List(), scopes};
}

std::string error_of_option(const std::string& option) {
  return error_of([&] { parse({option}); });
}

struct XmlDeleter {
  void operator()(CPLXMLNode* node) const { CPLDestroyXMLNode(node); }
};
using Xml = std::unique_ptr<CPLXMLNode, XmlDeleter>;

// The element of an option in a list, or null.
const CPLXMLNode* find_option(const CPLXMLNode* list, const std::string& name) {
  for (const CPLXMLNode* node = list->psChild; node != nullptr; node = node->psNext) {
    if (CPLGetXMLValue(node, "name", "") == name) return node;
  }
  return nullptr;
}

TEST(CreationOptions, ListsAreXmlOfTheOptionsOfTheirScopes) {
  const Xml all(CPLParseXMLString(creation_option_list(kAllOptions, "CreationOptionList").c_str()));
  ASSERT_TRUE(all);
  EXPECT_STREQ(all->pszValue, "CreationOptionList");
  const CPLXMLNode* level = find_option(all.get(), "ZSTD_LEVEL");
  ASSERT_NE(level, nullptr);
  EXPECT_STREQ(CPLGetXMLValue(level, "type", ""), "int");
  EXPECT_STREQ(CPLGetXMLValue(level, "min", ""), "-131072");
  EXPECT_STREQ(CPLGetXMLValue(level, "max", ""), "22");
  EXPECT_STREQ(CPLGetXMLValue(level, "default", ""), "13");
  EXPECT_STREQ(CPLGetXMLValue(level, "description", ""),
               "Compression level. Only with COMPRESS=ZSTD");
  EXPECT_STREQ(CPLGetXMLValue(find_option(all.get(), "CREATE_CONSOLIDATED_METADATA"), "alias", ""),
               "CREATE_ZMETADATA");
  const CPLXMLNode* shuffle = find_option(all.get(), "BLOSC_SHUFFLE");
  EXPECT_STREQ(CPLGetXMLValue(shuffle, "type", ""), "string-select");
  EXPECT_STREQ(CPLGetXMLValue(shuffle, "Value", ""), "NONE");
  EXPECT_STREQ(CPLGetXMLValue(shuffle, "Value.alias", ""), "0");

  const Xml arrays(CPLParseXMLString(creation_option_list(kArrayOption, "List").c_str()));
  EXPECT_NE(find_option(arrays.get(), "COMPRESS"), nullptr);
  EXPECT_EQ(find_option(arrays.get(), "FORMAT"), nullptr);
  EXPECT_EQ(find_option(arrays.get(), "ARRAY_NAME"), nullptr);
  const Xml datasets(CPLParseXMLString(creation_option_list(kDatasetOption, "List").c_str()));
  EXPECT_NE(find_option(datasets.get(), "FORMAT"), nullptr);
  EXPECT_EQ(find_option(datasets.get(), "COMPRESS"), nullptr);
}

TEST(CreationOptions, GdalChecksThemByTheList) {
  GDALDriver driver;
  driver.SetDescription("Zarr");
  driver.SetMetadataItem(GDAL_DMD_CREATIONOPTIONLIST,
                         creation_option_list(kAllOptions, "CreationOptionList").c_str());
  const auto warnings = [&](const std::vector<std::string>& options) {
    return warnings_of([&] { GDALValidateCreationOptions(&driver, option_list(options).List()); });
  };
  EXPECT_TRUE(warnings({"FORMAT=ZARR_V3", "CREATE_ZMETADATA=NO", "COMPRESS=zstd", "ZSTD_LEVEL=22",
                        "BLOSC_SHUFFLE=2", "ZFP_RATE=0.5", "DIM_SEPARATOR=/", "BLOCKSIZE=1,2"})
                  .empty());
  EXPECT_EQ(warnings({"FORMAT=ZARR_V4"}).size(), 1U);
  EXPECT_EQ(warnings({"ZSTD_LEVEL=23"}).size(), 1U);
  EXPECT_EQ(warnings({"ZFP_RATE=fast"}).size(), 1U);
  EXPECT_EQ(warnings({"TILED=YES"}).size(), 1U);
}

TEST(CreationOptions, EveryOptionOfTheBuiltInDriverIsThere) {
  const Xml all(CPLParseXMLString(creation_option_list(kAllOptions, "List").c_str()));
  for (const char* name : {"FORMAT",
                           "CREATE_CONSOLIDATED_METADATA",
                           "ARRAY_NAME",
                           "APPEND_SUBDATASET",
                           "SINGLE_ARRAY",
                           "INTERLEAVE",
                           "COMPRESS",
                           "FILTER",
                           "DELTA_DTYPE",
                           "BLOCKSIZE",
                           "SHARD_CHUNK_SHAPE",
                           "CHUNK_MEMORY_LAYOUT",
                           "STRING_FORMAT",
                           "DIM_SEPARATOR",
                           "BLOSC_CNAME",
                           "BLOSC_CLEVEL",
                           "BLOSC_SHUFFLE",
                           "BLOSC_BLOCKSIZE",
                           "BLOSC_NUM_THREADS",
                           "ZLIB_LEVEL",
                           "GZIP_LEVEL",
                           "LZMA_PRESET",
                           "LZMA_DELTA",
                           "ZSTD_LEVEL",
                           "LZ4_ACCELERATION",
                           "GEOREFERENCING_CONVENTION"}) {
    EXPECT_NE(find_option(all.get(), name), nullptr) << name;
  }
}

TEST(CreationOptions, ValuesHaveDefaultsAndOneSpelling) {
  const CreationOptions none = parse({});
  EXPECT_EQ(none.text("FORMAT"), "ZARR_V2");
  EXPECT_TRUE(none.boolean("CREATE_CONSOLIDATED_METADATA"));
  EXPECT_EQ(none.integer("ZSTD_LEVEL"), 13);
  EXPECT_FALSE(none.is_given("ZSTD_LEVEL"));
  EXPECT_FALSE(none.lengths("BLOCKSIZE"));
  EXPECT_EQ(none.text("ARRAY_NAME"), "");

  const CreationOptions given =
      parse({"format=zarr_v3", "Create_Zmetadata=off", "ZSTD_LEVEL=3", "BLOSC_SHUFFLE=2",
             "BLOSC_CNAME=ZSTD", "BLOCKSIZE=1, 256,18446744073709551615", "ZFP_RATE=0.5"});
  EXPECT_TRUE(given.is("FORMAT", "ZARR_V3"));
  EXPECT_FALSE(given.boolean("CREATE_CONSOLIDATED_METADATA"));
  EXPECT_EQ(given.integer("ZSTD_LEVEL"), 3);
  EXPECT_EQ(given.text("BLOSC_SHUFFLE"), "BIT");
  EXPECT_EQ(given.text("BLOSC_CNAME"), "zstd");
  EXPECT_EQ(given.lengths("BLOCKSIZE"), (zarrcore::Shape{1, 256, UINT64_MAX}));
  EXPECT_EQ(given.real("ZFP_RATE"), 0.5);
}

TEST(CreationOptions, OptionsOfOtherScopesArePassedOver) {
  const CreationOptions options = parse({"FORMAT=ZARR_V9", "COMPRESS=ZSTD"}, kArrayOption);
  EXPECT_FALSE(options.is_given("FORMAT"));
  EXPECT_TRUE(options.is("COMPRESS", "ZSTD"));
}

TEST(CreationOptions, ErrorsSayWhatIsAllowed) {
  EXPECT_EQ(error_of_option("FORMAT=ZARR_V4"),
            "creation option FORMAT is \"ZARR_V4\", not one of ZARR_V1, ZARR_V2, ZARR_V3");
  EXPECT_EQ(error_of_option("ZSTD_LEVEL=23"),
            "creation option ZSTD_LEVEL is \"23\", not an integer from -131072 to 22");
  EXPECT_EQ(error_of_option("ZSTD_LEVEL=1.5"),
            "creation option ZSTD_LEVEL is \"1.5\", not an integer from -131072 to 22");
  EXPECT_EQ(error_of_option("SINGLE_ARRAY=perhaps"),
            "creation option SINGLE_ARRAY is \"perhaps\", not YES or NO");
  EXPECT_EQ(error_of_option("ZFP_RATE=65"),
            "creation option ZFP_RATE is \"65\", not a number from 0 to 64");
  EXPECT_EQ(error_of_option("ZFP_TOLERANCE=nan").substr(0, 38),
            "creation option ZFP_TOLERANCE is \"nan\"");
  for (const char* lengths : {"256,", "256,-2", "a,b", "-0", "1.5", "18446744073709551616"}) {
    EXPECT_EQ(error_of_option(std::string("BLOCKSIZE=") + lengths),
              "creation option BLOCKSIZE is \"" + std::string(lengths) +
                  "\", not a positive length for each dimension, such as 256,256");
  }
}

TEST(CreationOptions, WarnsOfWhatHasNoEffect) {
  const auto warnings = [](const std::vector<std::string>& options) {
    return warnings_of([&] { warn_of_unused_options(option_list(options).List(), kArrayOption); });
  };
  EXPECT_TRUE(warnings({}).empty());
  EXPECT_TRUE(
      warnings({"compress=zstd", "ZSTD_LEVEL=3", "SHARDING=AUTO", "ACCESS=VOLUME"}).empty());
  EXPECT_EQ(
      warnings({"TILED=YES"}),
      (std::vector<std::string>{"\"TILED=YES\" is not a creation option here and is ignored"}));
  EXPECT_EQ(warnings({"BLOCK_SIZE=2,2"}),
            (std::vector<std::string>{"\"BLOCK_SIZE=2,2\" is not a creation option here and is "
                                      "ignored; did you mean BLOCKSIZE?"}));
  EXPECT_TRUE(warnings({"@INTERNAL=1", "@ENDIAN=big"}).empty());
  EXPECT_EQ(warnings({"FORMAT=ZARR_V3"}).size(), 1U);
  EXPECT_EQ(warnings({"COMPRESS"}).size(), 1U);
  EXPECT_EQ(warnings({"COMPRESS=GZIP", "ZSTD_LEVEL=3"}),
            (std::vector<std::string>{"creation option ZSTD_LEVEL has no effect without "
                                      "COMPRESS=ZSTD"}));
  EXPECT_EQ(warnings({"ACCESS=VOLUME"}),
            (std::vector<std::string>{"creation option ACCESS has no effect without CHUNKS=AUTO or "
                                      "SHARDING=AUTO"}));
}

TEST(CreationOptions, ListsOfCodecs) {
  EXPECT_EQ(codec_names("COMPRESS"), "blosc,bz2,gzip,lz4,lzma,zfp,zlib,zstd");
  EXPECT_EQ(codec_names("FILTER"), "delta,shuffle");
  EXPECT_EQ(codec_names("BLOSC_CNAME"), "blosclz,lz4,lz4hc,snappy,zlib,zstd");
}

TEST(CreationOptions, DataTypesAreOnesThatGdalKnows) {
  const CPLStringList names(CSLTokenizeString(creation_data_types().c_str()));
  EXPECT_GE(names.size(), 11);
  for (int i = 0; i < names.size(); ++i) {
    EXPECT_NE(GDALGetDataTypeByName(names[i]), GDT_Unknown) << names[i];
  }
}

}  // namespace
}  // namespace gdal_zarr::test::creation_options_test
