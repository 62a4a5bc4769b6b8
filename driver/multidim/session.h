// One opened store: its hierarchy, and the live GDAL objects for its nodes, so that a node is the
// same object however it is reached. Groups, arrays and dimensions share ownership of the session
// and may outlive the dataset; the session refers to them weakly.
#pragma once

#include <gdal_pam.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/sidecar_file.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/icechunk/icechunk_writer.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

class Array;
class Group;
class Session;

// Debug messages (CPL_DEBUG=ZARR) about the cost of reading: one for each read of a dataset, and
// their sum when it is closed.
class ReadReports {
 public:
  // Null unless debug messages are enabled now.
  static std::unique_ptr<ReadReports> make();

  // Calls `read`, which uses `options`, and raises the message of one read then, also if it throws.
  // `verb` and `array` are for the message.
  void run(const zarrcore::Store& store, const char* verb, const std::string& array,
           const zarrcore::Selection& selection, zarrcore::ReadOptions& options,
           const std::function<void()>& read);

  // The message for closing. `store` is null if the dataset could not be opened.
  void report_sum(const std::string& path, const zarrcore::Store* store) const noexcept;

 private:
  // Says once if most requests of the store are for missing chunks, which listing folders saves.
  void propose_listing(const zarrcore::Store& store);

  zarrcore::ReadStatistics sum_;
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<bool> proposed_listing_{false};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

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
  bool assumes_longlat = false;                           // see conventions/evidence.h
  std::optional<zarrcore::FloatFormat> long_double = {};  // see zarrcore/hierarchy/hierarchy.h
  bool stores_empty_chunks = false;                       // chunks that contain only the fill value
  // Among references to a source: whether arrays are copied whose blocks cannot be referred to.
  bool copies_blocks = false;
  ClassicDatasetFactory make_classic_dataset = nullptr;
  IcechunkWriteOptions icechunk = {};  // for a repository, if it is writable
};

// Information from before the store is opened, which saves requests.
struct StoreHints {
  std::optional<ProbedFolder> folder = {};
  std::string array = {};  // the path of the array that will be opened
};

// An array as a level of a pyramid, in the store whose group describes the pyramid.
struct PyramidMember {
  std::shared_ptr<Session> session;
  std::string array_path;
  PyramidLevel level;
};

class Session : public StoredNodes, public std::enable_shared_from_this<Session> {
 public:
  // Throws zarrcore::Error when `path` is not a Zarr store.
  static std::shared_ptr<Session> open(const std::string& path, const SessionOptions& options,
                                       const StoreHints& hints = {});

  // Creates a store at `path`, where nothing exists yet; the session is writable. With
  // `options.use_consolidated`, its consolidated metadata is kept in sync. `store` is the store at
  // the path, if it has been opened already. Throws zarrcore::Error.
  static std::shared_ptr<Session> create(const std::string& path, const zarrcore::Format& format,
                                         const SessionOptions& options,
                                         std::shared_ptr<zarrcore::Store> store = nullptr);

  // Flushes pending changes, as end_changes() does; a failure is reported as CE_Failure.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool is_writable() const { return options_.is_writable; }
  // Returns true if the store is being written into an archive, which each flush completes.
  bool is_archive() const { return is_archive_; }
  // The store, if it is being made of references to a source; else null.
  ReferenceTarget* reference_target() const;
  bool copies_blocks() const { return options_.copies_blocks; }
  // Throws zarrcore::Error when the store was opened for reading.
  zarrcore::Hierarchy& writable_hierarchy();
  // The format of the store. Throws zarrcore::Error when new arrays cannot be written in it.
  const zarrcore::Format& new_array_format() const;

