#include "zarrcore/store/open_file.h"

#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

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
