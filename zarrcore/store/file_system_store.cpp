#include "zarrcore/store/file_system_store.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"
#include "zarrcore/store/folder_lock.h"
#include "zarrcore/store/posix_file.h"
#include "zarrcore/store/temporary_file.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

// Opened by the first read.
class OpenFile final : public OpenValue {
  // Calls `body` with the file and its size; nullopt when the file is absent.
  template <typename Body>
  auto with_file(const Body& body) {
    using Result = decltype(body(*file_, *size_));
    return with_context([&] { return path_; },
                        [&]() -> std::optional<Result> {
                          {
                            const std::lock_guard lock(mutex_);
                            if (!file_) {
                              auto file = std::make_unique<const PosixFile>(path_.c_str(),
                                                                            PosixFile::Mode::read);
                              size_ = file->value_size(&version_);
                              file_ = std::move(file);
                            }
                          }
                          if (!size_) return std::nullopt;
                          return body(*file_, *size_);
                        });
  }

 public:
  explicit OpenFile(std::string path) : path_(std::move(path)) {}

  std::optional<Buffer> get(std::uint64_t max_size) override {
    return with_file([&](const PosixFile& file, std::uint64_t size) {
      check_value_size(size, max_size);
      return file.read(0, size);
    });
  }

  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    return with_file([&](const PosixFile& file, std::uint64_t size) {
      std::vector<Buffer> parts;
      parts.reserve(ranges.size());
      for (const ByteRange& range : ranges) {
        parts.push_back(file.read(resolve_range(range, size), range.length));
      }
      return parts;
    });
  }

  ValueVersion version() const override {
    const std::lock_guard lock(mutex_);
    return version_;
  }

 private:
  std::string path_;
  mutable std::mutex mutex_;  // guards the opening
  std::unique_ptr<const PosixFile> file_;
  std::optional<std::uint64_t> size_;
  ValueVersion version_;
};

}  // namespace

FileSystemStore::FileSystemStore(fs::path root, FileSystemOptions options)
    : root_(std::move(root)), options_(options), folders_(root_.string(), options.is_durable) {}

fs::path FileSystemStore::path_of(std::string_view key) const {
  check_key(key);
  return root_ / fs::path(key);
}

std::string FileSystemStore::file_of(std::string_view key) const {
  check_key(key);
  std::string file = folders_.root();
  if (file.back() != '/') file += '/';
  return file.append(key);
}

std::optional<Buffer> FileSystemStore::get(std::string_view key, std::uint64_t max_size) {
  return OpenFile(file_of(key)).get(max_size);
}

std::optional<std::vector<Buffer>> FileSystemStore::get_ranges(std::string_view key,
                                                               std::span<const ByteRange> ranges) {
  return OpenFile(file_of(key)).get_ranges(ranges);
}

std::shared_ptr<OpenValue> FileSystemStore::open(std::string_view key) {
  return std::make_shared<OpenFile>(file_of(key));
}

ValueVersion FileSystemStore::current_version(std::string_view key) {
  return PosixFile::version(file_of(key).c_str());
}

bool FileSystemStore::has(std::string_view key) {
  const std::string path = file_of(key);
  return with_context([&] { return path; }, [&] { return PosixFile::is_file(path.c_str()); });
}

void FileSystemStore::put_parts(std::string_view key, std::span<const ValuePart> parts) {
  put_file(key, nullptr, parts);
}

bool FileSystemStore::put_if(std::string_view key, const ValueVersion& expected,
                             std::span<const ValuePart> parts) {
  return put_file(key, &expected, parts);
}