  DimensionCatalog& dimensions() { return dimensions_; }
  // GDAL's auxiliary metadata of arrays, such as statistics, in a file beside the store.
  const std::shared_ptr<GDALPamMultiDim>& pam() const { return pam_; }
  // GDAL does not lock it.
  std::mutex& pam_mutex() const { return pam_mutex_; }
  PamValues& pam_values() const { return *pam_values_; }
  bool has_pam() const { return pam_values_->has_file(); }
  // Permits prefetching, unless GDAL makes the requests: it does not cancel them, so that closing
  // would wait for them.
  void allow_read_ahead(zarrcore::ReadOptions& options) const;
  // For a call, whose state must outlive the use of the options.
  zarrcore::ReadOptions read_options(CallerState& caller) const;
  zarrcore::WriteOptions write_options(CallerState& caller) const;
  // The number of threads that a call may use: GDAL_NUM_THREADS, or `wanted` if it is not null. One
  // if the store's file system may only be used on the calling thread.
  std::size_t thread_count(const char* wanted = nullptr) const {
    return keeps_to_calling_thread_ ? 1 : gdal_zarr::thread_count(wanted);
  }
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
  // The same for an array that may hold coordinates of others: null, after a warning, if it cannot
  // be used.
  std::shared_ptr<Array> coordinate_array(const std::string& node_path);
  // The arrays that have an object at present.
  std::vector<std::shared_ptr<Array>> live_arrays() const;
  // All arrays of a group and of the groups below it; or the array at the root.
  std::vector<std::shared_ptr<Array>> arrays_below(const std::string& group);
  // Opens a new zarrcore::Array with the current metadata.
  std::shared_ptr<const zarrcore::Array> reopen_array(const std::string& node_path) {
    return hierarchy_->open_array(node_path, context_);
  }

  // The groups above the store (session_nodes.cpp).

  // The session whose root is the group in the folder above, opened for reading when it is first
  // needed; null if there is no such group, or if looking for it would cost too much.
  std::shared_ptr<Session> parent() const;
  // The variable that metadata_above() finds; null if there is none.
  std::shared_ptr<Array> variable_above(const std::string& group, const std::string& name,
                                        std::uint64_t size) const;
  std::shared_ptr<const zarrcore::ArrayMetadata> metadata_above(const std::string& group,
                                                                const std::string& name,
                                                                std::uint64_t size) const override;
  // The attributes of the array `name` in the nearest group above that has it; null if none has.
  std::shared_ptr<const zarrcore::Json> attributes_above(const std::string& name) const;
  // The pyramid to which an array of the store belongs, as the nearest group describes it.
  std::optional<PyramidMember> find_pyramid(const std::string& array_path) const;
  std::optional<PyramidLevel> pyramid_level(const std::string& array_path) const override;
  // The path of the store's root group in the NCZarr dataset that it is a part of, as
  // "group/below"; for an array, the path of its group. Empty if it is not part of one.
  std::string nczarr_path() const;
  // The session of the whole NCZarr dataset; null if nczarr_path() is empty.
  std::shared_ptr<Session> nczarr_root() const;

  // The type of an array of structures: the type that a program gave when it created the array,
  // until the session ends. Zarr stores neither its padding nor its alignment. Empty if no type was
  // given, or if another array is now stored at that path.
  std::optional<GDALExtendedDataType> find_compound(const zarrcore::Array& array) const;
  void set_compound(const zarrcore::Array& array, const GDALExtendedDataType& type);

  // These create, change and remove nodes; they throw zarrcore::Error.
  std::shared_ptr<Group> create_group(const std::string& node_path);
  // The next create_group() returns this group, which exists.
  void reuse_group(const std::string& node_path) { reused_groups_.insert(node_path); }
  // The next copy to the array finds that it is equal already, and changes nothing.
  void skip_copy(const std::string& node_path) { equal_arrays_.insert(node_path); }
  bool skips_copy(const std::string& node_path) const { return equal_arrays_.contains(node_path); }
  bool end_skipping(const std::string& node_path) { return equal_arrays_.erase(node_path) != 0; }
  std::shared_ptr<Array> create_array(const std::string& node_path,
                                      zarrcore::ArrayMetadata metadata);
  void change_attributes(const std::string& group,
                         const std::function<void(zarrcore::Json& attributes)>& edit);
  // Remove nodes and all below them. Every use of their objects is an error from then on.
  void erase_node(const std::string& node_path) { erase_nodes({&node_path, 1}); }
  void erase_nodes(std::span<const std::string> node_paths);
  // Removes those nodes created in this session that still exist.
  void erase_created_nodes();
  // Renames a node within its group. The objects of the node and of all nodes below it stay valid,
  // with their new paths.
  void rename_node(const std::string& node_path, const std::string& name);
  // Exchanges the names of two nodes; see Hierarchy::exchange_nodes(). Every use of their objects
  // is an error from then on.
  bool exchange_nodes(const std::string& node_path, const std::string& other);

  // An object that does not exist any more has not put everything: closing the dataset is this
  // error, and a new archive stays incomplete.
  void set_write_failure(const std::string& problem);

