// Registering the driver: what the plugin's entry point and the program gdal_zarr do first.
#pragma once

#include <functional>

class GDALDriver;

namespace gdal_zarr {

// Registers the driver in GDAL's driver manager, with its virtual file systems and codecs, after
// `complete` has added to it.
void register_driver(const std::function<void(GDALDriver&)>& complete);

// The version of the driver, such as 1.0.0.
extern const char* const kDriverVersion;
// The commit, the compiler and the kind of build that the driver comes from.
extern const char* const kBuildInfo;

}  // namespace gdal_zarr
