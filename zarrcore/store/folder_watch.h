// Tells that no file in a folder has changed, with two calls of the system however many files are
// in question: the system reports changes in watched folders. Programs that read small parts of the
// same chunks again and again, such as single rows of pixels, would otherwise spend most of their
// time asking for the version of each file.
//
// It uses inotify; on other systems nothing is watched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zarrcore {

// May be used by several threads at once. Watches a limited number of folders: folders whose stamp
// is requested repeatedly.
class FolderWatch {
 public:
  // The watch that all stores of a process share, because the system limits their number per user.
  static std::shared_ptr<FolderWatch> of_process();

  FolderWatch();
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // The present moment. Later ones have larger numbers.
  std::uint64_t moment();

  // A number that is different after a file of the folder `root`/`below` has been changed, replaced
  // or removed, or the path leads to another folder; zero if the folder is not watched. It was so
  // at `moment` or later. Changes that the system does not report, such as those through memory
  // that a file is mapped to, make it different within kMilliseconds.
  std::uint64_t stamp(const std::string& root, std::string_view below, std::uint64_t moment);
  static constexpr int kMilliseconds = 10;

  // Returns true if changes of the file are changes in its folder: not if it is a link, or has
  // other names.
  static bool shows_changes(const std::string& path);

 private:
  class Watched;

  std::unique_ptr<Watched> watched_;
};

}  // namespace zarrcore