  // The repository whose branch gets the changes; null if the store is another one.
  IcechunkWriter* icechunk() const { return icechunk_.get(); }
  // For Icechunk repositories: see IcechunkWriter. In other stores these do nothing.
  void set_failed() noexcept {
    if (icechunk_) icechunk_->set_failed();
  }
  void roll_back() {
    if (icechunk_) icechunk_->roll_back();
  }
  void commit_flushed();
  // `what` has been done, in place of what nodes show.
  void commit_copy(const std::string& what = {});
  void end_changes();
  // Null if there are none. The text lives until the next call.
  const char* icechunk_changes();
  void run_icechunk_command(const std::string& command, const std::string& value);

  // Puts everything pending, of arrays and of metadata. Tries all of it, then throws the first
  // zarrcore::Error; what could not be put stays pending. The next one after
  // set_write_failure() throws as well.
  void flush();
  // Makes the live arrays see values and attributes that others have put. A failure is reported as
  // CE_Failure.
  void refresh() noexcept;
  // Hierarchy::refresh_node() for several nodes, whose documents are requested at once.
  void refresh_nodes(const std::vector<std::string>& paths) const;
  // See Hierarchy::end_opening().
  void end_opening() { hierarchy_->end_opening(); }
  // See Hierarchy::has(). For nodes that a program asks for by name: other programs may have added
  // them.
  bool has_node(const std::string& node_path, zarrcore::NodeKind kind) const;
  zarrcore::WriterOptions writer_options() const;
  // Called after a write to `current`. If all arrays together have more pending bytes than the
  // limit for one array, puts the pending bytes of the other arrays. Throws zarrcore::Error.
  void limit_pending_bytes(const Array& current);
  // Calls `read`; through ReadReports::run() if debug messages were enabled when the store was
  // opened.
  template <typename Read>
  void report_read(const char* verb, const std::string& array, const zarrcore::Selection& selection,
                   zarrcore::ReadOptions& options, const Read& read) const {
    if (!read_reports_) return read();
    read_reports_->run(*hierarchy_->store(), verb, array, selection, options, read);
  }
  bool missing_chunks_are_errors() const { return options_.missing_chunks_are_errors; }
  bool assumes_longlat() const { return options_.assumes_longlat; }

 private:
  Session(std::string path, SessionOptions options);
  std::shared_ptr<Array> create_single_array(const std::string& node_path,
                                             const zarrcore::ArrayMetadata& metadata);
  std::unique_ptr<zarrcore::Hierarchy> begin_changes(zarrcore::HierarchyOptions options);
  // Calls `action` with the changes, for the message of a commit; what that commits is not in later
  // ones.
  void run_with_summary(const std::function<void(const std::string& summary)>& action);
  std::string take_write_failure();
  void forget_objects(const std::string& node_path);
  void move_objects(const std::string& node_path, const std::string& new_path);
  // Empty if nothing above is worth looking at.
  std::string parent_folder() const;
  std::shared_ptr<Session> open_parent() const;
  // The nearest session above that has the array, of this length if one is given.
  std::pair<std::shared_ptr<Session>, std::shared_ptr<const zarrcore::ArrayMetadata>> find_above(
      const std::string& group, const std::string& name, std::optional<std::uint64_t> size) const;

  bool keeps_to_calling_thread_;
  SessionOptions options_;
  std::shared_ptr<zarrcore::Context> context_;
  std::unique_ptr<IcechunkWriter> icechunk_;
  std::string icechunk_changes_;
  std::unique_ptr<ReadReports> read_reports_ = ReadReports::make();
  bool is_archive_ = false;
  std::atomic<bool> has_lost_data_ = false;
  std::shared_ptr<const zarrcore::FileLocks> locks_;
  std::shared_ptr<PamValues> pam_values_;
  std::shared_ptr<GDALPamMultiDim> pam_;
  mutable std::mutex pam_mutex_;

  mutable std::mutex parent_mutex_;
  mutable std::optional<std::shared_ptr<Session>> parent_;
  DimensionCatalog dimensions_{*this};
  std::atomic<unsigned> writes_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::weak_ptr<Group>> groups_;
  std::map<std::string, std::weak_ptr<Array>> arrays_;
  std::vector<std::string> created_nodes_;
  std::set<std::string> reused_groups_;
  std::set<std::string> equal_arrays_;
  std::vector<std::string> erased_nodes_;
  // By node path: the stored type, and the given one.
  std::map<std::string, std::pair<zarrcore::DataType, GDALExtendedDataType>> compounds_;
  std::string write_failure_;  // until flush() reports it; empty for none
};

}  // namespace gdal_zarr
