// Shapes as people read them: "256,256", "3x1080x1920".
#pragma once

#include <string>
#include <string_view>

#include "zarrcore/base/strided.h"

namespace gdal_zarr {

inline std::string shape_text(const zarrcore::Shape& shape, std::string_view separator) {
  std::string text;
  for (const std::uint64_t length : shape) {
    if (!text.empty()) text += separator;
    text += std::to_string(length);
  }
  return text;
}

}  // namespace gdal_zarr
