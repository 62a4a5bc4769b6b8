// A dimension, shared by all arrays that name it.
#pragma once

#include "driver/conventions/axis.h"
#include "driver/multidim/session.h"

namespace gdal_zarr {

class Dimension final : public GDALDimension {
 public:
  // `group` is the node path of the group.
  Dimension(std::shared_ptr<Session> session, std::string group, const std::string& name,
            const AxisRole& role, std::uint64_t size)
      : GDALDimension('/' + group, name, role.type, role.direction, size),
        session_(std::move(session)),
        group_(std::move(group)),
        variable_path_(session_->variable_path(group_, name, size)) {}

  // The array of one dimension that has the dimension's name, in its group.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;
  // There is no other way to say that than by the name.
  bool SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) override;

  const std::string& group() const { return group_; }
  // Called by the session when all arrays have become as long.
  void set_size(std::uint64_t size) { m_nSize = size; }

 private:
  std::shared_ptr<Session> session_;
  std::string group_;
  std::string variable_path_;  // empty when there was none
};

}  // namespace gdal_zarr
