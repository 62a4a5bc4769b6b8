#include "zarrcore/store/local_files.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <random>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/base/text.h"
#include "zarrcore/store/locks.h"
#include "zarrcore/store/store.h"

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

}  // namespace zarrcore