bool FileSystemStore::put_file(std::string_view key, const ValueVersion* expected,
                               std::span<const ValuePart> parts) {
  const std::string path = file_of(key);
  const std::string folder = StoreFolders::of(path);
  return with_context([&] { return path; },
                      [&] {
                        std::shared_ptr<PosixFolder> opened = folders_.open(folder);
                        std::optional<TemporaryFile> file(opened);
                        if (!file->is_open()) {
                          opened = folders_.open_again(folder);
                          file.emplace(opened);
                          if (!file->is_open()) throw Error("its folder has been removed");
                        }
                        for (const ValuePart& part : parts)
                          file->write(part.fetch ? part.fetch().span() : part.bytes);
                        if (options_.is_durable) file->sync();
                        file->close();
                        const char* name = path.c_str() + path.rfind('/') + 1;
                        if (expected == nullptr) {
                          file->rename(name);
                        } else {
                          // Puts that replace any version may happen in any order.
                          using LockMode = PosixFolder::LockMode;
                          const bool is_any = expected->is_unknown();
                          const PosixFolder::Lock lock(
                              *opened, is_any ? LockMode::shared : LockMode::exclusive);
                          if (!is_any && opened->version(name).differs_from(*expected))
                            return false;
                          file->rename(name);
                        }
                        folders_.sync(folder);
                        return true;
                      });
}

std::unique_ptr<StoreLock> FileSystemStore::lock(std::string_view prefix) {
  const std::string folder = prefix.empty() ? folders_.root() : file_of(prefix);
  return with_context([&] { return folder; },
                      [&] {
                        folders_.make(folder);
                        return lock_folder(folder);
                      });
}

bool FileSystemStore::remove(const fs::path& path) {
  std::error_code error;
  const bool removed = fs::remove(path, error);
  if (error && error != std::errc::not_a_directory) {
    throw Error(path.string() + ": " + error.message());
  }
  if (removed) folders_.sync(StoreFolders::of(path.string()));
  return removed;
}

bool FileSystemStore::erase(std::string_view key) {
  const fs::path path = path_of(key);
  folders_.check_root();
  std::error_code error;
  return !fs::is_directory(path, error) && remove(path);
}

bool FileSystemStore::erase_if(std::string_view key, const ValueVersion& expected) {
  const std::string path = file_of(key);
  folders_.check_root();
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) {
    return !ValueVersion::absent().differs_from(expected);
  }
  const auto lock = lock_folder(StoreFolders::of(path));
  if (!expected.is_unknown() && PosixFile::version(path.c_str()).differs_from(expected)) {
    return false;
  }
  if (!fs::is_directory(path, ignored)) remove(path);
  return true;
}

DirectoryListing FileSystemStore::list(std::string_view prefix) {
  const fs::path path = prefix.empty() ? root_ : path_of(prefix);
  DirectoryListing listing;
  with_context([&] { return path.string(); },
               [&] {
                 visit_folder(path.c_str(), [&](std::string_view name, EntryKind kind) {
                   if (name.ends_with(kTemporarySuffix)) return true;
                   // A broken link is listed as a key: reading it reports the error.
                   (kind == EntryKind::other ? listing.keys : listing.prefixes).emplace_back(name);
                   return true;
                 });
               });
  std::sort(listing.keys.begin(), listing.keys.end());
  std::sort(listing.prefixes.begin(), listing.prefixes.end());
  return listing;
}

// Removes a symbolic link, not its target.
void FileSystemStore::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  const fs::path path = path_of(prefix);
  erase_all(first);
  std::error_code error;
  folders_.check_root();
  folders_.forget_open();
  if (!fs::is_directory(path, error)) return;
  fs::remove_all(path, error);
  if (error) throw Error(path.string() + ": " + error.message());
  folders_.sync(StoreFolders::of(path.string()));
}

void FileSystemStore::rename_prefix(std::string_view from, std::string_view to) {
  const fs::path source = path_of(from);
  const fs::path target = path_of(to);
  with_context([&] { return source.string(); },
               [&] {
                 std::error_code error;
                 folders_.make(StoreFolders::of(target.string()));
                 folders_.forget_open();
                 fs::rename(source, target, error);
                 if (error)
                   throw Error("cannot become " + target.string() + ": " + error.message());
                 folders_.sync(StoreFolders::of(target.string()));
                 folders_.sync(StoreFolders::of(source.string()));
               });
}

std::optional<Store::Parent> FileSystemStore::parent() const {
  std::error_code error;
  const fs::path path = fs::absolute(root_, error).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (error || !folder.has_filename()) return std::nullopt;
  return Parent{std::make_shared<FileSystemStore>(folder.parent_path(), options_),
                folder.filename().string()};
}

}  // namespace zarrcore
