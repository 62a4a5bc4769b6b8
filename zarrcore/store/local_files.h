// The local file system: paths, folders, open files, the temporary files that values are written to
// before they are renamed, and the folders of a store. Paths are in UTF-8 on all systems, with '/'
// between names. Functions throw Error, without the path where the caller adds it. posix_files.cpp
// and windows_files.cpp implement what differs between systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class LockWait;  // locks.h
class StoreFolders;

std::string utf8_of(const std::filesystem::path& path);
std::filesystem::path path_of_utf8(std::string_view text);

// The folder of a file.
std::string folder_of(const std::string& path);

// Returns true if it exists, or is a link to a folder. False when that is unknown.
bool is_folder(const std::string& path);

// Returns true if something has this path, also a link that leads nowhere. False when that is
// unknown.
bool is_occupied(const std::string& path);

// Distinguishes a folder from later folders at the same path.
struct FolderId {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t created = 0;  // in nanoseconds, if the system states it and reuses numbers

  bool operator==(const FolderId&) const = default;
};
// Nullopt if no folder with this path is found.
std::optional<FolderId> folder_id(const std::string& path);
// Returns true if the file system of a folder does not change the id of an existing folder. FUSE
// file systems may assign a new id to a folder that they have forgotten.
bool has_lasting_ids(const std::string& path);
#ifdef __linux__
// Returns true if a file system is changed by this system alone, whose kernel then reports all
// changes.
bool is_changed_here_alone(const std::string& path);
#endif

enum class EntryKind : std::uint8_t { folder, link_to_folder, other };

struct FolderEntry {
  std::string_view name;
  EntryKind kind;
  // Its size in bytes, or that of the file that a link leads to; nullopt if it is no file. May take
  // a call of the system.
  std::function<std::optional<std::uint64_t>()> size;
};

// Calls `visit` with each entry of a folder, in any order, until it returns false. Does nothing
// when the folder does not exist. Throws Error when it cannot be read.
void visit_folder(const std::string& path,
                  const std::function<bool(const FolderEntry& entry)>& visit);

enum class FolderCreation : std::uint8_t { created, existing, impossible };
// Creates a folder; other programs may do so at the same time. Impossible when its parent does not
// exist. Throws Error.
FolderCreation make_folder(const std::string& path);
// The same with all of its parents.
void make_folders(const std::string& path);

// Renames a file, and replaces any file of the new name at once. Throws Error without the path.
void replace_file(const std::string& from, const std::string& to);

// Gives a file the permissions of another one, and its owner and group as far as this process may.
// Throws Error.
void adopt_owner(const std::string& path, const std::string& from);

// Waits until the entries of a folder would survive a loss of power. Throws Error.
void sync_folder(const std::string& path);

// Waits until all that has been written to the file system of a folder would survive a loss of
// power. Throws Error. Where kSyncsTogether is false, the system cannot do so.
#ifdef __linux__
inline constexpr bool kSyncsTogether = true;
#else
inline constexpr bool kSyncsTogether = false;
#endif
void sync_file_system(const std::string& folder);

// Removes a file, a link, or an empty folder; false when it does not exist. Throws Error.
bool remove_entry(const std::string& path);

// Removes a folder with all that is in it; of a symbolic link, only the link. Throws Error.
void remove_folder(const std::string& path);

// Throws Error without the path.
void rename_folder(const std::string& from, const std::string& to);
// Exchanges the names of two folders in a single operation; false if the system or their file
// system cannot, or they do not both exist.
bool exchange_folders(const std::string& first, const std::string& second) noexcept;

// An open file that closes itself. Other programs can replace, rename and remove it meanwhile, on
// Windows if its file system can do so: NTFS can; network drives and memory cards often cannot.
class LocalFile {
 public:
  enum class Mode : std::uint8_t {
    read,     // a file that may be absent, or may turn out not to be a file
    create,   // a new file, for writing; locked against is_abandoned()
    scratch,  // a new file, for writing, that can be removed while it is open
    lock,     // a file for lock(), created if it is absent
  };

  // Throws Error when the file cannot be opened. In Mode::read the file may be absent, and in
  // Mode::create its folder: see is_open().
  LocalFile(const std::string& path, Mode mode);
  ~LocalFile();
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  bool is_open() const { return handle_ != kNoHandle; }

  // How many files the system lets this process open.
  static std::size_t max_open_files();

  // Returns true if all file systems can replace an open file.
  static bool can_be_replaced();

  // Returns true if this path exists and is not a folder. Throws Error when that is unknown.
  static bool is_file(const std::string& path);

  // Its size in bytes, and its version; nullopt when it is absent or a folder.
  std::optional<std::uint64_t> value_size(ValueVersion* version = nullptr) const;

  // The version that the file at a path has now.
  static ValueVersion version(const std::string& path);

  // The file must have all of these bytes.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

  void write(ByteSpan bytes) const;
  // Waits until the written bytes would survive a loss of power.
  void sync() const;
  // Throws Error: some file systems report a full disk only now.
  void close();

  // Takes the lock of the file until this object is destroyed. If another process or LocalFile has
  // it, the thread waits. It is a lock on the whole file: with fcntl, or LockFileEx on Windows.
  // Throws LockTimeout.
  void lock(LockWait& wait);

  // Returns true if no process has the file open in Mode::create, and it has not been written to
  // for more than `seconds`. With `removes`, such a file is removed; false if that fails.
  static bool is_abandoned(const std::string& path, std::int64_t seconds, bool removes) noexcept;

 private:
  // A descriptor, or a HANDLE of Windows.
  using SystemHandle = std::intptr_t;
  static constexpr SystemHandle kNoHandle = -1;

