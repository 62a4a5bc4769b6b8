// One opened store: its hierarchy, and the GDAL objects that are alive for its nodes, so that a
// node is one object however it is reached. Groups, arrays and dimensions share ownership of the
// session and may outlive the dataset; the session refers to them weakly.
#pragma once

#include <gdal_pam.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/compound_layouts.h"
#include "driver/multidim/dimension_catalog.h"
#include "driver/multidim/enclosing_groups.h"
#include "driver/multidim/pam_values.h"
#include "driver/multidim/pyramids.h"
#include "driver/multidim/read_report.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace gdal_zarr {

class Array;
class Group;

// Makes the classic dataset of an array whose dimensions X and Y are given; an array of one
// dimension has no Y. The caller owns the dataset. Throws zarrcore::Error.
using ClassicDatasetFactory = GDALDataset* (*)(const std::shared_ptr<Array>& array, std::size_t x,
                                               std::optional<std::size_t> y);

struct SessionOptions {
  bool is_writable = false;
  // The folder of the lock files that processes share to write the same chunks; empty for none.
  std::string lock_folder = {};
  bool use_consolidated = true;
  bool list_chunks = false;  // see zarrcore/store/listed_store.h
  bool missing_chunks_are_errors = false;
  bool assumes_longlat = false;      // see conventions/evidence.h
  bool stores_empty_chunks = false;  // chunks that contain only the fill value
  ClassicDatasetFactory make_classic_dataset = nullptr;
};

// What is known when a store is opened, which saves requests.
struct StoreHints {
  std::optional<ProbedFolder> folder = {};
  std::string array = {};  // the path of the one that will be opened
};

class Session : public StoredNodes, public std::enable_shared_from_this<Session> {
 public:
  // Throws zarrcore::Error when `path` is not a Zarr store.
  static std::shared_ptr<Session> open(const std::string& path, const SessionOptions& options,
                                       const StoreHints& hints = {});

  // Creates a store at `path`, where nothing exists yet. `options.use_consolidated` says whether
  // its consolidated metadata is kept; the session is writable. `store` is that of the path, if it
  // has been made. Throws zarrcore::Error.
  static std::shared_ptr<Session> create(const std::string& path, const zarrcore::Format& format,
                                         const SessionOptions& options,
                                         std::shared_ptr<zarrcore::Store> store = nullptr);

  // Flushes what is pending; a failure is reported as CE_Failure.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool is_writable() const { return options_.is_writable; }
  // Whether the store is being written into a new archive, which each flush completes.
  bool is_new_archive() const { return is_new_archive_; }
  // Throws zarrcore::Error when the store was opened for reading.
  zarrcore::Hierarchy& writable_hierarchy();
  // The format of the store. Throws zarrcore::Error when new arrays cannot be written in it.
  const zarrcore::Format& new_array_format() const;

  DimensionCatalog& dimensions() { return dimensions_; }
  const Pyramids& pyramids() const { return pyramids_; }
  const EnclosingGroups& enclosing_groups() const { return enclosing_groups_; }
  CompoundLayouts& compound_layouts() { return compound_layouts_; }
  // Statistics and the like, which GDAL keeps beside the store.
  const std::shared_ptr<GDALPamMultiDim>& pam() const { return pam_; }
  // GDAL does not lock it.
  std::mutex& pam_mutex() const { return pam_mutex_; }
  PamValues& pam_values() const { return *pam_values_; }
  // Whether GDAL looks for its file of these, which would cost requests on the network.
  bool has_pam() const;
  // False if GDAL makes the requests, which it does not cancel: closing would wait for those of
  // reading ahead.
  bool can_cancel_requests() const {
    return !is_slow() || path_test(path_, ConfigOption::share_connections);
  }
  // How many threads a call may use: GDAL_NUM_THREADS, or `wanted` if it is not null. One if the
  // store's file system may answer on the calling thread alone.
  std::size_t thread_count(const char* wanted = nullptr) const {
    return keeps_to_calling_thread_ ? 1 : gdal_zarr::thread_count(wanted);
  }
  // Returns true if a call may wait for I/O of other threads, which then does not need this one.
  bool may_wait_for_threads() const { return !keeps_to_calling_thread_; }
  // The threads and caches of the process.
  zarrcore::Context& context() const { return *context_; }
  ClassicDatasetFactory classic_dataset_factory() const { return options_.make_classic_dataset; }

  // Calls the functions, at the same time if requests of the store wait. Throws the first exception
  // of one.
  void run_together(const std::vector<std::function<void()>>& functions) const;

