#include "driver/entry/register_driver.h"

#include <cpl_error.h>
#include <gdal_priv.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "driver/codecs/gdal_codecs.h"
#include "driver/entry/create.h"
#include "driver/entry/open.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/http_client.h"

namespace gdal_zarr {
namespace {

// Long items are built on first use, as most programs start without them. Items that list
// compressors follow CPLRegisterCompressor(), which may be called at any time.
class ZarrDriver final : public GDALDriver {
 public:
  const char* GetMetadataItem(const char* name, const char* domain) override {
    for (List& list : lists_) {
      if (name != nullptr && EQUAL(name, list.name)) make(list);
    }
    return GDALDriver::GetMetadataItem(name, domain);
  }

  MetadataList GetMetadata(const char* domain) override {
    for (List& list : lists_) make(list);
    return GDALDriver::GetMetadata(domain);
  }

 private:
  struct List {
    const char* name;
    std::string (*make)();
    bool has_compressors = false;
    // The compressors that the item lists; nullopt if it has not been built.
    std::optional<std::string> listed_compressors = {};
  };

  // Sets an item only if it changes: callers may hold pointers to it.
  void make(List& list) {
    guarded(false, [&] {
      const std::lock_guard lock(mutex_);
      std::string compressors = list.has_compressors ? codec_names("COMPRESS") : "";
      if (list.listed_compressors == compressors) return;
      list.listed_compressors = std::move(compressors);
      SetMetadataItem(list.name, list.make().c_str());
    });
  }

  template <unsigned kScopes>
  static std::string options(const char* element) {
    return creation_option_list(kScopes, element);
  }

  std::recursive_mutex mutex_;  // setting an item may get others
  std::array<List, 9> lists_{{
      {GDAL_DMD_OPENOPTIONLIST, &open_option_list},
      {"GDAL_ZARR_CONFIGURATION_OPTIONS", &config_option_list},
      {GDAL_DMD_CREATIONDATATYPES, &creation_data_types},
      {"FILTERS", [] { return codec_names("FILTER"); }},
      {"BLOSC_COMPRESSORS", [] { return codec_names("BLOSC_CNAME"); }},
      {"COMPRESSORS", [] { return codec_names("COMPRESS"); }, true},
      {GDAL_DMD_CREATIONOPTIONLIST, [] { return options<kAllOptions>("CreationOptionList"); },
       true},
      {GDAL_DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST,
       [] { return options<kArrayOption>("MultiDimArrayCreationOptionList"); }, true},
      {GDAL_DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST,
       [] { return options<kDatasetOption>("MultiDimDatasetCreationOptionList"); }},
  }};
};

}  // namespace

void register_driver(const std::function<void(GDALDriver&)>& complete) {
  zarrcore::set_codec_provider(&find_gdal_codec);
  // The built-in driver also installs file systems for references.
  install_reference_file_systems();
  install_icechunk_file_system();
  install_name_prefixes();
  auto driver = std::make_unique<ZarrDriver>();
  driver->SetDescription("Zarr");
  // Shows users which driver of this name it is: gdalinfo prints it for every store.
  driver->SetMetadataItem(GDAL_DMD_LONGNAME,
                          ("Zarr (gdal-zarr " + std::string(kDriverVersion) + ")").c_str());
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
  // The same for programs, and the versions that the plugin was built from and for.
  driver->SetMetadataItem("GDAL_ZARR_VERSION", kDriverVersion);
  driver->SetMetadataItem("GDAL_ZARR_BUILD",
                          (std::string(kBuildInfo) + ", GDAL " GDAL_RELEASE_NAME).c_str());
  driver->pfnIdentify = identify;
  driver->pfnOpen = open;
  driver->pfnCreate = create;
  driver->pfnCreateCopy = create_copy;
  driver->pfnCreateMultiDimensional = create_multidimensional;
  driver->pfnDelete = delete_store;
  driver->pfnRename = rename_store;
  driver->pfnCopyFiles = copy_store;
  driver->pfnUnloadDriver = [](GDALDriver*) { close_shared_connections(); };
  complete(*driver);
  GetGDALDriverManager()->RegisterDriver(driver.release());
}

}  // namespace gdal_zarr
