#include "zarrcore/store/temporary_file.h"

#include <atomic>
#include <charconv>
#include <cstdint>
#include <exception>
#include <limits>
#include <random>

#include "zarrcore/base/process.h"
#include "zarrcore/store/local_paths.h"
#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

constexpr std::int64_t kAbandonedAge = 3600;  // seconds
constexpr std::int64_t kAnyAge = std::numeric_limits<std::int64_t>::min();

// Identifies where process ids have the same meaning as here. Empty when that is unknown.
const std::string& place_of_processes() {
  static const auto& place = *new const std::string([] {
    const std::string name = name_of_process_ids();
    if (name.empty()) return std::string();
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return std::to_string(hash);
  }());
  return place;
}

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

// Whether the process that created a file of this name has certainly ended.
bool is_writer_dead(std::string_view name) {
  const std::string& place = place_of_processes();
  if (place.empty() || !name.substr(1).starts_with(place + '-')) return false;
  name.remove_prefix(1 + place.size() + 1);
  long process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' &&
         !is_process_alive(process);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& folder)
    : path_(folder + '/' + make_temporary_name()), file_(path_, LocalFile::Mode::create) {}

TemporaryFile::~TemporaryFile() {
  if (is_renamed_) return;
  try {
    if (is_open()) close();
  } catch (const std::exception&) {
    // Nothing of it is needed.
  }
  try {
    remove_entry(path_);
  } catch (const std::exception&) {
    // The file does no harm.
  }
}

void TemporaryFile::rename(const std::string& path) {
  replace_file(path_, path);
  is_renamed_ = true;
}

bool is_temporary_file(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

void remove_abandoned_file(const std::string& path) noexcept {
  try {
    const bool is_dead = is_writer_dead(std::string_view(path).substr(path.rfind('/') + 1));
    LocalFile::remove_abandoned(path, is_dead ? kAnyAge : kAbandonedAge);
  } catch (const std::exception&) {
    // The file does no harm.
  }
}

}  // namespace zarrcore
