#include "zarrcore/store/temporary_file.h"

#include <atomic>
#include <random>
#include <utility>

#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

constexpr std::int64_t kAbandonedAge = 3600;  // seconds

// Processes of other machines and containers can have the same id, forked ones have the same random
// number.
std::string make_temporary_name() {
  static const unsigned process = std::random_device()();
  static std::atomic<unsigned> counter{0};
  std::string name = ".";
  name += std::to_string(process_id());
  name += '-';
  name += std::to_string(process);
  name += '-';
  name += std::to_string(counter++);
  return name.append(kTemporarySuffix);
}

}  // namespace

TemporaryFile::TemporaryFile(std::shared_ptr<const PosixFolder> folder)
    : folder_(std::move(folder)),
      name_(make_temporary_name()),
      file_(name_.c_str(), PosixFile::Mode::create, folder_->descriptor()) {}

TemporaryFile::~TemporaryFile() {
  if (!is_renamed_) folder_->remove(name_.c_str());
}

void TemporaryFile::rename(const char* name) {
  folder_->rename(name_.c_str(), name);
  is_renamed_ = true;
}

bool is_temporary_file(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

void remove_abandoned_file(const std::string& path) noexcept {
  PosixFile::remove_abandoned(path.c_str(), kAbandonedAge);
}

}  // namespace zarrcore
