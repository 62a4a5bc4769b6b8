#include "zarrcore/store/temporary_file.h"

#include <atomic>
#include <random>

#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

constexpr std::int64_t kAbandonedAge = 3600;  // seconds

// Processes of other machines and containers can have the same id, forked ones have the same random
// number.
std::string temporary_path(const std::string& target) {
  static const unsigned process = std::random_device()();
  static std::atomic<unsigned> counter{0};
  std::string path = target.substr(0, target.rfind('/') + 1);
  path += '.';
  path += std::to_string(process_id());
  path += '-';
  path += std::to_string(process);
  path += '-';
  path += std::to_string(counter++);
  return path.append(kTemporarySuffix);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& target)
    : path_(temporary_path(target)), file_(path_.c_str(), PosixFile::Mode::create) {}

TemporaryFile::~TemporaryFile() {
  if (!is_renamed_) PosixFile::remove(path_.c_str());
}

void TemporaryFile::rename(const std::string& target) {
  PosixFile::rename(path_.c_str(), target.c_str());
  is_renamed_ = true;
}

bool is_temporary_file(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

void remove_abandoned_file(const std::string& path) noexcept {
  PosixFile::remove_abandoned(path.c_str(), kAbandonedAge);
}

}  // namespace zarrcore
