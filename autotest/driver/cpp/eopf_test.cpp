#include <cpl_error.h>
#include <gtest/gtest.h>

#include "driver/conventions/product.h"

namespace gdal_zarr::test::eopf_test {
namespace {

TEST(Eopf, TilesAreZonesOfUtm) {
  EXPECT_EQ(utm_of_tile("T32VLK"), 32632);
  EXPECT_EQ(utm_of_tile("32VLK"), 32632);
  EXPECT_EQ(utm_of_tile("T5NKB"), 32605);
  EXPECT_EQ(utm_of_tile("T05MKB"), 32705);
  EXPECT_EQ(utm_of_tile("T60CWT"), 32760);
  EXPECT_EQ(utm_of_tile("T01XDA"), 32601);
  for (const char* none : {"", "T", "T32", "T32V", "T32VL", "T32VLKA", "T61VLK", "T00VLK", "TVLK",
                           "T32ILK", "T32OLK", "T32ALK", "T32YLK", "T32vlk", "T123LK", "32 VLK"}) {
    EXPECT_EQ(utm_of_tile(none), 0) << none;
  }
}

std::string code_of(std::string_view attributes, const std::string& name = "a.zarr") {
  const auto crs = crs_from_eopf(zarrcore::parse_json(attributes), name);
  const char* code = crs ? crs->GetAuthorityCode(nullptr) : nullptr;
  return code == nullptr ? "" : code;
}

TEST(Eopf, NamesOfStoresHaveATileBetweenUnderscores) {
  EXPECT_EQ(code_of("{}", "S2B_MSIL2A_20240830T105619_R094_T32VLK_20240830T134814.zarr"), "32632");
  EXPECT_EQ(code_of("{}", "S2B_T32VLK.zarr.zip"), "32632");
  EXPECT_EQ(code_of("{}", "S2B_Tale_T32HLK_x"), "32732");
  for (const char* name : {"", "T32VLK", "S2B_32VLK_", "S2B_T32VLKX_", "_T", "_T_"}) {
    EXPECT_EQ(code_of("{}", name), "") << name;
  }
}

TEST(Eopf, ValuesThatAreNotUnderstoodAreSkipped) {
  for (const char* value : {"null", "true", "[]", "{}", "-1", "0", "0.5", "1e+300", "99999999",
                            "\"\"", "\"far\"", "\"EPSG:none\""}) {
    const std::string stac =
        R"("stac_discovery": {"properties": {"proj:epsg": )" + std::string(value) + "}}";
    CPLPushErrorHandler(CPLQuietErrorHandler);
    EXPECT_EQ(code_of("{" + stac + R"(, "epsg": "32631"})"), "32631") << value;
    EXPECT_EQ(code_of("{" + stac + "}", "a_T32VLK_b"), "32632") << value;
    CPLErrorReset();
    EXPECT_EQ(code_of("{" + stac + "}"), "") << value;
    const std::string message = CPLGetLastErrorMsg();
    EXPECT_EQ(message.find(value) != std::string::npos, std::string(value) != "null") << message;
    CPLPopErrorHandler();
  }
}

TEST(Eopf, OtherShapesOfAttributesAreNone) {
  for (const char* attributes :
       {"[]", "7", R"({"stac_discovery": 7})", R"({"stac_discovery": {"properties": []}})",
        R"({"stac_discovery": {"geometry": {"crs": {"properties": 7}}}})"}) {
    EXPECT_EQ(code_of(attributes), "") << attributes;
  }
}

}  // namespace
}  // namespace gdal_zarr::test::eopf_test
