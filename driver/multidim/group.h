// A group of a Zarr hierarchy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/multidim/attribute.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

class Session;

class Group final : public GDALGroup,
                    public AttributeOwner,
                    public std::enable_shared_from_this<Group> {
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

  std::shared_ptr<GDALGroup> CreateGroup(const std::string& name, CSLConstList options) override;
  std::shared_ptr<GDALDimension> CreateDimension(const std::string& name, const std::string& type,
                                                 const std::string& direction, GUInt64 size,
                                                 CSLConstList options) override;
  // Options: those of new_array/creation_options.h for arrays.
  std::shared_ptr<GDALMDArray> CreateMDArray(
      const std::string& name, const std::vector<std::shared_ptr<GDALDimension>>& dimensions,
      const GDALExtendedDataType& type, CSLConstList options) override;
  std::shared_ptr<GDALAttribute> CreateAttribute(const std::string& name,
                                                 const std::vector<GUInt64>& dimensions,
                                                 const GDALExtendedDataType& type,
                                                 CSLConstList options) override;
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool DeleteGroup(const std::string& name, CSLConstList options) override;
  bool DeleteMDArray(const std::string& name, CSLConstList options) override;
  bool DeleteAttribute(const std::string& name, CSLConstList options) override;
  bool Rename(const std::string& name) override;
#endif

  void set_attribute(const std::string& name, const zarrcore::Json& value) override;
  void erase_attribute(const std::string& name) override;
  void rename_attribute(const std::string& name, const std::string& new_name) override;

  // Called by the session: the group was removed, or has another path.
  void set_deleted();
  void set_node_path(const std::string& node_path);

 private:
  // `path` is that of the full name.
  Group(std::shared_ptr<Session> session, std::string node_path, const std::string& path);
  // Node paths of the arrays or groups directly below, including arrays whose metadata is invalid:
  // opening one of these reports the error.
  std::vector<std::string> child_paths(zarrcore::NodeKind kind) const;
  std::vector<std::shared_ptr<GDALMDArray>> variables_above() const;
  zarrcore::Json attributes(bool show_all) const;
  // The group itself where its attributes can be changed, else null.
  std::shared_ptr<AttributeOwner> owner() const;
  // Throws zarrcore::Error when the group was deleted.
  void check_exists() const;
  // Throws zarrcore::Error when it cannot hold other groups and arrays either.
  void check_is_container() const;
  // Under which GDAL shows the attributes.
  std::string attributes_name() const;
#if GDAL_ZARR_AT_LEAST(3, 8)
  template <typename Metadata>
  bool erase_child(const std::string& name, const char* kind);
#endif
  // The node path of a member, which need not exist. Throws zarrcore::Error for an invalid name.
  std::string new_path_of(const std::string& name) const;
  std::string path_of(const std::string& name) const;

  std::shared_ptr<Session> session_;
  std::string node_path_;
  bool is_deleted_ = false;
};

}  // namespace gdal_zarr
