#include "driver/stores/name_prefixes.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "driver/gdal/compat.h"
#include "driver/stores/vsi/install_file_system.h"
#include "zarrcore/base/text.h"

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
    for (const char* extension : {"aux", "aux.xml", "ovr", "msk", "xml"}) {
      if (zarrcore::lower_case(name).ends_with(std::string(".") + extension)) {
        errno = ENOENT;
        return -1;
      }
    }
    status->st_mode = S_IFDIR;
    return 0;
  }
};

}  // namespace

void install_name_prefixes() {
  for (const char* prefix : {"ICECHUNK:", "ZARR:"}) install_file_system<NamePrefix>(prefix);
}

}  // namespace gdal_zarr
