#include "zarrcore/store/file_locks.h"

#include <array>
#include <functional>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/local_paths.h"

namespace zarrcore {

FileLocks::Held FileLocks::lock(std::string_view key) const {
  check_key(key);
  const std::string path = join_path(utf8_of(folder_), key);
  // On some systems, record locks belong to the process: they do not exclude its threads, and
  // closing any descriptor of the file releases the lock.
  static std::array<std::mutex, 64> turns;
  Held held{std::unique_lock(turns[std::hash<std::string>()(path) % turns.size()]), nullptr};
  with_context([&] { return "lock " + path; },
               [&] {
                 make_folders(folder_of(path));
                 held.file = std::make_unique<LocalFile>(path, LocalFile::Mode::lock);
                 held.file->lock();
               });
  return held;
}

}  // namespace zarrcore
