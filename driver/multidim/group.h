// A group of a Zarr hierarchy.
#pragma once

#include "driver/multidim/session.h"

namespace gdal_zarr {

class Group final : public GDALGroup {
 public:
  static std::shared_ptr<Group> create(std::shared_ptr<Session> session, std::string node_path);

  std::vector<std::string> GetMDArrayNames(CSLConstList options) const override;
  std::shared_ptr<GDALMDArray> OpenMDArray(const std::string& name,
                                           CSLConstList options) const override;
  std::vector<std::string> GetGroupNames(CSLConstList options) const override;
  std::shared_ptr<GDALGroup> OpenGroup(const std::string& name,
                                       CSLConstList options) const override;
  std::vector<std::shared_ptr<GDALDimension>> GetDimensions(CSLConstList options) const override;
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override;
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;

  // Node paths of the arrays and groups directly below. Arrays include those whose metadata is not
  // right: opening them says why.
  std::vector<std::string> array_paths() const;
  std::vector<std::string> group_paths() const;

 private:
  Group(std::shared_ptr<Session> session, std::string node_path, const std::string& parent,
        const std::string& name);
  std::vector<std::string> child_paths(bool arrays) const;
  zarrcore::Json attributes(bool show_all) const;

  std::shared_ptr<Session> session_;
  std::string node_path_;
};

}  // namespace gdal_zarr
