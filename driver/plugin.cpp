// The plugin's entry point, which GDAL finds by its name.
#include <cpl_error.h>
#include <gdal.h>

#include <string>

#ifndef _WIN32
#include <dlfcn.h>
#endif

#include "driver/commands/command.h"
#include "driver/entry/register_driver.h"
#include "driver/gdal/messages.h"

namespace {

// After an upgrade two libgdal can be installed, and a program then has both in its process. The
// plugin would register its driver with the one that nobody uses, or call functions that have
// changed.
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

// Whether the libgdal that loads the plugin is the one that the plugin is built for and linked to.
// `address` is in the caller, a return address. If they differ, it reports a Warning through the
// caller's GDAL, which names the versions of both, and returns false. Not an Error, which the
// programs that turn errors into exceptions would take for a failure to load any driver.
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

}  // namespace

extern "C" CPL_DLL void GDALRegister_Zarr() {
#ifdef __GNUC__
  void* const caller = __builtin_return_address(0);
#else
  void* const caller = nullptr;
#endif
  if (!is_called_by_our_gdal(caller)) return;
  if (GDALGetDriverByName("Zarr") != nullptr) return;
  gdal_zarr::guarded(false, [] { gdal_zarr::register_driver(gdal_zarr::declare_commands); });
}
