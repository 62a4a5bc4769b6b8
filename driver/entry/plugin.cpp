// The plugin's entry point, which GDAL finds by its name.
#include <cpl_error.h>
#include <gdal.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#ifndef _WIN32
#include <dlfcn.h>
#endif

#include "driver/codecs/gdal_codecs.h"
#include "driver/entry/create.h"
#include "driver/entry/manage.h"
#include "driver/entry/open.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/references/open_references.h"
#include "driver/stores/vsi/http_client.h"

namespace {

// Long items are made on first use, as most programs start without them. Those that list
// compressors follow CPLRegisterCompressor(), which may be called at any time.
class ZarrDriver final : public GDALDriver {
 public:
  const char* GetMetadataItem(const char* name, const char* domain) override {
    for (List& list : lists_) {
      if (name != nullptr && EQUAL(name, list.name)) make(list);
    }
    return GDALDriver::GetMetadataItem(name, domain);
  }

  gdal_zarr::MetadataList GetMetadata(const char* domain) override {
    for (List& list : lists_) make(list);
    return GDALDriver::GetMetadata(domain);
  }

 private:
  struct List {
    const char* name;
    std::string (*make)();
    bool has_compressors = false;
    // Of which compressors it was made; nullopt if it was not.
    std::optional<std::string> made_of = {};
  };

  // Sets an item only if it changes: callers keep pointers to it.
  void make(List& list) {
    gdal_zarr::guarded(false, [&] {
      const std::lock_guard lock(mutex_);
      std::string compressors = list.has_compressors ? gdal_zarr::codec_names("COMPRESS") : "";
      if (list.made_of == compressors) return true;
      list.made_of = std::move(compressors);
      SetMetadataItem(list.name, list.make().c_str());
      return true;
    });
  }

  template <unsigned kScopes>
  static std::string options(const char* element) {
    return gdal_zarr::creation_option_list(kScopes, element);
  }

  std::recursive_mutex mutex_;  // setting an item may get others
  std::array<List, 9> lists_{{
      {GDAL_DMD_OPENOPTIONLIST, &gdal_zarr::open_option_list},
      {"GDAL_ZARR_CONFIGURATION_OPTIONS", &gdal_zarr::config_option_list},
      {GDAL_DMD_CREATIONDATATYPES, &gdal_zarr::creation_data_types},
      {"FILTERS", [] { return gdal_zarr::codec_names("FILTER"); }},
      {"BLOSC_COMPRESSORS", [] { return gdal_zarr::codec_names("BLOSC_CNAME"); }},
      {"COMPRESSORS", [] { return gdal_zarr::codec_names("COMPRESS"); }, true},
      {GDAL_DMD_CREATIONOPTIONLIST,
       [] { return options<gdal_zarr::kAllOptions>("CreationOptionList"); }, true},
      {GDAL_DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST,
       [] { return options<gdal_zarr::kArrayOption>("MultiDimArrayCreationOptionList"); }, true},
      {GDAL_DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST,
       [] { return options<gdal_zarr::kDatasetOption>("MultiDimDatasetCreationOptionList"); }},
  }};
};

void register_driver() {
  zarrcore::set_codec_provider(&gdal_zarr::find_gdal_codec);
  // As the built-in driver does.
  gdal_zarr::install_reference_file_systems();
  gdal_zarr::install_icechunk_file_system();
  auto driver = std::make_unique<ZarrDriver>();
  driver->SetDescription("Zarr");
  // By which a person sees which driver of this name it is: gdalinfo prints it for every store.
  driver->SetMetadataItem(GDAL_DMD_LONGNAME, "Zarr (gdal-zarr " GDAL_ZARR_VERSION ")");
  driver->SetMetadataItem(GDAL_DMD_EXTENSION, "zarr");
  driver->SetMetadataItem(GDAL_DMD_EXTENSIONS, "zarr");
  driver->SetMetadataItem(GDAL_DMD_HELPTOPIC, "drivers/raster/zarr.html");
  driver->SetMetadataItem(GDAL_DCAP_RASTER, "YES");
  driver->SetMetadataItem(GDAL_DCAP_MULTIDIM_RASTER, "YES");
  driver->SetMetadataItem(GDAL_DCAP_VIRTUALIO, "YES");
  driver->SetMetadataItem(GDAL_DMD_SUBDATASETS, "YES");
  driver->SetMetadataItem(GDAL_DCAP_CREATE_MULTIDIMENSIONAL, "YES");
#if GDAL_ZARR_AT_LEAST(3, 11)
  driver->SetMetadataItem(GDAL_DCAP_UPDATE, "YES");
  driver->SetMetadataItem(GDAL_DMD_UPDATE_ITEMS,
                          "GeoTransform SRS NoData RasterValues DatasetMetadata BandMetadata "
                          "ColorInterpretation Scale Offset Unit BandDescription");
  driver->SetMetadataItem(GDAL_DCAP_CREATE_SUBDATASETS, "YES");
#endif
  // The same for programs, and what the plugin was built from and for.
  driver->SetMetadataItem("GDAL_ZARR_VERSION", GDAL_ZARR_VERSION);
  driver->SetMetadataItem("GDAL_ZARR_BUILD", GDAL_ZARR_BUILD ", GDAL " GDAL_RELEASE_NAME);
  driver->pfnIdentify = gdal_zarr::identify;
  driver->pfnOpen = gdal_zarr::open;
  driver->pfnCreate = gdal_zarr::create;
  driver->pfnCreateCopy = gdal_zarr::create_copy;
  driver->pfnCreateMultiDimensional = gdal_zarr::create_multidimensional;
  driver->pfnDelete = gdal_zarr::delete_store;
  driver->pfnRename = gdal_zarr::rename_store;
  driver->pfnCopyFiles = gdal_zarr::copy_store;
  driver->pfnUnloadDriver = [](GDALDriver*) { gdal_zarr::close_shared_connections(); };
  GetGDALDriverManager()->RegisterDriver(driver.release());
}

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
  gdal_zarr::guarded(false, [] {
    register_driver();
    return true;
  });
}
