// A repository that is open for update, as a transaction: its store, and how the changes become one
// snapshot of a branch.
//
//   begin    from the newest snapshot of the branch, or with the changes of another session
//   change   through store(), which nobody else sees
//   end      a commit; or nothing, if a write has failed or the options say so
//
// A new branch is made with the first commit, or at the end. Only the process that has opened the
// repository commits, and not one that it forks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/options.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/icechunk/virtual_chunks.h"
#include "zarrcore/icechunk/transaction.h"

namespace gdal_zarr {

enum class CommitTime : std::uint8_t { close, flush, never };

inline constexpr OptionValue kCommitTimes[] = {{"CLOSE"}, {"FLUSH"}, {"NO"}};
inline constexpr OptionValue kIcechunkFormats[] = {{"2"}, {"1"}};

// The options of commits, which are open options and creation options.
namespace rows {

constexpr Option new_branch(unsigned scope) {
  return text("NEW_BRANCH", scope, "",
              "Of an Icechunk repository: a branch that is made of the version that is opened, and "
              "written to");
}
constexpr Option commit_time(unsigned scope) {
  return choice("COMMIT", scope, kCommitTimes, "CLOSE",
                "When changes of an Icechunk repository are committed: when the dataset is closed, "
                "also at each FlushCache() (FLUSH), or never (NO)");
}
constexpr Option commit_message(unsigned scope) {
  return text("COMMIT_MESSAGE", scope, "",
              "Message of the commit to an Icechunk repository; by default the program and what it "
              "did");
}
constexpr Option commit_properties(unsigned scope) {
  return text("COMMIT_PROPERTIES", scope, "",
              "Properties of the commit to an Icechunk repository, as a JSON object");
}

}  // namespace rows

struct IcechunkWriteOptions {
  CommitTime commit_time = CommitTime::close;
  zarrcore::icechunk::CommitOptions commit = {};  // without a message, a default is made
  std::string new_branch = {};
  std::string session = {};  // the text or the file of changes, see Transaction::changes()
  // Of a repository that is made if there is none; empty if there must be one.
  std::optional<int> new_format = {};
  bool is_virtual = false;  // whether chunks of new arrays may be parts of other files
};

// Throws zarrcore::Error for properties that are not a JSON object.
IcechunkWriteOptions icechunk_write_options(const OptionValues& options);

// Throws zarrcore::Error if `options` promise what only an Icechunk repository that is open for
// update does: `why` says that it is not one. Warns of options without effect.
void refuse_write_options(const OptionValues& options, const std::string& why, bool is_writable);

// "create a, b", or "" without paths. Several nodes are named without those that `is_minor` is true
// for.
std::string name_nodes(
    const char* verb, const std::vector<std::string>& paths,
    const std::function<bool(const std::string& path)>& is_minor = [](const auto&) {
      return false;
    });

// The message of a commit that has none, without the program: "create a, b, delete c". Several
// nodes are named without those that `is_minor` is true for, and without what is below a created
// one.
std::string describe_changes(const std::vector<std::string>& created,
                             const std::vector<std::string>& erased,
                             const std::function<bool(const std::string& path)>& is_minor);

// Safe to use from several threads at once.
class IcechunkWriter final : public ReferenceTarget {
 public:
  // Throws zarrcore::Error if the version that `path` names cannot be changed.
  IcechunkWriter(const IcechunkPath& path, IcechunkWriteOptions options);

  const std::shared_ptr<zarrcore::icechunk::Transaction>& store() const { return transaction_; }
  // As it is now.
  std::shared_ptr<const zarrcore::icechunk::Repository> repository() const;

  // The root group, which is all that there is, is a change only together with others.
  void ignore_root();
  void put_reference(std::string_view key, Reference reference) override;

  // From now on, nothing is committed: a write has failed, or the changes are not wanted.
  void set_failed() noexcept;
  void roll_back();

  // Transaction::changes(), for another dataset.
  std::string changes();

  // Called after a flush, after a copy, and when the dataset is closed: commits the changes if the
  // options say so. `summary` says what has been done. Throws zarrcore::Error if a commit fails, or
  // a write has failed before. At the end, changes that are not committed are dropped, with a
  // warning unless another dataset has them.
  void end_flush(const std::string& summary);
  void end_copy(const std::string& summary);
  void end(const std::string& summary);

  // Carries out a command, an item of the metadata domain ICECHUNK that is set; see
  // multidim/group.h. Throws zarrcore::Error, also if there is no such command.
  void run(const std::string& command, const std::string& value, const std::string& summary);

 private:
  bool has_changes() const;
  bool is_in_own_process() const;
  void commit(const std::string& message, const std::string& summary);
  std::string save_changes();

  IcechunkPath path_;
  IcechunkWriteOptions options_;
  std::shared_ptr<zarrcore::Store> files_;
  std::shared_ptr<zarrcore::icechunk::Transaction> transaction_;
  std::string ignored_root_;  // its document
  VirtualSources sources_;
  const long process_;
  std::atomic<bool> needs_branch_ = false;  // options_.new_branch does not exist yet
  // A file of a session, and the hash of the changes that are in it.
  std::pair<std::string, std::size_t> saved_;
  std::uint64_t handed_over_ = 0;  // Transaction::changes_made() at the last session
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> is_rolled_back_ = false;
};

}  // namespace gdal_zarr
