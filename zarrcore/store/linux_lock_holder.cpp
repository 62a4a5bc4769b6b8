#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "zarrcore/store/lock_wait.h"

namespace zarrcore {

// The lines of /proc/locks are "1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF", with the process
// and the file; an arrow behind the first number means that the process still waits. For the locks
// of open files (OFDLCK) the process is -1.
std::string lock_holder(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return {};
  char file[64];
  std::snprintf(file, sizeof(file), "%02x:%02x:%llu", ::major(status.st_dev),
                ::minor(status.st_dev), static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number;
    std::string kind;
    std::string is_binding;
    std::string mode;
    long process = 0;
    std::string locked;
    if (!(words >> number >> kind >> is_binding >> mode >> process >> locked)) continue;
    if (locked != file || process <= 0) continue;
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
    return "process " + std::to_string(process) + (name.empty() ? name : " (" + name + ")");
  }
  return {};
}

}  // namespace zarrcore
