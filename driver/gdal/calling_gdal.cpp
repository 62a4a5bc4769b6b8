#include "driver/gdal/calling_gdal.h"

#include <cpl_error.h>
#include <gdal.h>

#include <string>

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace gdal_zarr {
namespace {

struct CallingGdal {
  decltype(&GDALVersionInfo) version_info = &GDALVersionInfo;
  decltype(&CPLError) report = &CPLError;
};

// The functions of the library that `address` is in; if it has none, those that the plugin calls.
CallingGdal find_calling_gdal([[maybe_unused]] void* address) {
  CallingGdal found;
#ifndef _WIN32
  Dl_info caller{};
  if (dladdr(address, &caller) == 0 || caller.dli_fname == nullptr) return found;
  void* library = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return found;  // the program itself
  const auto version_info =
      reinterpret_cast<decltype(&GDALVersionInfo)>(dlsym(library, "GDALVersionInfo"));
  const auto report = reinterpret_cast<decltype(&CPLError)>(dlsym(library, "CPLError"));
  dlclose(library);  // it stays loaded
  if (version_info != nullptr && report != nullptr) found = {version_info, report};
#endif
  return found;
}

}  // namespace

bool is_called_by_our_gdal(void* address) {
  const CallingGdal caller = find_calling_gdal(address);
  // A call frees the text of the one before it.
  const std::string theirs = caller.version_info("RELEASE_NAME");
  if (theirs == GDALVersionInfo("RELEASE_NAME") &&
      GDALCheckVersion(GDAL_VERSION_MAJOR, GDAL_VERSION_MINOR, nullptr) != 0) {
    return true;
  }
  caller.report(CE_Warning, CPLE_AppDefined,
                "The plugin of the Zarr driver is built for GDAL %s, but GDAL %s loads it: the "
                "driver that is built into GDAL is used. Install the plugin for GDAL %s.",
                GDAL_RELEASE_NAME, theirs.c_str(), theirs.c_str());
  return false;
}

}  // namespace gdal_zarr
