#include "zarrcore/base/version.h"

namespace zarrcore {

std::string_view version() {
  return ZARRCORE_VERSION;
}

}  // namespace zarrcore
