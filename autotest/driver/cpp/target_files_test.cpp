#include "driver/stores/references/target_files.h"

#include <gtest/gtest.h>

#include <string>

#include "zarrcore/base/error.h"

namespace gdal_zarr::test::target_files_test {
namespace {

// What a document in `folder` means by `target`.
std::string resolve(const std::string& folder, const std::string& target) {
  try {
    return TargetFiles(folder.empty() ? "a.json" : folder + "/a.json").resolve(target);
  } catch (const zarrcore::Error& error) {
    return error.what();
  }
}

bool is_refused(const std::string& folder, const std::string& target) {
  return resolve(folder, target).find("GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE") !=
         std::string::npos;
}

TEST(TargetFiles, AreBelowTheFolder) {
  struct {
    const char* folder;
    const char* target;
    const char* path;
  } const cases[] = {
      {"/data/a", "b.nc", "/data/a/b.nc"},
      {"/data/a", "b/../c/./d.nc", "/data/a/c/d.nc"},
      {"/data/a", "../b.nc", "/data/b.nc"},
      {"", "b.nc", "b.nc"},
      {"", "../b.nc", "../b.nc"},
      {"", "../../../b.nc", "../../../b.nc"},
      {"a", "../../b.nc", "../b.nc"},
      {".", "../b.nc", "./../b.nc"},
      {"/vsicurl/http://host/a", "b.nc", "/vsicurl/http://host/a/b.nc"},
      {"/vsicurl/http://host/a", "../b.nc", "/vsicurl/http://host/b.nc"},
      {"/vsis3/bucket/a", "../../other/b.nc", "/vsis3/other/b.nc"},
      {"/vsizip//vsicurl/http://host/a.zip/b", "c.nc", "/vsizip//vsicurl/http://host/a.zip/b/c.nc"},
  };
  for (const auto& [folder, target, path] : cases) EXPECT_EQ(resolve(folder, target), path);
}

TEST(TargetFiles, LeaveOutWhatFollowsThePathOfAUrl) {
  EXPECT_EQ(TargetFiles("/vsicurl/http://host/a/b.json?key=c/d").resolve("e.nc"),
            "/vsicurl/http://host/a/e.nc");
  EXPECT_EQ(TargetFiles("/data/what?/b.json").resolve("e.nc"), "/data/what?/e.nc");
}

TEST(TargetFiles, StandForUrls) {
  for (const char* folder : {"/data", "/vsicurl/http://host"}) {
    EXPECT_EQ(resolve(folder, "https://host/a?b=c"), "/vsicurl/https://host/a?b=c");
    EXPECT_EQ(resolve(folder, "HTTP://host/a"), "/vsicurl/http://host/a");
    EXPECT_EQ(resolve(folder, "s3://bucket/a"), "/vsis3/bucket/a");
    EXPECT_EQ(resolve(folder, "gcs://bucket/a"), "/vsigs/bucket/a");
    EXPECT_EQ(resolve(folder, "abfs://box@account.host/a@b"), "/vsiaz/box/a@b");
    EXPECT_EQ(resolve(folder, "az://box/a@b"), "/vsiaz/box/a@b");
    EXPECT_EQ(resolve(folder, "/vsis3/bucket/a"), "/vsis3/bucket/a");
    EXPECT_EQ(resolve(folder, "simplecache::s3://bucket/a"),
              "URLs that begin with simplecache::s3:// are not supported");
  }
  EXPECT_EQ(resolve("/data", "file:///a/b c"), "/a/b c");
  EXPECT_EQ(resolve("/data", "/vsizip/a.zip/b"), "/vsizip/a.zip/b");
}

TEST(TargetFiles, DoNotLeadFromTheNetworkToLocalFiles) {
  for (const char* folder :
       {"/vsicurl/http://host/a", "/vsis3/bucket", "/vsizip//vsigs/bucket/a.zip",
        "/vsizip/{/vsiaz/box/a.zip}", "/vsigzip//vsicurl_streaming/http://host", "/vsipython/a"}) {
    for (const char* target :
         {"/etc/passwd", "file:///etc/passwd", "/vsimem/a", "/vsicurl/file:///etc/passwd",
          "/vsicurl/etc/passwd", "/vsicurl?url=file:///etc/passwd", "/vsizip//etc/a.zip",
          "/vsizip//vsicurl/http://host/a.zip", "/vsisubfile/0,/etc/passwd", "/vsistdin/",
          "/vsicached?file=/etc/passwd", "../../../../../../etc/passwd",
          "x/../../../../../../../vsimem/a", "C:\\a", "\\\\server\\a"}) {
      EXPECT_TRUE(is_refused(folder, target)) << folder << ' ' << target;
    }
  }
  EXPECT_TRUE(is_refused("/vsicurl?url=http://host", "b.nc"));
  EXPECT_TRUE(is_refused("/vsicurl?url=http%3A%2F%2Fhost", "/etc/passwd"));
  EXPECT_TRUE(is_refused("/vsicurl?url=http://host", "b&url=file:///etc/passwd"));
  EXPECT_TRUE(is_refused("/vsizip//vsicurl?url=http://host/a.zip", "b&url=file:///etc/a.zip/b"));
  for (const char* folder : {"/data", "", "data", "/vsimem/a", "/vsizip/a.zip", "C:/data"}) {
    EXPECT_FALSE(is_refused(folder, "/etc/passwd")) << folder;
  }
}

}  // namespace
}  // namespace gdal_zarr::test::target_files_test