  std::shared_ptr<Group> root_group() { return group(""); }
  // The group at `node_path`, which must exist.
  std::shared_ptr<Group> group(const std::string& node_path);
  // Throws zarrcore::Error when the array cannot be used.
  std::shared_ptr<Array> array(const std::string& node_path);
  // The arrays that have an object at present.
  std::vector<std::shared_ptr<Array>> live_arrays() const;
  // All arrays of a group and of the groups below it; or the one at the root.
  std::vector<std::shared_ptr<Array>> arrays_below(const std::string& group);
  // A new zarrcore::Array, made from the current metadata.
  std::shared_ptr<const zarrcore::Array> reopen_array(const std::string& node_path);

  // Notes whether a new group, dimension or array is null: GDAL leaves it out of a copy and
  // continues.
  template <typename Object>
  Object noted(Object created) {
    if (!created) has_failed_creation_ = true;
    return created;
  }
  bool has_failed_creation() const { return has_failed_creation_; }

  // These create, change and remove nodes; they throw zarrcore::Error.
  std::shared_ptr<Group> create_group(const std::string& node_path);
  std::shared_ptr<Dimension> create_dimension(const std::string& group, const std::string& name,
                                              const AxisRole& role, std::uint64_t size);
  std::shared_ptr<Array> create_array(const std::string& node_path,
                                      zarrcore::ArrayMetadata metadata);
  void change_attributes(const std::string& group,
                         const std::function<void(zarrcore::Json& attributes)>& edit);
  // Remove nodes and all below them. Every use of their objects is an error from then on.
  void erase_node(const std::string& node_path) { erase_nodes({&node_path, 1}); }
  void erase_nodes(std::span<const std::string> node_paths);
  // Removes those nodes created in this session that still exist.
  void erase_created_nodes();
  // Renames a node within its group. The objects of the node and of all below it go on under their
  // new paths.
  void rename_node(const std::string& node_path, const std::string& name);

  // An object that does not exist any more has not put everything: closing the dataset is this
  // error, and a new archive stays incomplete.
  void set_write_failure(const std::string& problem);

  // Puts everything pending, of arrays and of metadata. Tries all of it, then throws the first
  // zarrcore::Error; what could not be put stays pending. The next one after
  // set_write_failure() throws as well.
  void flush();
  // Makes the live arrays see values that others have put. A failure is reported as CE_Failure.
  void refresh() noexcept;
  // As Hierarchy::end_opening().
  void end_opening() { hierarchy_->end_opening(); }
  // As Hierarchy::has(), for what a program asks for by name: other programs may have added it.
  bool has_node(const std::string& node_path, zarrcore::NodeKind kind) const;
  zarrcore::WriterOptions writer_options() const;
  // Called after a write to `current`: when all arrays together have more pending bytes than each
  // of them may have, puts those of the others. Throws zarrcore::Error.
  void limit_pending_bytes(const Array& current);
  // Null unless debug messages were wanted when the store was opened.
  ReadReports* read_reports() const { return read_reports_.get(); }
  bool missing_chunks_are_errors() const { return options_.missing_chunks_are_errors; }
  bool assumes_longlat() const { return options_.assumes_longlat; }

 private:
  Session(std::string path, SessionOptions options);
  std::string take_write_failure();
  std::shared_ptr<Dimension> make_dimension(const DimensionKey& key, const AxisRole& role);
  void forget_objects(const std::string& node_path);
  void move_objects(const std::string& node_path, const std::string& new_path);

  bool keeps_to_calling_thread_;
  SessionOptions options_;
  std::shared_ptr<zarrcore::Context> context_;
  std::unique_ptr<ReadReports> read_reports_ = ReadReports::make();
  bool is_new_archive_ = false;
  std::atomic<bool> has_lost_data_ = false;
  std::atomic<bool> has_failed_creation_ = false;
  std::shared_ptr<const zarrcore::FileLocks> locks_;
  std::shared_ptr<PamValues> pam_values_;
  std::shared_ptr<GDALPamMultiDim> pam_;
  mutable std::mutex pam_mutex_;

  EnclosingGroups enclosing_groups_{*this};
  Pyramids pyramids_{*this};
  DimensionCatalog dimensions_{
      *this, pyramids_, enclosing_groups_,
      [this](const DimensionKey& key, const AxisRole& role) { return make_dimension(key, role); }};
  CompoundLayouts compound_layouts_;
  std::atomic<unsigned> writes_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::weak_ptr<Group>> groups_;
  std::map<std::string, std::weak_ptr<Array>> arrays_;
  std::vector<std::string> created_nodes_;
  std::string write_failure_;  // until flush() reports it; empty for none
};

}  // namespace gdal_zarr
