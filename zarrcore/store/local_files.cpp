#include "zarrcore/store/local_files.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <random>
#include <span>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/locks.h"

namespace zarrcore {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Returns true if a file that is written now could get the same time: file systems count time in
// ticks of some milliseconds, or in seconds, and reuse the numbers of files at once.
bool is_too_young(std::int64_t time) {
  const std::int64_t tick = time % kSecond == 0 ? 2 * kSecond : kSecond / 40;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  // Computed without overflow for any time.
  const auto age =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(time));
  return age > -tick && age < tick;
}

constexpr std::int64_t kAbandonedAge = 3600;  // seconds
constexpr std::int64_t kAnyAge = std::numeric_limits<std::int64_t>::min();

// Identifies where process ids have the same meaning as here. Empty when that is unknown.
const std::string& place_of_processes() {
  static const auto& place = *new const std::string([] {
    const std::string name = name_of_process_ids();
    return name.empty() ? std::string() : std::to_string(fnv1a(name));
  }());
  return place;
}

// Returns true if the process that created a file of this name has certainly ended. Another name
// may precede the part made by make_temporary_name().
bool is_writer_dead(std::string_view name) {
  const std::string& place = place_of_processes();
  if (place.empty() || !is_temporary_file(name)) return false;
  name.remove_suffix(kTemporarySuffix.size());
  name.remove_prefix(name.rfind('.') + 1);
  if (!name.starts_with(place + '-')) return false;
  name.remove_prefix(place.size() + 1);
  long process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' &&
         !is_process_alive(process);
}

#ifdef __linux__
// The magic numbers of file systems with lasting ids; the first are changed by this system alone.
constexpr std::array<std::uint32_t, 11> kFileSystems{0xef53 /* ext2 to ext4 */,
                                                     0x58465342 /* XFS */,
                                                     0x9123683e /* Btrfs */,
                                                     0xf2f52010 /* F2FS */,
                                                     0x2fc12fc1 /* ZFS */,
                                                     0x01021994 /* tmpfs */,
                                                     0x794c7630 /* overlayfs */,
                                                     0x6969 /* NFS */,
                                                     0x0bd00bd0 /* Lustre */,
                                                     0x00c36400 /* CephFS */,
                                                     0x47504653 /* GPFS */};
constexpr std::size_t kLocalFileSystems = 6;

bool is_one_of_first(std::size_t count, const std::string& path) {
  const std::span first(kFileSystems.data(), count);
  struct statfs status;
  return ::statfs(path.c_str(), &status) == 0 &&
         std::ranges::find(first, static_cast<std::uint32_t>(status.f_type)) != first.end();
}

#endif

}  // namespace

// ".PLACE-PROCESS-RANDOM-NUMBER.zarr-partial": processes of other machines and containers can have
// the same id, and forked processes have the same random number.
std::string make_temporary_name() {
  static const unsigned process = std::random_device()();
  static std::atomic<unsigned> counter{0};
  std::string name = '.' + place_of_processes();
  name += '-';
  name += std::to_string(process_id());
  name += '-';
  name += std::to_string(process);
  name += '-';
  name += std::to_string(counter++);
  return name.append(kTemporarySuffix);
}

std::string utf8_of(const std::filesystem::path& path) {
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
}

