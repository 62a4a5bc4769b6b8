// A dimension, shared by all arrays that name it.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <memory>
#include <string>

#include "driver/conventions/axis.h"
#include "driver/gdal/compat.h"

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

#if GDAL_ZARR_AT_LEAST(3, 8)
  // In all arrays that have the dimension. Its variable keeps its name, and is no variable of the
  // dimension from then on.
  bool Rename(const std::string& name) override;
#endif

  const std::string& group() const { return group_; }

  // Called by the catalog when all arrays have the new length or name, or when the group was
  // renamed.
  void set_size(std::uint64_t size) { m_nSize = size; }
  void set_name(const std::string& name);
  void set_group(const std::string& group);

 private:
  std::shared_ptr<Session> session_;
  std::string group_;
  std::string variable_path_;  // when the object was made; empty for none
};

}  // namespace gdal_zarr
