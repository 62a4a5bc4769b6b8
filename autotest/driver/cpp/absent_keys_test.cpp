#include "driver/stores/vsi/absent_keys.h"

#include <gtest/gtest.h>

namespace gdal_zarr::test::absent_keys_test {
namespace {

using zarrcore::DirectoryListing;

class AbsentKeysOfListings : public testing::Test {
 protected:
  AbsentKeysOfListings() { absent_.use_listings(); }

  void list(const char* folder, const DirectoryListing& listing) {
    absent_.end_listing(absent_.begin_listing(), folder, listing);
  }

  AbsentKeys absent_{nullptr};
};

TEST_F(AbsentKeysOfListings, AreDocumentsAtAnyDepth) {
  list("", {{".zgroup", "notes.txt"}, {"a"}});
  EXPECT_TRUE(absent_.contains("zarr.json"));
  EXPECT_TRUE(absent_.contains("b/.zarray"));
  EXPECT_TRUE(absent_.contains("b/c/.zarray"));
  EXPECT_TRUE(absent_.is_known_absent("b"));
  EXPECT_FALSE(absent_.contains(".zgroup"));
  EXPECT_FALSE(absent_.contains("a/.zarray"));
  EXPECT_FALSE(absent_.is_known_absent("a"));
  EXPECT_FALSE(absent_.is_known_absent(""));
}

TEST_F(AbsentKeysOfListings, AreNoChunks) {
  list("", {});
  list("a", {{".zarray"}, {}});
  EXPECT_FALSE(absent_.contains("a/0.0"));
  EXPECT_FALSE(absent_.contains("b/c/0/0"));
}

TEST_F(AbsentKeysOfListings, ArePutAndRefreshed) {
  list("", {});
  EXPECT_TRUE(absent_.is_known_absent(""));
  absent_.remove("g/a/.zarray");
  EXPECT_FALSE(absent_.is_known_absent(""));
  EXPECT_FALSE(absent_.is_known_absent("g"));
  EXPECT_FALSE(absent_.is_known_absent("g/a"));
  EXPECT_FALSE(absent_.contains("g/a/.zarray"));
  // The folders did not exist before.
  EXPECT_TRUE(absent_.contains("g/a/.zattrs"));
  EXPECT_TRUE(absent_.contains("g/.zgroup"));
  absent_.clear();
  EXPECT_FALSE(absent_.contains("b/.zarray"));
  EXPECT_FALSE(absent_.is_known_absent("b"));
}

TEST_F(AbsentKeysOfListings, DoNotIncludeWhatWasPutMeanwhile) {
  const auto begun = absent_.begin_listing();
  absent_.remove("a/.zarray");
  absent_.end_listing(begun, "", {});
  EXPECT_FALSE(absent_.contains("a/.zarray"));
}

TEST_F(AbsentKeysOfListings, ALaterListingShowsWhatHasAppeared) {
  absent_.add("a/.zarray");
  EXPECT_TRUE(absent_.contains("a/.zarray"));
  list("", {{}, {"a"}});
  EXPECT_FALSE(absent_.contains("a/.zarray"));
}

TEST(AbsentKeys, IgnoreListingsOfStoresThatAreOnlyRead) {
  AbsentKeys absent(nullptr);
  absent.end_listing(absent.begin_listing(), "", {});
  EXPECT_FALSE(absent.contains("a/.zarray"));
}

}  // namespace
}  // namespace gdal_zarr::test::absent_keys_test