std::filesystem::path path_of_utf8(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void make_folders(const std::string& path) {
  if (is_folder(path)) return;
  const std::string folder = folder_of(path);
  if (make_folder(path) != FolderCreation::impossible) return;
  if (folder == path) throw Error(path + ": the folder cannot be created");
  make_folders(folder);
  if (make_folder(path) == FolderCreation::impossible) {
    throw Error(path + ": the folder around it has been removed");
  }
}

#ifdef __linux__
bool has_lasting_ids(const std::string& path) {
  return is_one_of_first(kFileSystems.size(), path);
}

bool is_changed_here_alone(const std::string& path) {
  return is_one_of_first(kLocalFileSystems, path);
}
#else
bool has_lasting_ids(const std::string& /*path*/) {
  return true;
}
#endif

bool exchange_folders([[maybe_unused]] const std::string& first,
                      [[maybe_unused]] const std::string& second) noexcept {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

void LocalFile::lock(LockWait& wait) {
  while (!try_lock()) {
    if (!wait.pause()) throw LockTimeout(holder());
  }
}

ValueVersion file_version(std::uint64_t number, std::uint64_t size, std::int64_t changed,
                          std::int64_t properties_changed) {
  return ValueVersion({number, size, static_cast<std::uint64_t>(changed),
                       static_cast<std::uint64_t>(properties_changed)},
                      !is_too_young(changed) && !is_too_young(properties_changed));
}

TemporaryFile::TemporaryFile(std::string path)
    : path_(std::move(path)), file_(path_, LocalFile::Mode::create) {}

TemporaryFile::~TemporaryFile() {
  if (is_renamed_) return;
  try {
    if (is_open()) close();
  } catch (const std::exception&) {
    // The file is removed in any case.
  }
  try {
    remove_entry(path_);
  } catch (const std::exception&) {
    // The file does no harm.
  }
}

void TemporaryFile::rename(const std::string& path) {
  if (path != path_) replace_file(path_, path);
  is_renamed_ = true;
}

bool is_temporary_file(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

bool is_abandoned_file(const std::string& path, bool removes) noexcept {
  try {
    const bool is_dead = is_writer_dead(std::string_view(path).substr(path.rfind('/') + 1));
    return LocalFile::is_abandoned(path, is_dead ? kAnyAge : kAbandonedAge, removes);
  } catch (const std::exception&) {
    return false;  // the file does no harm
  }
}

void remove_abandoned_file(const std::string& path) noexcept {
  is_abandoned_file(path, true);
}

void remove_abandoned_files(const std::string& path) {
  const std::string folder = folder_of(path);
  const std::string start = '.' + path.substr(path.rfind('/') + 1) + '.';
  visit_folder(folder, [&](const FolderEntry& entry) {
    const std::string_view name = entry.name;
    if (name.starts_with(start) && is_temporary_file(name)) {
      remove_abandoned_file(folder + '/' + std::string(name));
    }
    return true;
  });
}

// The files of the process that are open, the longest first. Its mutex may be held when the mutex
// of an OpenFile is locked, but not the other way round.
class OpenFile::OpenFiles {
 public:
  static OpenFiles& of_process() {
    static OpenFiles& files = *new OpenFiles;
    return files;
  }

  void add(OpenFile& file) {
    const std::lock_guard lock(mutex_);
    if (file.place_) return;
    file.place_ = files_.insert(files_.end(), &file);
    if (files_.size() > most_) close_first();
  }

  void remove(OpenFile& file) {
    const std::lock_guard lock(mutex_);
    if (!file.place_) return;
    files_.erase(*file.place_);
    file.place_.reset();
  }

  bool close_oldest() {
    const std::lock_guard lock(mutex_);
    if (files_.empty()) return false;
    close_first();
    return true;
  }

 private:
  void close_first() {
    OpenFile& file = *files_.front();
    files_.pop_front();
    file.place_.reset();
    const std::lock_guard lock(file.mutex_);
    file.file_.reset();
  }

  ForkMutex mutex_;
  std::list<OpenFile*> files_;
  const std::size_t most_ = std::clamp<std::size_t>(LocalFile::max_open_files() / 4, 1, 256);
};

// The list of all exists from here on, so that the destructor need not make it.
OpenFile::OpenFile(std::string path, const StoreFolders* folders)
    : path_(std::move(path)), folders_(folders) {
  OpenFiles::of_process();
}

OpenFile::~OpenFile() {
  OpenFiles::of_process().remove(*this);
}

bool OpenFile::close_oldest() {
  return OpenFiles::of_process().close_oldest();
}

std::shared_ptr<const LocalFile> OpenFile::file() {
  std::shared_ptr<const LocalFile> file;
  {
    const std::lock_guard lock(mutex_);
    if (is_released_) throw ValueChanged();
    if (file_) return file_;
    if (has_been_open_ && !size_) return nullptr;
  }
  // Opening may close other files, so no mutex is locked.
  file = std::make_shared<const LocalFile>(path_, LocalFile::Mode::read);
  ValueVersion version;
  const auto size = file->value_size(&version);
  if (!size && folders_ != nullptr) folders_->check_exists(path_);
  {
    const std::lock_guard lock(mutex_);
    if (file_) return file_;  // another thread has opened it
    if (has_been_open_ && !version_.is_valid_for(version)) throw ValueChanged();
    if (!has_been_open_) size_ = size;
    has_been_open_ = true;
    version_ = version;
    if (!size) return nullptr;
    file_ = file;
  }
  OpenFiles::of_process().add(*this);
  return file;
}

std::optional<Buffer> OpenFile::get(std::uint64_t max_size) {
  return with_context(path_, [&]() -> std::optional<Buffer> {
    const auto opened = file();
    if (!opened) return std::nullopt;
    check_value_size(*size_, max_size);
    return opened->read(0, *size_);
  });
}

std::optional<std::vector<Buffer>> OpenFile::get_ranges(std::span<const ByteRange> ranges) {
  return with_context(path_, [&]() -> std::optional<std::vector<Buffer>> {
    const auto opened = file();
    if (!opened) return std::nullopt;
    std::vector<Buffer> parts;
    parts.reserve(ranges.size());
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = resolve_range(range, *size_);
      parts.push_back(opened->read(offset, range.length));
    }
    return parts;
  });
}

ValueVersion OpenFile::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

// A file that stays open keeps its number, which distinguishes its version from later ones.
void OpenFile::release() {
  if (LocalFile::can_be_replaced()) return;
  const std::lock_guard lock(mutex_);
  is_released_ = true;
  file_.reset();
}

}  // namespace zarrcore
