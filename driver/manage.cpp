#include "driver/manage.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <functional>
#include <vector>

#include "driver/connection_string.h"
#include "driver/error_guard.h"
#include "driver/open_store.h"
#include "driver/vsi_file.h"
#include "driver/zip_archive.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The path of a whole store: a folder that holds a Zarr, or one file.
std::string whole_store(const char* name) {
  const std::string path = name;
  if (has_prefix(path) || has_reference_prefix(path) || is_metadata_file(CPLGetFilename(name))) {
    throw Error(path + " is not the path of a whole store, which is needed here");
  }
  if (!is_folder(path) ? !is_there(path) : !is_zarr_folder(path)) {
    throw Error(path + ": there is no Zarr store");
  }
  return path;
}

// The files that GDAL keeps beside a store.
std::vector<std::string> files_beside(const std::string& store) {
  std::vector<std::string> files;
  for (const char* suffix : {".aux.xml", ".ovr", ".msk", ".gmac", ".msk.ovr"}) {
    if (is_there(store + suffix)) files.push_back(store + suffix);
  }
  return files;
}

void check(bool is_done, const std::string& path, const char* what) {
  if (!is_done) throw Error(path + " cannot be " + what);
}

void copy_file(const std::string& to, const std::string& from) {
  check(CPLCopyFile(to.c_str(), from.c_str()) == 0, from, "copied");
}

void copy_folder(const std::string& to, const std::string& from) {
  check(VSIMkdir(to.c_str(), 0755) == 0, to, "made");
  const CPLStringList names(VSIReadDir(from.c_str()));
  for (int i = 0; i < names.size(); ++i) {
    if (EQUAL(names[i], ".") || EQUAL(names[i], "..")) continue;
    const std::string source = from + '/' + names[i];
    const std::string target = to + '/' + names[i];
    is_folder(source) ? copy_folder(target, source) : copy_file(target, source);
  }
}

// Does the same with a store and with each file beside it.
CPLErr transfer(const char* new_name, const char* old_name,
                const std::function<void(const std::string& to, const std::string& from)>& move) {
  return guarded(CE_Failure, [&] {
    const std::string from = whole_store(old_name);
    const std::string to = new_name;
    if (is_there(to)) throw Error(to + " is there already");
    const auto beside = files_beside(from);
    move(to, from);
    for (const std::string& file : beside) move(to + file.substr(from.size()), file);
    return CE_None;
  });
}

}  // namespace

CPLErr delete_store(const char* name) {
  return guarded(CE_Failure, [&] {
    const std::string path = whole_store(name);
    for (const std::string& file : files_beside(path)) {
      check(VSIUnlink(file.c_str()) == 0, file, "removed");
    }
    const int result = is_folder(path) ? VSIRmdirRecursive(path.c_str()) : VSIUnlink(path.c_str());
    check(result == 0, path, "removed");
    return CE_None;
  });
}

CPLErr rename_store(const char* new_name, const char* old_name) {
  return transfer(new_name, old_name, [](const std::string& to, const std::string& from) {
    check(VSIRename(from.c_str(), to.c_str()) == 0, from, "renamed");
  });
}

CPLErr copy_store(const char* new_name, const char* old_name) {
  return transfer(new_name, old_name, [](const std::string& to, const std::string& from) {
    is_folder(from) ? copy_folder(to, from) : copy_file(to, from);
  });
}

}  // namespace gdal_zarr
