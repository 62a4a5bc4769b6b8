#include "driver/raster/sidecar.h"

#include <cpl_string.h>

namespace gdal_zarr {

void copy_unstored(GDALDataset& source, GDALDataset& destination) {
  if (source.GetGCPCount() > 0) {
    destination.SetGCPs(source.GetGCPCount(), source.GetGCPs(), source.GetGCPSpatialRef());
  }
  const CPLStringList domains(source.GetMetadataDomainList());
  for (int i = 0; i < domains.size(); ++i) {
    // These domains describe the file of the source.
    const auto is = [&](const char* domain) { return EQUAL(domains[i], domain); };
    if (is("") || is("IMAGE_STRUCTURE") || is("SUBDATASETS") || is("DERIVED_SUBDATASETS") ||
        is("xml:VRT")) {
      continue;
    }
    if (auto metadata = source.GetMetadata(domains[i])) {
      destination.SetMetadata(metadata, domains[i]);
    }
  }
}

void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination) {
  if (GDALColorTable* table = source.GetColorTable()) destination.SetColorTable(table);
  if (char** names = source.GetCategoryNames()) destination.SetCategoryNames(names);
  if (const auto* table = source.GetDefaultRAT()) destination.SetDefaultRAT(table);
  CPLStringList metadata;
  const CSLConstList items = source.GetMetadata();
  for (int i = 0; i < CSLCount(items); ++i) {
    // DIM_ items, which say what slice a band is, follow from the new array.
    if (!STARTS_WITH_CI(items[i], "DIM_")) metadata.AddString(items[i]);
  }
  if (!metadata.empty()) destination.SetMetadata(metadata.List());
}

}  // namespace gdal_zarr
