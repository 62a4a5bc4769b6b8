#include "zarrcore/store/file_system_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

// An open file that closes itself.
class File {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  struct stat status() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) throw Error(reason(errno));
    return status;
  }

  Buffer read(std::uint64_t offset, std::uint64_t length) const {
    Buffer buffer(length);
    std::size_t done = 0;
    while (done < length) {
      const ssize_t count = ::pread(descriptor_, buffer.data() + done, length - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(reason(errno));
      if (count == 0) throw Error("the file became shorter while it was read");
      done += static_cast<std::size_t>(count);
    }
    return buffer;
  }

  void write(ByteSpan bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(reason(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  // Some file systems report a full disk only now.
  void close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    if (result != 0) throw Error(reason(errno));
  }

 private:
  int descriptor_;
};

// To open what turns out to be a pipe must not wait for its other end.
constexpr int kReadFlags = O_RDONLY | O_NONBLOCK;

// The size of a value that was opened for reading. Nothing when it is absent: no such file, or a
// folder in its place.
std::optional<std::uint64_t> value_size(const File& file) {
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw Error(reason(errno));
  }
  const struct stat status = file.status();
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) throw Error("it is not a file");
  return static_cast<std::uint64_t>(status.st_size);
}

// Temporary files lie beside their target, hidden, under names that no other writer makes:
// processes of other machines and containers can have the same id, forked ones have the same random
// number.
fs::path temporary_path(const fs::path& target) {
  static const unsigned process = std::random_device()();
  static std::atomic<unsigned> counter{0};
  return target.parent_path() / ("." + std::to_string(::getpid()) + "-" + std::to_string(process) +
                                 "-" + std::to_string(counter++) + std::string(kTemporarySuffix));
}

}  // namespace

fs::path FileSystemStore::path_of(std::string_view key) const {
  check_key(key);
  return root_ / fs::path(key);
}

std::optional<Buffer> FileSystemStore::get(std::string_view key, std::uint64_t max_size) {
  const fs::path path = path_of(key);
  return with_context([&] { return path.string(); },
                      [&]() -> std::optional<Buffer> {
                        const File file(path, kReadFlags);
                        const auto size = value_size(file);
                        if (!size) return std::nullopt;
                        check_value_size(*size, max_size);
                        return file.read(0, *size);
                      });
}

std::optional<std::vector<Buffer>> FileSystemStore::get_ranges(std::string_view key,
                                                               std::span<const ByteRange> ranges) {
  const fs::path path = path_of(key);
  return with_context([&] { return path.string(); },
                      [&]() -> std::optional<std::vector<Buffer>> {
                        const File file(path, kReadFlags);
                        const auto size = value_size(file);
                        if (!size) return std::nullopt;
                        std::vector<Buffer> parts;
                        parts.reserve(ranges.size());
                        for (const ByteRange& range : ranges) {
                          parts.push_back(file.read(resolve_range(range, *size), range.length));
                        }
                        return parts;
                      });
}

void FileSystemStore::put(std::string_view key, ByteSpan value) {
  const fs::path path = path_of(key);
  with_context([&] { return path.string(); },
               [&] {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw Error(error.message());
    const fs::path temporary = temporary_path(path);
    try {
      File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
      if (!file.is_open()) throw Error(reason(errno));
      file.write(value);
      file.close();
      fs::rename(temporary, path, error);
      if (error) throw Error(error.message());
    } catch (...) {
      fs::remove(temporary, error);
      throw;
    }
  });
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
  std::error_code error;
  fs::directory_iterator entries(path, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    return listing;
  }
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::string name = entries->path().filename().string();
    if (name.ends_with(kTemporarySuffix)) continue;
    // A broken link is listed as a key: whoever reads it gets the error.
    std::error_code ignored;
    const bool is_directory = entries->is_directory(ignored);
    (is_directory ? listing.prefixes : listing.keys).push_back(std::move(name));
  }
  if (error) throw Error(path.string() + ": " + error.message());
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

}  // namespace zarrcore
