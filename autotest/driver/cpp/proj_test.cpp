// The `proj:` convention, and EOPF, which uses its names at another place.
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gtest/gtest.h>

#include "driver/conventions/product.h"
#include "driver/conventions/zarr_conventions.h"

namespace gdal_zarr::test::proj_test {
namespace {

using Read = std::shared_ptr<OGRSpatialReference> (*)(const zarrcore::Json&);

// The code of what is read; 0 for none.
int code_by(Read read, std::string_view attributes) {
  const auto crs = read(zarrcore::parse_json(attributes));
  if (!crs) return 0;
  crs->AutoIdentifyEPSG();
  const char* code = crs->GetAuthorityCode(nullptr);
  return code == nullptr ? -1 : std::atoi(code);
}

std::string wkt_of(int code) {
  OGRSpatialReference crs;
  crs.importFromEPSG(code);
  char* wkt = nullptr;
  const char* const options[] = {"FORMAT=WKT2_2019", nullptr};
  crs.exportToWkt(&wkt, options);
  std::string text = wkt;
  CPLFree(wkt);
  return text;
}

std::string projjson_of(int code) {
  OGRSpatialReference crs;
  crs.importFromEPSG(code);
  char* json = nullptr;
  crs.exportToPROJJSON(&json, nullptr);
  std::string text = json;
  CPLFree(json);
  return text;
}

TEST(Proj, EverySpellingIsRead) {
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:code": "EPSG:32633"})"), 32633);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:epsg": 3035})"), 3035);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:projjson": )" + projjson_of(32718) + "}"), 32718);
  zarrcore::Json attributes;
  attributes["proj:wkt2"] = wkt_of(32719);
  EXPECT_EQ(code_by(crs_from_proj, attributes.dump()), 32719);
}

TEST(Proj, TheCodeCountsBeforeTheOthersIfItIsUnderstood) {
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:epsg": 3035, "proj:code": "EPSG:32633"})"), 32633);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:epsg": 3035, "proj:code": "EPSG:0"})"), 3035);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:epsg": 3035, "proj:code": null})"), 3035);
}

TEST(Proj, WhatIsNotUnderstoodIsWarnedOf) {
  CPLErrorReset();
  CPLPushErrorHandler(CPLQuietErrorHandler);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:code": "EPSG:99999999"})"), 0);
  CPLPopErrorHandler();
  EXPECT_NE(std::string(CPLGetLastErrorMsg()).find("proj:code is not understood"),
            std::string::npos);
  CPLErrorReset();
  EXPECT_EQ(code_by(crs_from_proj, R"({"units": "m"})"), 0);
  EXPECT_STREQ(CPLGetLastErrorMsg(), "");
}

TEST(Proj, NothingIsReadFromFiles) {
  CPLPushErrorHandler(CPLQuietErrorHandler);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:code": "/etc/passwd"})"), 0);
  EXPECT_EQ(code_by(crs_from_proj, R"({"proj:code": "http://localhost/crs"})"), 0);
  CPLPopErrorHandler();
}

TEST(Eopf, TheProductStatesTheCrsOfAnyArray) {
  EXPECT_EQ(
      code_by(crs_from_product, R"({"stac_discovery": {"properties": {"proj:epsg": 32632}}})"),
      32632);
  EXPECT_EQ(code_by(crs_from_product,
                    R"({"stac_discovery": {"properties": {"proj:code": "EPSG:32631"}}})"),
            32631);
  EXPECT_EQ(
      code_by(crs_from_product, R"({"other_metadata": {"horizontal_CRS_code": "EPSG:32633"}})"),
      32633);
  EXPECT_EQ(code_by(crs_from_product, R"({"other_metadata": {"reference_CRS": "EPSG:4326"}})"),
            4326);
  EXPECT_EQ(code_by(crs_from_product, R"({"stac_discovery": {}, "other_metadata": {}})"), 0);
  EXPECT_EQ(code_by(crs_from_product, "{}"), 0);
}

}  // namespace
}  // namespace gdal_zarr::test::proj_test
