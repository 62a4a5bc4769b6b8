#include "zarrcore/store/file_system_store.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"
#include "zarrcore/store/folder_lock.h"
#include "zarrcore/store/local_file.h"
#include "zarrcore/store/local_paths.h"
#include "zarrcore/store/temporary_file.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

// Small parts are written together: a call of the system takes longer than copying them.
void write_parts(const TemporaryFile& file, std::span<const ValuePart> parts) {
  constexpr std::size_t kSmall = 16 << 10;
  constexpr std::size_t kTogether = 256 << 10;
  std::vector<std::byte> small;
  const auto write_small = [&] {
    file.write(small);
    small.clear();
  };
  for (const ValuePart& part : parts) {
    const Buffer fetched = part.fetch ? part.fetch() : Buffer();
    const ByteSpan bytes = part.fetch ? fetched.span() : part.bytes;
    const bool is_small = parts.size() > 1 && bytes.size() <= kSmall;
    if (!small.empty() && (!is_small || small.size() + bytes.size() > kTogether)) write_small();
    if (is_small) {
      small.insert(small.end(), bytes.begin(), bytes.end());
    } else {
      file.write(bytes);
    }
  }
  write_small();
}

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
                            if (is_released_) throw ValueChanged();
                            if (!file_) {
                              auto file =
                                  std::make_unique<const LocalFile>(path_, LocalFile::Mode::read);
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
    return with_file([&](const LocalFile& file, std::uint64_t size) {
      check_value_size(size, max_size);
      return file.read(0, size);
    });
  }

  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
    return with_file([&](const LocalFile& file, std::uint64_t size) {
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

  // A file that stays open keeps its number, which distinguishes its version from later ones.
  void release() override {
    if (LocalFile::can_be_replaced()) return;
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    file_.reset();
  }

 private:
  std::string path_;
  mutable std::mutex mutex_;  // guards the opening
  std::unique_ptr<const LocalFile> file_;
  std::optional<std::uint64_t> size_;
  ValueVersion version_;
  bool is_released_ = false;
};

}  // namespace

FileSystemStore::FileSystemStore(const fs::path& root, FileSystemOptions options)
    : options_(options),
      patience_(options.lock_timeout),
      folders_(utf8_of(root), options.is_durable) {}

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
  return LocalFile::version(file_of(key));
}

std::uint64_t FileSystemStore::stamp(std::string_view key, std::uint64_t moment) {
  return watch_->stamp(folders_.root(), parent_path(key), moment);
}

bool FileSystemStore::is_stamped(std::string_view key) {
  return FolderWatch::shows_changes(file_of(key));
}

bool FileSystemStore::has(std::string_view key) {
  const std::string path = file_of(key);
  return with_context([&] { return path; }, [&] { return LocalFile::is_file(path); });
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
  const std::string folder = folder_of(path);
  return with_context([&] { return path; },
                      [&] {
                        std::shared_ptr<LocalFolder> opened = folders_.open(folder);
                        std::optional<TemporaryFile> file(opened);
                        if (!file->is_open()) {
                          opened = folders_.open_again(folder);
                          file.emplace(opened);
                          if (!file->is_open()) throw Error("its folder has been removed");
                        }
                        write_parts(*file, parts);
                        if (options_.is_durable) file->sync();
                        file->close();
                        const std::string name(last_segment(path));
                        if (expected == nullptr) {
                          file->rename(name);
                        } else {
                          // Puts that replace any version may happen in any order.
                          using LockMode = LocalFolder::LockMode;
                          const bool is_any = expected->is_unknown();
                          const auto mode = is_any ? LockMode::shared : LockMode::exclusive;
                          const auto lock = with_context({"lock ", folder}, [&] {
                            return patience_.take(folder, [&](std::chrono::milliseconds limit) {
                              return LocalFolder::Lock(*opened, mode, limit);
                            });
                          });
                          if (!is_any && opened->version(name).differs_from(*expected))
                            return false;
                          file->rename(name);
                        }
                        folders_.sync(folder);
                        return true;
                      });
}

std::unique_ptr<StoreLock> FileSystemStore::lock_of(const std::string& folder) {
  return with_context({"lock ", folder}, [&] {
    return patience_.take(
        folder, [&](std::chrono::milliseconds limit) { return lock_folder(folder, limit); });
  });
}

std::unique_ptr<StoreLock> FileSystemStore::lock(std::string_view prefix) {
  const std::string folder = prefix.empty() ? folders_.root() : file_of(prefix);
  with_context([&] { return folder; }, [&] { folders_.make(folder); });
  return lock_of(folder);
}

bool FileSystemStore::remove(const std::string& path) {
  const bool removed = remove_entry(path);
  if (removed) folders_.sync(folder_of(path));
  return removed;
}

bool FileSystemStore::erase(std::string_view key) {
  const std::string path = file_of(key);
  folders_.check_root();
  return !is_folder(path) && remove(path);
}

bool FileSystemStore::erase_if(std::string_view key, const ValueVersion& expected) {
  const std::string path = file_of(key);
  folders_.check_root();
  if (!is_occupied(path)) return !ValueVersion::absent().differs_from(expected);
  const auto lock = lock_of(folder_of(path));
  if (!expected.is_unknown() && LocalFile::version(path).differs_from(expected)) return false;
  if (!is_folder(path)) remove(path);
  return true;
}

DirectoryListing FileSystemStore::list(std::string_view prefix) {
  const std::string path = prefix.empty() ? folders_.root() : file_of(prefix);
  DirectoryListing listing;
  with_context([&] { return path; },
               [&] {
                 visit_folder(path, [&](std::string_view name, EntryKind kind) {
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

void FileSystemStore::erase_prefix(std::string_view prefix, std::span<const std::string> first) {
  const std::string path = file_of(prefix);
  erase_all(first);
  folders_.check_root();
  folders_.forget_open();
  if (!is_folder(path)) return;
  remove_folder(path);
  folders_.sync(folder_of(path));
}

void FileSystemStore::rename_prefix(std::string_view from, std::string_view to) {
  const std::string source = file_of(from);
  const std::string target = file_of(to);
  with_context([&] { return source; },
               [&] {
                 folders_.make(folder_of(target));
                 folders_.forget_open();
                 with_context([&] { return "cannot become " + target; },
                              [&] { rename_folder(source, target); });
                 folders_.sync(folder_of(target));
                 folders_.sync(folder_of(source));
               });
}

std::optional<Store::Parent> FileSystemStore::parent() const {
  std::error_code error;
  const fs::path path = fs::absolute(path_of_utf8(folders_.root()), error).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (error || !folder.has_filename()) return std::nullopt;
  return Parent{std::make_shared<FileSystemStore>(folder.parent_path(), options_),
                utf8_of(folder.filename())};
}

}  // namespace zarrcore
