#include "driver/stores/vsi/vsi_path.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gtest/gtest.h>

namespace gdal_zarr::test::vsi_path_test {
namespace {

TEST(VsiPath, NamesOfGdalsFileSystems) {
  for (const char* path :
       {"/data/a.zarr", "a.zarr", "/vsimem/a.zarr", "/vsis3/bucket/a.zarr",
        "/vsicurl/http://host/vsix/a.zarr", "/vsicurl?url=http%3A%2F%2Fhost%2Fa.zarr",
        "/vsizip//data/a.zip/a.zarr", "/vsizip/{/vsicurl/http://host/a.zip}/a.zarr",
        "/vsisubfile/0_10,/vsimem/a", "/vsicrypt/key=x,file=/vsigs/b/a",
        "/vsicached?file=/vsiaz/b/a", "/vsikerchunk_json_ref/{/vsimem/a.json}",
        "/vsiicechunk/{/vsimem/a}/main", "/data/my/vsi"}) {
    EXPECT_FALSE(has_foreign_file_system(path)) << path;
  }
  for (const char* path :
       {"/vsiriopener_1234/a.zarr", "/vsizip//vsiriopener_1234/a.zip/a.zarr",
        "/vsizip/{/vsifsspec/a.zip}/a", "/vsisubfile/0_10,/vsipython/a",
        "/vsicrypt/key=x,file=/vsipython/a", "/vsicached?chunk_size=1&file=/vsiof/b/a",
        "/vsikerchunk_json_ref/{/vsiriopener_1/a.json}", "/vsimemory/a", "/vsi/a"}) {
    EXPECT_TRUE(has_foreign_file_system(path)) << path;
  }
}

// Those of the GDAL that runs here: a new one belongs on the list.
TEST(VsiPath, AllThatGdalInstalls) {
  const CPLStringList prefixes(VSIGetFileSystemsPrefixes());
  ASSERT_GT(prefixes.size(), 10);
  for (int i = 0; i < prefixes.size(); ++i) {
    EXPECT_FALSE(has_foreign_file_system(std::string(prefixes[i]) + "a")) << prefixes[i];
  }
}

}  // namespace
}  // namespace gdal_zarr::test::vsi_path_test
