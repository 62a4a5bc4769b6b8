// The plugin's entry point, which GDAL finds by its name.
#include "driver/gdal_compat.h"
#include "driver/open.h"

extern "C" CPL_DLL void GDALRegister_Zarr() {
  if (GDAL_CHECK_VERSION("Zarr driver") == 0) return;
  if (GDALGetDriverByName("Zarr") != nullptr) return;
  auto* driver = new GDALDriver();
  driver->SetDescription("Zarr");
  driver->SetMetadataItem(GDAL_DMD_LONGNAME, "Zarr");
  driver->SetMetadataItem(GDAL_DMD_EXTENSION, "zarr");
  driver->SetMetadataItem(GDAL_DMD_EXTENSIONS, "zarr");
  driver->SetMetadataItem(GDAL_DMD_HELPTOPIC, "drivers/raster/zarr.html");
  driver->SetMetadataItem(GDAL_DCAP_RASTER, "YES");
  driver->SetMetadataItem(GDAL_DCAP_MULTIDIM_RASTER, "YES");
  driver->SetMetadataItem(GDAL_DCAP_VIRTUALIO, "YES");
  driver->SetMetadataItem(GDAL_DMD_SUBDATASETS, "YES");
  driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, gdal_zarr::kOpenOptionList);
  // By which a program, or a person, sees which driver of this name it is.
  driver->SetMetadataItem("GDAL_ZARR_VERSION", GDAL_ZARR_VERSION);
  driver->pfnIdentify = gdal_zarr::identify;
  driver->pfnOpen = gdal_zarr::open;
  GetGDALDriverManager()->RegisterDriver(driver);
}
