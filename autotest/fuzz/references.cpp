// A document of Kerchunk references, which is opened and read through GDAL, or the `.zmetadata` of
// references in Parquet files that have no rows.
#include "autotest/fuzz/gdal_checks.h"
#include "autotest/fuzz/input.h"
#include "driver/stores/references/parquet_references.h"
#include "zarrcore/base/path.h"

namespace zarrcore::fuzz {
namespace {

void find_all(const gdal_zarr::References& references, const std::string& prefix) {
  const DirectoryListing below = references.list(prefix, 0);
  for (const std::string& key : below.keys) references.find(join_path(prefix, key));
  for (const std::string& name : below.prefixes) {
    for (const char* chunk : {"0", "0.0", "c/0/0", "18446744073709551615.1"}) {
      succeeds([&] { references.find(join_path(join_path(prefix, name), chunk)); });
    }
    references.list(join_path(prefix, name), 1000);
    find_all(references, join_path(prefix, name));
  }
}

void check_parquet(std::string_view metadata) {
  const auto no_rows = [](const std::string& /*file*/) { return gdal_zarr::ReferenceTable(); };
  succeeds([&] {
    const gdal_zarr::ParquetReferences references(Buffer::copy_of(metadata), {no_rows, {}});
    find_all(references, "");
    references.check();
  });
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  prepare_gdal();
  const std::string_view document(reinterpret_cast<const char*>(data), size);
  // These are no files: one may wait for ever for what they hold.
  for (const char* name : {"/dev", "/proc", "/sys", "/vsistdin", "/vsifd"}) {
    if (document.find(name) != std::string_view::npos) return 0;
  }
  MemoryFolder folder("references");
  folder.add("blob.bin", fixture_stores().at("kerchunk").at("blob.bin"));
  folder.add("references.json", document);
  const std::string path = folder.path() + "/references.json";
  check_raster(path);
  check_multidimensional(path);
  check_multidimensional("/vsikerchunk_json_ref/{" + path + "}");
  check_parquet(document);
  return 0;
}
