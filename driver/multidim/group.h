// A group of a Zarr hierarchy, and the dataset of a root group.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/icechunk_metadata.h"
#include "driver/multidim/session.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

class Group final : public WithAttributes<GDALGroup>, public std::enable_shared_from_this<Group> {
 public:
  static std::shared_ptr<Group> create(std::shared_ptr<Session> session, std::string node_path);

  std::vector<std::string> GetMDArrayNames(CSLConstList options) const override;
  std::shared_ptr<GDALMDArray> OpenMDArray(const std::string& name,
                                           CSLConstList options) const override;
  std::vector<std::string> GetGroupNames(CSLConstList options) const override;
  std::shared_ptr<GDALGroup> OpenGroup(const std::string& name,
                                       CSLConstList options) const override;
  std::vector<std::shared_ptr<GDALDimension>> GetDimensions(CSLConstList options) const override;

  std::shared_ptr<GDALGroup> CreateGroup(const std::string& name, CSLConstList options) override;
  std::shared_ptr<GDALDimension> CreateDimension(const std::string& name, const std::string& type,
                                                 const std::string& direction, GUInt64 size,
                                                 CSLConstList options) override;
  // Options: the creation options for arrays (new_array/creation_options.h).
  std::shared_ptr<GDALMDArray> CreateMDArray(
      const std::string& name, const std::vector<std::shared_ptr<GDALDimension>>& dimensions,
      const GDALExtendedDataType& type, CSLConstList options) override;
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool DeleteGroup(const std::string& name, CSLConstList options) override;
  bool DeleteMDArray(const std::string& name, CSLConstList options) override;
  bool Rename(const std::string& name) override;
#endif

  void change_attributes(const std::function<void(zarrcore::Json& attributes)>& edit) override;

  // Called by the session: the group was removed, or has another path.
  void set_deleted() { mark_deleted(); }
  void set_node_path(const std::string& node_path);

 private:
  // `path`: the path in the group's full name.
  Group(std::shared_ptr<Session> session, std::string node_path, const std::string& path);
  // Node paths of the arrays or groups directly below, including arrays whose metadata is invalid:
  // opening one of these reports the error.
  std::vector<std::string> child_paths(zarrcore::NodeKind kind) const;
  std::vector<std::shared_ptr<GDALMDArray>> variables_above() const;
  std::string description() const override { return "group " + GetFullName(); }
  std::string attributes_name() const override;
  std::shared_ptr<AttributeOwner> owner() const override;
  std::shared_ptr<const zarrcore::Json> current_attributes() const;
  std::shared_ptr<const zarrcore::Json> visible_attributes(bool show_all) const override;
  std::shared_ptr<const zarrcore::Json> find_visible(const std::string& name) const override;
  bool has_attribute(const std::string& name) const override;
  void check_takes_attributes() const override { check_is_container(); }
  // Throws zarrcore::Error when the group was deleted, or cannot hold other groups and arrays.
  void check_is_container() const;
#if GDAL_ZARR_AT_LEAST(3, 8)
  template <typename Metadata>
  bool erase_child(const std::string& name, const char* kind);
#endif
  // The node path of a member, which need not exist. Throws zarrcore::Error for an invalid name.
  std::string new_path_of(const std::string& name) const;
  std::string path_of(const std::string& name) const;

  std::shared_ptr<Session> session_;
  std::string node_path_;
};

// A dataset that is no raster: of a session, with the metadata domain ICECHUNK.
class SessionDataset : public GDALDataset {
 public:
  SessionDataset(std::shared_ptr<Session> session, const std::string& name)
      : session_(std::move(session)) {
    SetDescription(name.c_str());
    eAccess = session_->is_writable() ? GA_Update : GA_ReadOnly;
    set_icechunk_metadata(*this, *session_);
  }
  // Flushes pending changes; a failure is reported as CE_Failure. Arrays that are still alive flush
  // themselves.
  ~SessionDataset() override {
    const FirstFailure first_failure;
    finish();
    session_.reset();
  }

  Session& session() const { return *session_; }
  MetadataList GetMetadata(const char* domain) override {
    complete_icechunk_metadata(*this, *session_, domain);
    return GDALDataset::GetMetadata(domain);
  }
  const char* GetMetadataItem(const char* name, const char* domain) override {
    if (is_changes_item(name, domain)) {
      return flush() != CE_None ? nullptr : icechunk_changes(*session_);
    }
    complete_icechunk_metadata(*this, *session_, domain);
    return GDALDataset::GetMetadataItem(name, domain);
  }
  CPLErr SetMetadataItem(const char* name, const char* value, const char* domain) override {
    return is_icechunk_domain(domain) ? run_icechunk_command(*session_, name, value)
                                      : GDALDataset::SetMetadataItem(name, value, domain);
  }
  CPLErr SetMetadata(MetadataList metadata, const char* domain) override {
    return is_icechunk_domain(domain) ? run_icechunk_commands(*this, *session_, metadata)
                                      : GDALDataset::SetMetadata(metadata, domain);
  }
  FlushResult FlushCache(bool at_closing) override {
    const FirstFailure first_failure;
    GDALDataset::FlushCache(at_closing);
    CPLErr flushed = flush();
    if (!at_closing) {
      if (flushed == CE_None) flushed = attempt([this] { session_->commit_flushed(); });
      session_->refresh();
    }
    return flush_result(flushed);
  }
#if GDAL_ZARR_AT_LEAST(3, 7)
  CPLErr Close(GDAL_ZARR_CLOSE_PARAMETERS) override {
    if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
    const FirstFailure first_failure;
    const CPLErr finished = finish();
    const CPLErr closed = GDALDataset::Close();
    return finished == CE_None ? closed : finished;
  }
#endif

 private:
  template <typename Action>
  static CPLErr attempt(const Action& action) {
    return guarded(CE_Failure, [&] {
      action();
      return CE_None;
    });
  }
  CPLErr flush() {
    return attempt([this] {
      if (session_->is_writable()) session_->flush();
    });
  }
  CPLErr finish() {
    const CPLErr flushed = flush();
    const CPLErr ended = attempt([this] { session_->end_changes(); });
    return flushed == CE_None ? ended : flushed;
  }

  std::shared_ptr<Session> session_;
};

// The dataset that the multidimensional API opens or creates: a root group.
class MultidimDataset final : public SessionDataset {
 public:
  MultidimDataset(std::shared_ptr<Session> session, const std::string& name)
      : SessionDataset(std::move(session), name), root_(this->session().root_group()) {}
  std::shared_ptr<GDALGroup> GetRootGroup() const override { return root_; }

 private:
  std::shared_ptr<Group> root_;
};

}  // namespace gdal_zarr
