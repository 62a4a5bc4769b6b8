// Creation options in tests, and the errors and warnings that they lead to.
#pragma once

#include <cpl_error.h>
#include <cpl_string.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "zarrcore/base/error.h"

namespace gdal_zarr::test {

inline CPLStringList option_list(const std::vector<std::string>& options) {
  CPLStringList list;
  for (const std::string& option : options) list.AddString(option.c_str());
  return list;
}

// The text of the zarrcore::Error that `body` throws.
template <typename Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const zarrcore::Error& error) {
    return error.what();
  }
  return "no error";
}

// The warnings of GDAL during `body`.
template <typename Body>
std::vector<std::string> warnings_of(const Body& body) {
  std::vector<std::string> warnings;
  const auto collect = [](CPLErr level, CPLErrorNum, const char* text) {
    if (level != CE_Warning) return;
    static_cast<std::vector<std::string>*>(CPLGetErrorHandlerUserData())->push_back(text);
  };
  CPLPushErrorHandlerEx(collect, &warnings);
  body();
  CPLPopErrorHandler();
  return warnings;
}

}  // namespace gdal_zarr::test
