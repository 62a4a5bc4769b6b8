// A group of a Zarr hierarchy.
#pragma once

#include "driver/multidim/attribute.h"
#include "driver/multidim/session.h"

namespace gdal_zarr {

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
  // Options: those of create/creation_options.h for arrays.
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
  // Called by the session for a group that is not there any more.
  void set_gone() { is_gone_ = true; }

  // Node paths of the arrays and groups directly below. Arrays include those whose metadata is not
  // right: opening them says why.
  std::vector<std::string> array_paths() const;
  std::vector<std::string> group_paths() const;

 private:
  Group(std::shared_ptr<Session> session, std::string node_path, const std::string& parent,
        const std::string& name);
  std::vector<std::string> child_paths(bool arrays) const;
  zarrcore::Json attributes(bool show_all) const;
  // The object itself where attributes may be changed through it, else null.
  std::shared_ptr<AttributeOwner> owner() const;
  void check_is_there() const;
#if GDAL_ZARR_AT_LEAST(3, 8)
  template <typename Metadata>
  bool erase_child(const std::string& name, const char* kind);
#endif
  // The node path of a member, which need not be there.
  std::string path_of(const std::string& name) const;

  std::shared_ptr<Session> session_;
  std::string node_path_;
  bool is_gone_ = false;
};

}  // namespace gdal_zarr
