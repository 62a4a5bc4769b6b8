// A dimension, shared by all arrays that name it.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <memory>
#include <string>

#include "driver/conventions/axis.h"

namespace gdal_zarr {

class Session;

class Dimension final : public GDALDimension {
 public:
  // `group` is the node path of the group.
  Dimension(std::shared_ptr<Session> session, std::string group, const std::string& name,
            const AxisRole& role, std::uint64_t size);

  // The array of one dimension that has the dimension's name, in its group.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;
  // Succeeds only for that array: in Zarr, the name is the only link between the two.
  bool SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) override;

  const std::string& group() const { return group_; }
  // Called by the catalog when all arrays have the new length.
  void set_size(std::uint64_t size) { m_nSize = size; }

 private:
  std::shared_ptr<Session> session_;
  std::string group_;
  std::string variable_path_;  // when the object was made; empty for none
};

}  // namespace gdal_zarr
