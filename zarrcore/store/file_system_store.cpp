#include "zarrcore/store/file_system_store.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"
#include "zarrcore/store/folder_lock.h"
#include "zarrcore/store/posix_file.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

// Temporary files lie beside their target, hidden, under names that no other writer makes:
// processes of other machines and containers can have the same id, forked ones have the same random
// number.
fs::path temporary_path(const fs::path& target) {
  static const unsigned process = std::random_device()();
  static std::atomic<unsigned> counter{0};
  return target.parent_path() /
         ("." + std::to_string(process_id()) + "-" + std::to_string(process) + "-" +
          std::to_string(counter++) + std::string(kTemporarySuffix));
}

// Opened by the first read.
class OpenFile final : public OpenValue {
  // What `body` makes of the file and its size; nothing when it is absent.
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
  mutable std::mutex mutex_;  // until the file is open
  std::unique_ptr<const PosixFile> file_;
  std::optional<std::uint64_t> size_;
  ValueVersion version_;
};

}  // namespace

fs::path FileSystemStore::path_of(std::string_view key) const {
  check_key(key);
  return root_ / fs::path(key);
}

std::string FileSystemStore::file_of(std::string_view key) const {
  check_key(key);
  std::string file = root_.string();
  if (!file.empty() && file.back() != '/') file += '/';
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
  const fs::path path = path_of(key);
  with_context([&] { return path.string(); },
               [&] {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw Error(error.message());
    const fs::path temporary = temporary_path(path);
    try {
      PosixFile file(temporary.c_str(), PosixFile::Mode::create);
      for (const ValuePart& part : parts) {
        file.write(part.fetch ? part.fetch().span() : part.bytes);
      }
      file.close();
      fs::rename(temporary, path, error);
      if (error) throw Error(error.message());
    } catch (...) {
      fs::remove(temporary, error);
      throw;
    }
  });
}

std::unique_ptr<StoreLock> FileSystemStore::lock(std::string_view prefix) {
  const fs::path folder = prefix.empty() ? root_ : path_of(prefix);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder.string() + ": " + error.message());
  return lock_folder(folder.c_str());
}

bool FileSystemStore::erase(std::string_view key) {
  const fs::path path = path_of(key);
  std::error_code error;
  if (fs::is_directory(path, error)) return false;
  const bool removed = fs::remove(path, error);
  if (error && error != std::errc::not_a_directory) {
    throw Error(path.string() + ": " + error.message());
  }
  return removed;
}

DirectoryListing FileSystemStore::list(std::string_view prefix) {
  const fs::path path = prefix.empty() ? root_ : path_of(prefix);
  DirectoryListing listing;
  with_context([&] { return path.string(); },
               [&] {
    visit_folder(path.c_str(), [&](std::string_view name, bool is_folder) {
      if (name.ends_with(kTemporarySuffix)) return;
      // A broken link is listed as a key: whoever reads it gets the error.
      (is_folder ? listing.prefixes : listing.keys).emplace_back(name);
    });
  });
  std::sort(listing.keys.begin(), listing.keys.end());
  std::sort(listing.prefixes.begin(), listing.prefixes.end());
  return listing;
}

// A link is removed, not what it leads to.
void FileSystemStore::erase_prefix(std::string_view prefix) {
  const fs::path path = path_of(prefix);
  std::error_code error;
  if (!fs::is_directory(path, error)) return;
  fs::remove_all(path, error);
  if (error) throw Error(path.string() + ": " + error.message());
}

void FileSystemStore::rename_prefix(std::string_view from, std::string_view to) {
  const fs::path source = path_of(from);
  const fs::path target = path_of(to);
  with_context([&] { return source.string(); },
               [&] {
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (!error) fs::rename(source, target, error);
    if (error) throw Error("cannot become " + target.string() + ": " + error.message());
  });
}

std::optional<Store::Parent> FileSystemStore::parent() const {
  std::error_code error;
  const fs::path path = fs::absolute(root_, error).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (error || !folder.has_filename()) return std::nullopt;
  return Parent{std::make_shared<FileSystemStore>(folder.parent_path()),
                folder.filename().string()};
}

}  // namespace zarrcore
