// A group of a Zarr hierarchy, and the dataset of a root group.
#pragma once

#include <gdal_priv.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
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

// The metadata domain ICECHUNK of datasets of an Icechunk repository:
//
//   FORMAT=2  SNAPSHOT=ID  BRANCH=main            the open version; TAG=… for a tag
//   BRANCH_1_NAME=main  BRANCH_1_SNAPSHOT=ID …    all branches of the repository
//   TAG_1_NAME=v1  TAG_1_SNAPSHOT=ID …            all tags
//   CHANGES={…}                                   if open for update: uncommitted changes; in no
//                                                 list, since it may be large
//
// Setting an item is a command; the dataset must be open for update. Without =ID, the snapshot is
// the one that the dataset started from, or has committed last.
//
//   COMMIT=message         commits now; empty for the usual message
//   ROLLBACK=YES           drops the changes; nothing can be committed any more
//   MERGE={…}              adds the CHANGES of a dataset of the same snapshot: text, or a file
//   CREATE_BRANCH=NAME=ID  RESET_BRANCH=NAME=ID  DELETE_BRANCH=NAME
//   CREATE_TAG=NAME=ID     DELETE_TAG=NAME

bool is_icechunk_domain(const char* domain);

// Sets the items that describe the open version; does nothing if the session's store is not a
// repository.
void set_icechunk_metadata(GDALDataset& dataset, const Session& session);

// When `domain` is this one: sets the open version, and all branches and tags, which takes requests
// in format 1. They are from when the dataset was opened, unless it is open for update. A failure
// is reported as CE_Failure.
void complete_icechunk_metadata(GDALDataset& dataset, const Session& session, const char* domain);

// True for the item CHANGES.
bool is_changes_item(const char* name, const char* domain);
// The value of the item CHANGES, valid until the next call; null unless the dataset is an Icechunk
// repository that is open for update. Pending writes must have been flushed.
const char* icechunk_changes(Session& session);

// Flushes, and carries out a command. A failure is reported as CE_Failure.
CPLErr run_icechunk_command(Session& session, const char* name, const char* value);
// The same for all items of a list but those that the domain has.
CPLErr run_icechunk_commands(GDALDataset& dataset, Session& session, CSLConstList items);

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
      if (flushed == CE_None) flushed = guarded(CE_Failure, [this] { session_->commit_flushed(); });
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
  CPLErr flush() {
    return guarded(CE_Failure, [this] {
      if (session_->is_writable()) session_->flush();
    });
  }
  CPLErr finish() {
    const CPLErr flushed = flush();
    const CPLErr ended = guarded(CE_Failure, [this] { session_->end_changes(); });
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
