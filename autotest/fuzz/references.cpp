// A document of Kerchunk references, which is opened and read through GDAL.
#include "autotest/fuzz/gdal_checks.h"
#include "autotest/fuzz/input.h"

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
  return 0;
}
