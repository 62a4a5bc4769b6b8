// A name that GDAL is asked to open: what is parsed is formatted to the same, and names of stores
// in memory are opened.
#include <cpl_conv.h>

#include "autotest/fuzz/gdal_checks.h"
#include "autotest/fuzz/input.h"
#include "driver/stores/connection_string.h"
#include "zarrcore/metadata/document_names.h"

namespace zarrcore::fuzz {
namespace {

void check_name(const std::string& name) {
  gdal_zarr::ConnectionString parsed;
  if (!succeeds([&] { parsed = gdal_zarr::parse_connection_string(name); }) || !parsed.array)
    return;
  if (!parsed.slice.empty()) return;  // which format_connection_string() has no place for
  // Such a path can be written neither with quotation marks nor without.
  const std::string& path = parsed.store_path;
  if (path.find('"') != path.npos && path.find(":/") != path.npos) return;
  // A document's name stands for its folder, which must not have such a name as well.
  if (zarrcore::is_document_name(CPLGetFilename(path.c_str()))) return;
  const std::string formatted = gdal_zarr::format_connection_string(path, *parsed.array);
  gdal_zarr::ConnectionString again;
  check(succeeds([&] { again = gdal_zarr::parse_connection_string(formatted); }),
        "what is formatted can be parsed");
  check(again.store_path == path && again.array == parsed.array,
        "what is formatted is parsed to the same");
}

// Others may lead to any file of this machine.
bool is_in_memory(std::string_view name) {
  for (const std::string_view prefix : {"ZARR:", "\"", "file://", "/vsizip/", "{"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name.starts_with("/vsimem/");
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  prepare_gdal();
  static MemoryFolder* const folders = [] {
    // They stay as long as the process.
    auto* all = new MemoryFolder("stores");
    for (const char* name : {"v2_tree_consolidated.zarr", "v2_5d.zarr", "v3_5d.zarr", "kerchunk",
                             "draft3_zarr213.zarr", "v1_zlib.zarr"}) {
      for (const auto& [key, value] : fixture_stores().at(name)) {
        all->add(std::string(name) + '/' + key, value);
      }
    }
    all->add("z2.zip", fixture_stores().at("z2_zip.zarr.zip").begin()->second);
    return all;
  }();
  check(folders != nullptr, "there are stores");
  const std::string name(reinterpret_cast<const char*>(data), size);
  check_name(name);
  if (is_in_memory(name) && name.find('\0') == std::string::npos) {
    check_raster(name);
    check_multidimensional(name);
  }
  return 0;
}
