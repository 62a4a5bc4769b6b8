// Reading and writing files through GDAL's virtual file systems, where an error is not mistaken for
// an absent file. The functions throw zarrcore::Error, to which the caller adds the path.
#pragma once

#include <cpl_vsi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

struct CloseFile {
  void operator()(VSILFILE* file) const { VSIFCloseL(file); }
};
using File = std::unique_ptr<VSILFILE, CloseFile>;

struct CloseFolder {
  void operator()(VSIDIR* folder) const { VSICloseDir(folder); }
};
using FolderListing = std::unique_ptr<VSIDIR, CloseFolder>;

// The names in a folder, and in those below it down to a depth; -1 for all. Null if it cannot be
// listed.
FolderListing open_listing(const std::string& folder, int depth);

// For a server's answer that neither gives a file nor reports it as absent: throws
// zarrcore::AccessDenied, or returns when ZARR_FORBIDDEN_IS_MISSING treats such a file as absent.
void check_denied_is_absent(const std::string& path, const std::string& problem);

// Opens for reading. Null when the file is absent. Throws zarrcore::AccessDenied. A network file
// system fetches the first `wanted` bytes in the request that opens the file, up to a megabyte.
File open_file(const std::string& path, std::uint64_t wanted = 0);

// Return true if the path exists: at all, as a file, as a folder.
bool path_exists(const std::string& path);
bool is_file(const std::string& path);
bool is_folder(const std::string& path);

// Throws unless the parent folder of a local path exists. GDAL's file systems create folders
// themselves or have none.
void check_parent_exists(const std::string& path);

// The version of a file, as far as its size and time show it: for caches of data read from it.
struct FileVersion {
  std::uint64_t size = 0;
  std::int64_t seconds = 0;  // when it was modified

  bool operator==(const FileVersion&) const = default;

  // Returns true if another content may have the same version: files may be written twice within
  // the resolution of their times.
  bool is_ambiguous() const;
};

// For calls about files in local archives: GDAL's cache of an archive's directory is not safe while
// the archive changes. Nothing is locked for other paths.
std::unique_lock<std::recursive_mutex> lock_archive(const std::string& path);

// Nullopt if there is no such file.
std::optional<FileVersion> find_file_version(const std::string& path);

// In bytes.
std::uint64_t file_size(VSILFILE* file);

zarrcore::Buffer read_bytes(VSILFILE* file, std::uint64_t offset, std::uint64_t length);

// Returns one buffer for each range; all ranges must lie inside the file. Some file systems of
// programs cannot read several ranges at once: with `one_by_one`, each range is read separately.
std::vector<zarrcore::Buffer> read_ranges(VSILFILE* file,
                                          std::span<const zarrcore::ByteRange> ranges,
                                          bool one_by_one = false);

// A new path for a file that becomes that at `path` when it is renamed: in the same folder, and
// never listed.
std::string partial_path(const std::string& path);

// Creates or replaces a file. Where files appear when they are closed, as in object stores, a
// failure leaves the old file.
void write_file(const std::string& path, std::span<const zarrcore::ValuePart> parts);

// The file cannot be created, or its disk is full.
class NoTemporaryFile : public zarrcore::Error {
 public:
  using Error::Error;
};

// A file for data that does not fit the memory for it. Removed when it is closed, and where the
// system allows it also when the program is killed.
class TemporaryFile {
 public:
  // In GDAL's folder for temporary files, which CPL_TMPDIR names, or else in `folder`, if it is not
  // empty. Throws NoTemporaryFile, also when the disk has no room for `bytes`.
  TemporaryFile(const std::string& folder, std::uint64_t bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Returns the offset of the bytes. Throws NoTemporaryFile.
  std::uint64_t append(std::span<const std::byte> bytes);
  // Throws zarrcore::Error.
  void read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  std::string path_;
  File file_;
  std::uint64_t end_ = 0;
};

}  // namespace gdal_zarr
