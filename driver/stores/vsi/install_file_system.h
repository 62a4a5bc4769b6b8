// Installing a file system of GDAL, in all its versions.
#pragma once

#include <cpl_string.h>
#include <cpl_vsi_virtual.h>

#include <memory>
#include <string>
#include <utility>

namespace gdal_zarr {

// A unique pointer in newer versions of GDAL.
using OpenedFile =
    decltype(std::declval<VSIFilesystemHandler&>().Open("", "", false, CSLConstList()));

// Gives names that begin with `prefix` to a new Handler(arguments…). GDAL's manager owns handlers;
// newer versions take a shared pointer.
template <typename Handler, typename Manager = VSIFileManager, typename... Arguments>
void install_file_system(const std::string& prefix, Arguments&&... arguments) {
  if constexpr (requires {
                  Manager::InstallHandler(prefix, std::shared_ptr<VSIFilesystemHandler>());
                }) {
    Manager::InstallHandler(prefix,
                            std::make_shared<Handler>(std::forward<Arguments>(arguments)...));
  } else {
    Manager::InstallHandler(prefix, new Handler(std::forward<Arguments>(arguments)...));
  }
}

}  // namespace gdal_zarr
