#include "driver/stores/name_prefixes.h"

#include <cpl_string.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "driver/gdal/compat.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/install_file_system.h"

namespace gdal_zarr {
namespace {

class NamePrefix final : public VSIFilesystemHandler {
 public:
  OpenedFile Open(const char* /*name*/, const char* /*access*/, bool /*set_error*/,
                  CSLConstList /*options*/) override {
    errno = EISDIR;
    return nullptr;
  }

  // GDAL also looks for files beside a dataset.
  int Stat(const char* name, VSIStatBufL* status, int /*flags*/) override {
    *status = {};
    for (const std::string_view suffix : {".aux", ".aux.xml", ".ovr", ".msk", ".xml"}) {
      const std::size_t length = std::strlen(name);
      if (length > suffix.size() && EQUAL(name + length - suffix.size(), suffix.data())) {
        errno = ENOENT;
        return -1;
      }
    }
    if (!repository_may_exist(name)) {
      errno = ENOENT;
      return -1;
    }
    status->st_mode = S_IFDIR;
    return 0;
  }
};

}  // namespace

bool repository_may_exist(const char* name) {
  try {
    VSIStatBufL status;
    const std::string path = parse_icechunk_path(name).repository;
    return !VSIIsLocal(path.c_str()) || path.find("://") != std::string::npos ||
           VSIStatExL(path.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0;
  } catch (const std::exception&) {
    return true;  // opening it says what is wrong with the name
  }
}

void install_name_prefixes() {
  install_file_system<NamePrefix>("ICECHUNK:");
}

}  // namespace gdal_zarr
