#include "driver/multidim/dimension.h"

#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"  // IWYU pragma: keep, a complete type to return
#include "driver/multidim/rename_dimension.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"  // IWYU pragma: keep, for GDAL 3.8 and newer

namespace gdal_zarr {

Dimension::Dimension(std::shared_ptr<Session> session, std::string group, const std::string& name,
                     const AxisRole& role, std::uint64_t size)
    : GDALDimension('/' + group, name, role.type, role.direction, size),
      session_(std::move(session)),
      group_(std::move(group)),
      variable_path_(session_->dimensions().variable_path(group_, name, size)) {}

std::shared_ptr<GDALMDArray> Dimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    // In a writable store, the variable may be created or removed at any time.
    const std::string path =
        session_->is_writable() ? session_->dimensions().variable_path(group_, GetName(), GetSize())
                                : variable_path_;
    if (path.empty()) {
      return session_->enclosing_groups().find_variable(group_, GetName(), GetSize());
    }
    try {
      return session_->array(path);
    } catch (const zarrcore::Error& error) {
      session_->warn_unreadable(path, error.what());
      return nullptr;
    }
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Dimension::Rename(const std::string& name) {
  return guarded(false, [&] {
    rename_dimension(*session_, *this, name);
    return true;
  });
}

void Dimension::set_name(const std::string& name) {
  BaseRename(name);
  variable_path_.clear();
}

void Dimension::set_group(const std::string& group) {
  variable_path_ = zarrcore::moved_path(variable_path_, group_, group);
  group_ = group;
  ParentRenamed('/' + group);
}
#else
// Nothing can be renamed.
void Dimension::set_name(const std::string& /*name*/) {}
void Dimension::set_group(const std::string& /*group*/) {}
#endif

bool Dimension::SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) {
  return guarded(false, [&] {
    if (!variable) {
      throw zarrcore::Error("the indexing variable of dimension " + GetFullName() +
                            " is the array of its name and cannot be unset");
    }
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
