// Tells that no file in a folder has changed, with two calls of the system however many files are
// in question: the system reports changes in watched folders. Programs that read small parts of the
// same chunks again and again, such as single rows of pixels, would otherwise spend most of their
// time asking for the version of each file.
//
// It uses inotify; on other systems nothing is watched.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace zarrcore {

// A watch of the files below the folder `root`. Null if the system has none. Only the folders whose
// stamps are requested repeatedly are watched, and a limited number of them: all watches of a
// process share one queue of the system. A stamp also changes when the path leads to another
// folder. Changes that the system does not report, such as those through memory that a file is
// mapped to, change it within kWatchMilliseconds. Stamps show no changes of links, and of files
// that have other names.
std::unique_ptr<ValueWatch> watch_files(std::string root);
inline constexpr int kWatchMilliseconds = 10;

}  // namespace zarrcore
