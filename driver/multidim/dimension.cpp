#include "driver/multidim/dimension.h"

#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

std::shared_ptr<GDALMDArray> Dimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    // In a store that can be written it may come and go.
    const std::string path = session_->is_writable()
                                 ? session_->variable_path(group_, GetName(), GetSize())
                                 : variable_path_;
    if (path.empty()) return nullptr;
    try {
      return session_->array(path);
    } catch (const zarrcore::Error& error) {
      session_->warn_of_coordinates(path, error.what());
      return nullptr;
    }
  });
}

bool Dimension::SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) {
  return guarded(false, [&] {
    if (!variable) throw zarrcore::Error("the indexing variable of a dimension is its namesake");
    if (variable->GetFullName() != GetFullName() || variable->GetDimensionCount() != 1 ||
        variable->GetDimensions()[0]->GetSize() != GetSize()) {
      throw zarrcore::Error("array " + variable->GetFullName() +
                            " cannot be the indexing variable of dimension " + GetFullName() +
                            ", which is the array of this name and length");
    }
    return true;
  });
}

}  // namespace gdal_zarr
