// A dimension, shared by all arrays that name it.
#pragma once

#include "driver/conventions/axis.h"
#include "driver/multidim/session.h"

namespace gdal_zarr {

class Dimension final : public GDALDimension {
 public:
  // `variable_path` is the node path of the indexing variable, empty when there is none.
  Dimension(std::shared_ptr<Session> session, const std::string& group, const std::string& name,
            const AxisRole& role, std::uint64_t size, std::string variable_path)
      : GDALDimension(group, name, role.type, role.direction, size),
        session_(std::move(session)),
        variable_path_(std::move(variable_path)) {}

  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;

  const std::string& variable_path() const { return variable_path_; }

 private:
  std::shared_ptr<Session> session_;
  std::string variable_path_;
};

}  // namespace gdal_zarr
