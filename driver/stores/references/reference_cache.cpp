#include "driver/stores/references/reference_cache.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>
#include <cpl_vsi.h>

#include <atomic>
#include <chrono>
#include <functional>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/stores/references/convert_references.h"
#include "driver/stores/references/parquet_references.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

std::string cache_folder() {
  if (const char* folder = config_option(ConfigOption::reference_cache_dir)) return folder;
  const char* home = CPLGetHomeDir();
  if (home == nullptr) throw Error("there is no home folder; set VSIKERCHUNK_CACHE_DIR");
  return std::string(home) + "/.gdal/zarr_kerchunk_cache";
}

// The name of the copy, which differs for documents of the same name and for their versions.
std::string copy_name(const std::string& document) {
  VSIStatBufL status;
  {
    const VsiCall call;
    if (VSIStatL(document.c_str(), &status) != 0) throw Error("the document does not exist");
  }
  return std::string(CPLGetBasename(document.c_str())) + '_' +
         std::to_string(std::hash<std::string>()(document)) + '_' + std::to_string(status.st_size) +
         '_' + std::to_string(status.st_mtime) + ".parq";
}

std::string temporary_name() {
  static std::atomic<unsigned> count{0};
  return ".new-" + std::to_string(CPLGetCurrentProcessID()) + '-' + std::to_string(++count) + '-' +
         std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
}

bool is_complete(const std::string& folder) {
  return path_exists(folder + '/' + std::string(kReferenceMetadata));
}

std::string find_or_make_copy(const std::string& document) {
  const std::string folder = cache_folder();
  const std::string copy = folder + '/' + copy_name(document);
  if (is_complete(copy)) return copy;
  {
    const VsiCall call;
    if (!is_folder(folder) && VSIMkdirRecursive(folder.c_str(), 0755) != 0) {
      throw Error("the folder " + folder + " cannot be made");
    }
  }
  // Others may make the same copy at the same time: the first one stays.
  const std::string temporary = folder + '/' + temporary_name();
  convert_references(document, temporary, [](double /*done*/) { return true; });
  const VsiCall call;
  if (VSIRename(temporary.c_str(), copy.c_str()) == 0) return copy;
  VSIRmdirRecursive(temporary.c_str());
  if (!is_complete(copy)) throw Error("the folder " + copy + " cannot be made");
  return copy;
}

}  // namespace

std::optional<std::string> cached_copy(const std::string& document) {
  try {
    return find_or_make_copy(document);
  } catch (const std::exception& exception) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s cannot be cached as references in Parquet: %s",
           document.c_str(), exception.what());
    return std::nullopt;
  }
}

}  // namespace gdal_zarr
