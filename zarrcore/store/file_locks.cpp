#include "zarrcore/store/file_locks.h"

#include <array>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {

FileLocks::Held FileLocks::lock(std::string_view key) const {
  check_key(key);
  const std::filesystem::path path = folder_ / std::filesystem::path(key);
  // On some systems, record locks belong to the process: they do not exclude its threads, and
  // closing any descriptor of the file releases the lock.
  static std::array<std::mutex, 64> turns;
  Held held{std::unique_lock(turns[std::filesystem::hash_value(path) % turns.size()]), nullptr};
  with_context([&] { return "lock " + path.string(); },
               [&] {
                 std::error_code error;
                 std::filesystem::create_directories(path.parent_path(), error);
                 if (error) throw Error(error.message());
                 held.file = std::make_unique<PosixFile>(path.c_str(), PosixFile::Mode::lock);
                 held.file->lock();
               });
  return held;
}

}  // namespace zarrcore
