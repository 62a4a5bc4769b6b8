#include "driver/gdal/calling_gdal.h"

#include <cpl_error.h>
#include <gdal.h>

#include <string_view>

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace gdal_zarr {

#ifdef _WIN32

bool is_called_by_our_gdal(void* /*address*/) {
  return true;  // a DLL names the library of each function
}

#else

bool is_called_by_our_gdal(void* address) {
  Dl_info caller{};
  if (dladdr(address, &caller) == 0 || caller.dli_fname == nullptr) return true;
  void* library = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return true;  // the program itself
  const auto version_info =
      reinterpret_cast<decltype(&GDALVersionInfo)>(dlsym(library, "GDALVersionInfo"));
  const auto report = reinterpret_cast<decltype(&CPLError)>(dlsym(library, "CPLError"));
  dlclose(library);  // it stays loaded
  if (version_info == nullptr || report == nullptr) return true;
  const char* ours = GDALVersionInfo("RELEASE_NAME");
  const char* theirs = version_info("RELEASE_NAME");
  if (std::string_view(ours) == theirs) return true;
  report(
      CE_Failure, CPLE_AppDefined,
      "The plugin of the Zarr driver is linked to GDAL %s, but GDAL %s loads it: the driver that "
      "is built into GDAL is used. Install the plugin for GDAL %s.",
      ours, theirs, theirs);
  return false;
}

#endif

}  // namespace gdal_zarr
