#include <cpl_conv.h>
#include <gtest/gtest.h>

#include "driver/stores/vsi/vsi_call.h"

namespace gdal_zarr::test::network_timeouts_test {
namespace {

TEST(NetworkTimeouts, AreSetWhereNobodyHasSetThem) {
  {
    const NetworkTimeouts timeouts;
    EXPECT_STREQ(CPLGetConfigOption("GDAL_HTTP_CONNECTTIMEOUT", nullptr), "30");
    EXPECT_STREQ(CPLGetConfigOption("GDAL_HTTP_LOW_SPEED_TIME", nullptr), "60");
    EXPECT_STREQ(CPLGetConfigOption("GDAL_HTTP_LOW_SPEED_LIMIT", nullptr), "1");
    EXPECT_EQ(CPLGetConfigOption("GDAL_HTTP_TIMEOUT", nullptr), nullptr);
  }
  EXPECT_EQ(CPLGetConfigOption("GDAL_HTTP_CONNECTTIMEOUT", nullptr), nullptr);
  EXPECT_EQ(CPLGetConfigOption("GDAL_HTTP_LOW_SPEED_TIME", nullptr), nullptr);
}

TEST(NetworkTimeouts, LeaveWhatTheProgramHasSet) {
  CPLSetThreadLocalConfigOption("GDAL_HTTP_CONNECTTIMEOUT", "5");
  {
    const NetworkTimeouts timeouts;
    const NetworkTimeouts nested;
    EXPECT_STREQ(CPLGetConfigOption("GDAL_HTTP_CONNECTTIMEOUT", nullptr), "5");
  }
  EXPECT_STREQ(CPLGetConfigOption("GDAL_HTTP_CONNECTTIMEOUT", nullptr), "5");
  CPLSetThreadLocalConfigOption("GDAL_HTTP_CONNECTTIMEOUT", nullptr);
}

}  // namespace
}  // namespace gdal_zarr::test::network_timeouts_test
