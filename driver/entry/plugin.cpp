// The plugin's entry point, which GDAL finds by its name.
#include <memory>

#include "driver/codecs/imagecodecs_tiff.h"
#include "driver/entry/create.h"
#include "driver/entry/create_multidim.h"
#include "driver/entry/identify.h"
#include "driver/entry/manage.h"
#include "driver/entry/open.h"
#include "driver/entry/open_options.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/new_array/creation_options.h"
#include "driver/stores/references/reference_file_system.h"

namespace {

void register_driver() {
  zarrcore::set_codec_provider(&gdal_zarr::find_gdal_codec);
  // As the built-in driver does.
  gdal_zarr::install_reference_file_systems();
  auto driver = std::make_unique<GDALDriver>();
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
  driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, gdal_zarr::open_option_list().c_str());
  driver->SetMetadataItem("GDAL_ZARR_CONFIGURATION_OPTIONS",
                          gdal_zarr::config_option_list().c_str());
  driver->SetMetadataItem(GDAL_DCAP_CREATE_MULTIDIMENSIONAL, "YES");
  driver->SetMetadataItem(
      GDAL_DMD_CREATIONOPTIONLIST,
      gdal_zarr::creation_option_list(gdal_zarr::kAllOptions, "CreationOptionList").c_str());
  driver->SetMetadataItem(GDAL_DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST,
                          gdal_zarr::creation_option_list(gdal_zarr::kDatasetOption,
                                                          "MultiDimDatasetCreationOptionList")
                              .c_str());
  driver->SetMetadataItem(
      GDAL_DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST,
      gdal_zarr::creation_option_list(gdal_zarr::kArrayOption, "MultiDimArrayCreationOptionList")
          .c_str());
  driver->SetMetadataItem(GDAL_DMD_CREATIONDATATYPES, gdal_zarr::creation_data_types().c_str());
  driver->SetMetadataItem("COMPRESSORS", gdal_zarr::compressor_names().c_str());
  driver->SetMetadataItem("FILTERS", gdal_zarr::filter_names().c_str());
  driver->SetMetadataItem("BLOSC_COMPRESSORS", gdal_zarr::blosc_compressor_names().c_str());
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
  GetGDALDriverManager()->RegisterDriver(driver.release());
}

}  // namespace

extern "C" CPL_DLL void GDALRegister_Zarr() {
  if (GDAL_CHECK_VERSION("Zarr driver") == 0) return;
  if (GDALGetDriverByName("Zarr") != nullptr) return;
  gdal_zarr::guarded(false, [] {
    register_driver();
    return true;
  });
}
