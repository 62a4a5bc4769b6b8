// All that the file `repo` of a repository of format 2 says, for changing it: branches, tags, all
// snapshots, and the log of what has changed. Readers (repository.cpp) look only for what they
// need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/icechunk/snapshot.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// The ids of the fields of the root.
namespace info_field {
inline constexpr unsigned kVersion = 0;
inline constexpr unsigned kTags = 1;
inline constexpr unsigned kBranches = 2;
inline constexpr unsigned kDeletedTags = 3;
inline constexpr unsigned kSnapshots = 4;
inline constexpr unsigned kStatus = 5;
inline constexpr unsigned kProperties = 6;
inline constexpr unsigned kUpdates = 7;
inline constexpr unsigned kOlderUpdates = 8;
inline constexpr unsigned kConfig = 9;
inline constexpr unsigned kEnabled = 10;
inline constexpr unsigned kDisabled = 11;
inline constexpr unsigned kExtra = 12;
}  // namespace info_field

// What happened to a repository, as the log numbers it.
enum class UpdateType : std::uint8_t {
  initialized = 1,
  config_changed = 3,
  tag_created = 5,
  tag_deleted = 6,
  branch_created = 7,
  branch_deleted = 8,
  branch_reset = 9,
  commit = 10,
};

// An entry of the log.
struct Update {
  struct Status {
    std::uint8_t availability = 0;
    std::uint64_t set_at = 0;
    std::optional<std::string> reason;
  };
  using Field = std::variant<std::string, ObjectId, std::uint8_t, std::uint16_t, Status>;

  std::uint8_t type = 0;
  std::uint64_t time = 0;  // in microseconds since 1970
  std::optional<std::string>
      backup;                 // the file in overwritten/ from before the update that follows
  std::vector<Field> fields;  // of the type
};

struct RepositoryInfo {
  // A new repository with one snapshot.
  RepositoryInfo(const ObjectId& snapshot, const SnapshotRecord& record);
  // `file` is the one called `repo`. Throws Error when it is damaged, or says something that could
  // not be written again.
  explicit RepositoryInfo(ByteSpan file);
  // Of the repository that `files` hold. Throws Error when it has been removed.
  static RepositoryInfo read(Store& files);

  // Throws Error unless the repository is online.
  void check_online() const;
  // Throws Error if a feature is disabled.
  void check_enabled(std::uint16_t feature, std::string_view what) const;
  bool is_enabled(std::uint16_t feature) const;

  // Adds an entry to the log. `backup` is the name of a copy of the file as it was before, in
  // overwritten/.
  void note(UpdateType type, std::vector<Update::Field> fields, const std::string& backup);

  Buffer file() const;

  std::map<std::string, ObjectId> tags;
  std::map<std::string, ObjectId> branches;
  std::vector<std::string> deleted_tags;  // sorted
  std::map<ObjectId, SnapshotRecord> snapshots;
  Update::Status status;
  std::vector<Property> properties;
  std::vector<Update> updates;  // newest first
  std::optional<std::string> older_updates;
  std::optional<std::string> config;
  std::vector<std::uint16_t> enabled_features;
  std::vector<std::uint16_t> disabled_features;
  std::optional<std::string> extra;
};

inline constexpr std::uint16_t kMoveNode = 3;
inline constexpr std::uint16_t kCreateTag = 4;
inline constexpr std::uint16_t kDeleteTag = 5;

// The time for a new entry after one of `last`: later than that. Throws Error if that is more than
// ten minutes ahead of the clock. In microseconds since 1970.
std::uint64_t time_after(std::uint64_t last);

}  // namespace zarrcore::icechunk
