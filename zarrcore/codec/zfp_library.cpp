#include "zarrcore/codec/zfp.h"

#ifdef ZFP_SONAME  // to be loaded at run time
#include <dlfcn.h>

#include <string>

#include "zarrcore/base/error.h"
#endif

namespace zarrcore {
namespace {

#ifdef ZFP_SONAME
// Sanitizers end a program that loads a library with RTLD_DEEPBIND, even if only other parts of it
// were built with them.
bool is_sanitized() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

template <typename Function>
void find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw Error(std::string("zfp: " ZFP_SONAME " has no function ") + name);
}

ZfpLibrary load_zfp() {
  // RTLD_DEEPBIND: the library prefers its own functions.
  void* library = dlopen(ZFP_SONAME, RTLD_NOW | RTLD_LOCAL | (is_sanitized() ? 0 : RTLD_DEEPBIND));
  if (library == nullptr) throw Error(std::string("zfp: the library does not load: ") + dlerror());
  ZfpLibrary zfp;
#define ZARRCORE_FIND_ZFP(name) find_function(library, #name, zfp.name);
  ZARRCORE_ZFP_FUNCTIONS(ZARRCORE_FIND_ZFP)
#undef ZARRCORE_FIND_ZFP
  return zfp;
}
#else
ZfpLibrary load_zfp() {
  ZfpLibrary zfp;
#define ZARRCORE_LINK_ZFP(name) zfp.name = ::name;
  ZARRCORE_ZFP_FUNCTIONS(ZARRCORE_LINK_ZFP)
#undef ZARRCORE_LINK_ZFP
  return zfp;
}
#endif

}  // namespace

const ZfpLibrary& zfp_library() {
  static const ZfpLibrary library = load_zfp();
  return library;
}

}  // namespace zarrcore