  // Returns false if another process or LocalFile has the lock.
  bool try_lock();
  // See lock_holder().
  std::string holder() const;

  SystemHandle handle_;
};

// A file of a store that is read as one version: it stays open, so replacing it does not affect
// reads. A process has a limited number of open files, so only some of them stay open, those that
// were opened last. The others are opened again for their next read, and then must have the version
// that they had. Opened by the first read.
class OpenFile final : public OpenValue {
 public:
  // If `folders` is not null, a file is only absent where its folder exists.
  OpenFile(std::string path, const StoreFolders* folders);
  ~OpenFile() override;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::optional<Buffer> get(std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override;
  ValueVersion version() const override;
  void release() override;

  // Closes the file that has been open for the longest time, after reads of it that have begun.
  // Returns false if no file is open.
  static bool close_oldest();

 private:
  class OpenFiles;

  // Null when the file is absent.
  std::shared_ptr<const LocalFile> file();

  std::string path_;
  const StoreFolders* folders_;
  mutable std::mutex mutex_;  // guards the opening
  std::shared_ptr<const LocalFile> file_;
  bool has_been_open_ = false;
  bool is_released_ = false;
  std::optional<std::uint64_t> size_;
  ValueVersion version_;
  std::optional<std::list<OpenFile*>::iterator> place_;  // in OpenFiles, which guards it
};

// The version of a file with these properties: a number that no other existing file has, its size
// in bytes, and, in nanoseconds since 1970, the time of its last change, which programs can set,
// and the time of the last change of any of its properties, which they cannot.
ValueVersion file_version(std::uint64_t number, std::uint64_t size, std::int64_t changed,
                          std::int64_t properties_changed);

// The file that a value is written to before it is renamed: a hidden file in the folder of its
// target with the name make_temporary_name(). A killed process leaves the file in place. It is
// never listed and does no harm; later writers remove it.
class TemporaryFile {
 public:
  // Throws Error if the file exists, but not when its folder does not: see is_open().
  explicit TemporaryFile(std::string path);
  // Removes the file unless it has been renamed.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  void write(ByteSpan bytes) const { file_.write(bytes); }
  void sync() const { file_.sync(); }
  void close() { file_.close(); }
  // Renames to a path in the same folder, which may be its own: then it stays. Fails if the folder
  // no longer exists or has been replaced.
  void rename(const std::string& path);

 private:
  std::string path_;
  LocalFile file_;
  bool is_renamed_ = false;
};

bool is_temporary_file(std::string_view name);
// The name of a temporary file that no other process has, also in another container or machine:
// `.….zarr-partial`.
std::string make_temporary_name();

// Removes the file of a writer that has ended. A writer holds a lock on its file. If the writer may
// be on another machine, where the lock may not work, the file must be an hour old.
void remove_abandoned_file(const std::string& path) noexcept;
// Returns true if it is such a file, and with `removes`, if it has been removed.
ZARRCORE_API bool is_abandoned_file(const std::string& path, bool removes) noexcept;
// The same for all files beside `path` whose names are its name followed by a temporary file's.
// Throws Error when the folder cannot be read.
void remove_abandoned_files(const std::string& path);

// The folders of a store in the file system. Folders below the root are created when they are
// needed; the root is created once. The folders of the store and of its nodes are known by their
// ids: when another program removes, renames or replaces one of them, changes in it are errors, and
// it is not created again. Safe to use from several threads.
class StoreFolders {
 public:
  // The root need not exist. With `is_durable`, it survives a loss of power once it is made.
  StoreFolders(std::string root, bool is_durable);

  const std::string& root() const { return root_; }

  // The id of a node's folder; nullopt if it is known already or the folder does not exist.
  std::optional<FolderId> unknown_id(const std::string& folder) const;
  // From now on, the folder of a node must have this id.
  void register_folder(const std::string& folder, const std::optional<FolderId>& id);
  // Registers a folder that is not known. Throws Error if another one has replaced a known one.
  void check_or_register(const std::string& folder);
  // Throws Error if the known folder at a path, or the nearest one around it, is no longer there.
  void check(const std::string& path) const;
  // Throws Error unless a folder exists at the path of that known folder. A value that is missing
  // in a folder that was moved may exist elsewhere.
  void check_exists(const std::string& path) const;

  // Creates a folder below the root, and its parents. Throws Error as check() does.
  void make(const std::string& folder);
  // The first time, removes files that killed writers have left in a folder, unless it has too many
  // files.
  void remove_leftovers_once(const std::string& folder);

  // This program removes a folder.
  void forget(const std::string& folder);
  // This program has renamed a folder.
  void rename(const std::string& from, const std::string& to);

  // Removes files left by killed writers, from the root down, in as many folders as can be checked
  // quickly.
  void remove_leftovers() noexcept;

  // Waits until changes of the entries of a folder would survive a loss of power, and the folders
  // around it as well. Throws Error.
  void sync(const std::string& folder);

 private:
  struct Known {
    std::string folder;
    FolderId id;
  };

  struct Device {
    std::uint64_t number;
    bool has_lasting_ids;
  };

  static bool is_at_its_path(const Known& known);
  [[noreturn]] void fail_without(Known folder) const;
  // The known folder at a path, or the nearest one around it.
  std::optional<Known> find_known(std::string folder) const;
  void make_root();
  void make_below(const std::string& folder);

  std::string root_;
  bool is_durable_;

  mutable ForkMutex mutex_;
  std::optional<Device> device_;                     // of the last folder that became known
  std::unordered_map<std::string, FolderId> known_;  // the root, since it exists, and nodes
  std::unordered_set<std::string> entered_;
  std::unordered_set<std::string> durable_;  // whose entry would survive a loss of power
};

}  // namespace zarrcore
