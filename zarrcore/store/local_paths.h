// Paths of the local file system, in UTF-8 on all systems and with '/' between names, and what
// happens to folders. posix_paths.cpp and windows_paths.cpp implement what differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zarrcore {

std::string utf8_of(const std::filesystem::path& path);
std::filesystem::path path_of_utf8(std::string_view text);

// The folder of a file.
std::string folder_of(const std::string& path);

// Whether it exists, or is a link to a folder. False when that is unknown.
bool is_folder(const std::string& path);

// Whether something has this path, also a link that leads nowhere. False when that is unknown.
bool is_occupied(const std::string& path);

// What distinguishes a folder from others that have its path later.
struct FolderId {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t created = 0;  // in nanoseconds, where numbers are used again and the system tells it

  bool operator==(const FolderId&) const = default;
};
// Nullopt if no folder with this path is found.
std::optional<FolderId> folder_id(const std::string& path);
// Whether the file system of a folder does not change the id of an existing folder. Those of FUSE
// may number a folder anew when they have forgotten it.
bool has_lasting_ids(const std::string& path);

enum class EntryKind : std::uint8_t { folder, link_to_folder, other };

// Calls `visit` with the name of each entry of a folder, in any order, until it returns false. Does
// nothing when the folder does not exist. Throws Error when it cannot be read.
void visit_folder(const std::string& path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit);

enum class Made : std::uint8_t { now, before, impossible };
// Creates a folder; other programs may do so at the same time. Impossible when its parent does not
// exist. Throws Error.
Made make_folder(const std::string& path);
// The same with all of its parents.
void make_folders(const std::string& path);

// Renames a file, and replaces any file of the new name at once. Throws Error without the path.
void replace_file(const std::string& from, const std::string& to);

// Waits until the entries of a folder would survive a loss of power. Throws Error.
void sync_folder(const std::string& path);

// Removes a file, a link, or an empty folder; false when it does not exist. Throws Error.
bool remove_entry(const std::string& path);

// Removes a folder with all that is in it; of a symbolic link, only the link. Throws Error.
void remove_folder(const std::string& path);

// Throws Error without the path.
void rename_folder(const std::string& from, const std::string& to);

}  // namespace zarrcore
