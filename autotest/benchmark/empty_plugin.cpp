// A plugin of GDAL that registers no driver.
#include <gdal.h>

// It calls libgdal, which it would not be linked with otherwise.
extern "C" CPL_DLL void GDALRegister_Empty() {
  static_cast<void>(GDALGetDriverCount());
}
