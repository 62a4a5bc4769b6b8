#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/entry/create.h"
#include "driver/entry/open.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/sidecar_file.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/references/reference_writer.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The path of a whole store: a folder that holds a Zarr and is not in another one, an archive, or
// a document of references.
std::string whole_store(const char* name) {
  std::string path = without_file_scheme(name);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (has_prefix(path) || has_reference_prefix(path) ||
      zarrcore::is_document_name(CPLGetFilename(path.c_str()))) {
    throw Error(path + " must be the path of a whole store");
  }
  const auto refuse_repository = [&] {
    throw Error(path + " is an Icechunk repository, which cannot be removed, renamed or copied");
  };
  if (is_icechunk_name(path)) refuse_repository();
  // A listing from before the store was created does not show it.
  if (!VSIIsLocal(path.c_str())) VSICurlPartialClearCache(CPLGetPath(path.c_str()));
  GDALOpenInfo info(path.c_str(), GA_ReadOnly);
  if (is_icechunk_folder(path)) refuse_repository();  // which may be a store as well
  if (!is_folder(path) ? !is_packed_store(&info) : !is_zarr_folder(path)) {
    throw Error(path + " is not a Zarr store");
  }
  check_is_whole(path);
  return path;
}

bool is_repository(const char* name) {
  const std::string path = without_file_scheme(name);
  return is_icechunk_name(path) ||
         (VSIIsLocal(path.c_str()) && is_folder(path) && is_only_icechunk(path));
}

// GDAL's files beside a store; the .aux.xml of a folder is an older version's.
std::vector<std::string> files_beside(const std::string& store) {
  std::vector<std::string> files;
  for (const char* suffix : {".aux.xml", ".ovr", ".msk", ".gmac", ".msk.ovr"}) {
    if (path_exists(store + suffix)) files.push_back(store + suffix);
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
  if (is_in_object_store(from) && is_in_object_store(to)) return copy_object_folder(from, to);
  // Listed before the copy exists, which may lie below.
  const CPLStringList names(VSIReadDirRecursive(from.c_str()));
  check(VSIMkdir(to.c_str(), 0755) == 0, to, "created");
  for (int i = 0; i < names.size(); ++i) {
    std::string name = names[i];
    while (name.ends_with('/')) name.pop_back();
    if (name.ends_with(zarrcore::kTemporarySuffix)) continue;  // an incomplete value
    const std::string source = std::string(from).append("/").append(name);
    const std::string target = std::string(to).append("/").append(name);
    if (is_folder(source)) {
      check(VSIMkdir(target.c_str(), 0755) == 0, target, "created");
    } else {
      copy_file(target, source);
    }
  }
}

// If the process is killed while the rest is removed, nothing reads as data that has lost chunks.
void remove_documents(const std::string& folder) {
  try {
    zarrcore::HierarchyOptions options;
    options.use_consolidated = false;
    zarrcore::Hierarchy(std::make_shared<zarrcore::FileSystemStore>(folder), options)
        .erase_documents();
  } catch (const Error&) {
    // A broken store is removed as well.
  }
}

// Links are removed, not followed: their targets do not belong to the store.
void remove_folder(const std::string& path) {
  if (is_in_object_store(path)) {
    std::vector<std::string> documents;
    if (const char* name = find_main_document(path)) documents.push_back(path + '/' + name);
    remove_object_folder(path, documents);
  } else if (STARTS_WITH(path.c_str(), "/vsi")) {
    check(VSIRmdirRecursive(path.c_str()) == 0, path, "removed");
  } else {
    remove_documents(path);
    zarrcore::remove_folder(path);
  }
}

// Removes the folder or file of a store, but none of GDAL's files beside it. Throws
// zarrcore::Error.
void remove_store(const std::string& path) {
  if (is_folder(path)) {
    remove_folder(path);
  } else {
    const auto chunks = find_side_files(path);
    check(VSIUnlink(path.c_str()) == 0, path, "removed");
    for (const std::string& file : chunks) check(VSIUnlink(file.c_str()) == 0, file, "removed");
  }
}

// Moves or copies a store, and each file beside it.
CPLErr transfer(const char* new_name, const char* old_name,
                const std::function<void(const std::string& to, const std::string& from)>& move) {
  return guarded(CE_Failure, [&] {
    const std::string from = whole_store(old_name);
    const std::string to = without_file_scheme(new_name);
    if (path_exists(to)) throw Error(to + " already exists");
    check_parent_exists(to);
    if (to.starts_with(from + '/')) throw Error(to + " is inside " + from);
    if (const auto chunks = find_side_files(from); !chunks.empty()) {
      throw Error(from + " names the file with its chunks, " + chunks[0] +
                  ", by its path, and would not find it: make it anew");
    }
    const auto beside = files_beside(from);
    move(to, from);
    for (const std::string& file : beside) move(to + file.substr(from.size()), file);
  });
}

// Returns true if a folder has only partial files of a writer that was killed.
bool has_partial_files_only(const std::string& path) {
  const CPLStringList names(VSIReadDir(path.c_str()));
  bool has_any = false;
  for (int i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "." || name == "..") continue;
    if (!name.ends_with(zarrcore::kTemporarySuffix)) return false;
    has_any = true;
  }
  return has_any;
}

// Returns true if an object store has anything at `path`, where the store may be listed.
bool is_used(const std::string& path, zarrcore::Store& store) {
  store.use_listings();
  try {
    if (store.has_prefix("")) return true;
  } catch (const Error&) {
    return path_exists(path);
  }
  try {
    return open_file(path) != nullptr;
  } catch (const Error&) {
    return false;  // servers may answer so for missing files
  }
}

}  // namespace

void check_is_whole(const std::string& path) {
  const std::string above = CPLGetPath(path.c_str());
  if (is_folder(path) && !above.empty() && !is_whole_by_name(path) && is_zarr_folder(above)) {
    throw Error(path + " is part of the store " + above);
  }
}

CPLErr delete_store(const char* name) {
  return guarded(CE_Failure, [&] {
    if (has_prefix(name)) {
      // GDAL calls this for any name before it creates a dataset.
      const ConnectionString connection = parse_connection_string(name);
      const std::string& target = connection.store_path;
      if (!connection.array && (!path_exists(target) || is_only_icechunk(target))) return;
    }
    // Programs delete before they create, and an error would become that of creating.
    const Purpose purpose = last_purpose(name);
    if (purpose != Purpose::unknown && is_repository(name)) {
      const std::string kept = std::string(name) + " is an Icechunk repository: nothing is removed";
      if (purpose == Purpose::replacing) {
        debug(kept);
      } else {
        report(CE_Warning, CPLE_AppDefined, "Zarr: %s", kept.c_str());
      }
      return;
    }
    const std::string path = whole_store(name);
    for (const std::string& file : files_beside(path)) {
      check(VSIUnlink(file.c_str()) == 0, file, "removed");
    }
    remove_store(path);
  });
}

CPLErr rename_store(const char* new_name, const char* old_name) {
  return transfer(new_name, old_name, [](const std::string& to, const std::string& from) {
    if (is_in_object_store(from) && is_in_object_store(to) && is_folder(from)) {
      rename_object_folder(from, to);
    } else {
      check(VSIRename(from.c_str(), to.c_str()) == 0, from, "renamed");
    }
  });
}

CPLErr copy_store(const char* new_name, const char* old_name) {
  return transfer(new_name, old_name, [](const std::string& to, const std::string& from) {
    is_folder(from) ? copy_folder(to, from) : copy_file(to, from);
  });
}

std::string new_store_path(const char* name, const CreationOptions& options) {
  const ConnectionString connection = parse_connection_string(name);
  if (connection.array) {
    throw Error(std::string(name) + ": the option ARRAY_NAME gives the name of a new array");
  }
  const std::string branch(options.text("BRANCH"));
  using zarrcore::icechunk::VersionName;
  return find_icechunk_path(connection.store_path,
                            branch.empty()
                                ? std::nullopt
                                : std::optional(VersionName{VersionName::Kind::branch, branch}));
}

std::shared_ptr<zarrcore::Store> check_can_be_created(const std::string& path, const char* advice) {
  const auto store = is_in_object_store(path) ? make_store(path) : nullptr;
  const bool exists = store ? is_used(path, *store) : path_exists(path);
  if (exists && !has_partial_files_only(path)) {
    const std::string message = path + " already exists";
    if (is_zarr_folder(path)) {
      throw Error(message + "; remove it first (gdalmanage delete \"" + path + "\"), or " + advice);
    }
    throw Error(message + (is_folder(path) ? " and is not a Zarr store" : ""));
  }
  check_parent_exists(path);
  return store;
}

void remove_new_store(const std::string& path) {
  const auto target = parse_zip_target(path);
  if (!target) {
    guarded(CE_Failure, [&] {
      // A listing from before the store was created does not show it.
      if (!VSIIsLocal(path.c_str())) VSICurlPartialClearCache(CPLGetPath(path.c_str()));
      if (path_exists(path)) remove_store(path);
    });
  } else if (is_file(target->archive)) {
    VSIUnlink(target->archive.c_str());
  }
}

void remove_older_sidecar(const std::string& path) {
  if (is_in_archive(path)) return;
  const std::string file = sidecar_file(path);
  if (!VSIIsLocal(file.c_str()) || !is_file(file)) return;
  const QuietCall call;
  VSIUnlink(file.c_str());
}

std::shared_ptr<Session> create_session(const std::string& path, const CreationOptions& options,
                                        const char* advice) {
  SessionOptions session_options;
  session_options.make_classic_dataset = &make_classic_dataset;
  if (has_icechunk_prefix(path)) {
    // GDAL has tried to open the name: what failed then is not a failure of this call.
    CPLErrorReset();
    if (options.is_given("FORMAT") && !options.is("FORMAT", "ZARR_V3")) {
      throw Error(path + ": Icechunk repositories are of FORMAT=ZARR_V3");
    }
    session_options.is_writable = true;
    session_options.icechunk = icechunk_write_options(options);
    session_options.icechunk.new_format = options.is("ICECHUNK_FORMAT", "1") ? 1 : 2;
    session_options.icechunk.is_virtual = !options.is("VIRTUAL", "NO");
    session_options.copies_blocks = options.is("VIRTUAL", "AUTO");
    if (options.is("LOCATIONS", "RELATIVE")) {
      throw Error(path + ": Icechunk names files by URL: LOCATIONS=RELATIVE is for references");
    }
    return Session::open(path, session_options);
  }
  for (const char* option : {"OVERWRITE", "ICECHUNK_FORMAT"}) {
    if (options.is_given(option)) {
      throw Error(path + ": the option " + option + " is for Icechunk repositories");
    }
  }
  refuse_write_options(options, path + " is not an Icechunk repository", true);
  auto store = check_can_be_created(path, advice);
  const zarrcore::Format& format = options.is("FORMAT", "ZARR_V3")   ? zarrcore::v3_format()
                                   : options.is("FORMAT", "ZARR_V1") ? zarrcore::v1_format()
                                                                     : zarrcore::v2_format();
  session_options.use_consolidated = options.boolean("CREATE_CONSOLIDATED_METADATA");
  if (!options.is("VIRTUAL", "NO")) {
    remove_older_sidecar(path);
    // All documents are in one file already.
    session_options.use_consolidated = false;
    session_options.copies_blocks = options.is("VIRTUAL", "AUTO");
    store = make_reference_writer(
        path, options.is("LOCATIONS", "RELATIVE") ? TargetNames::relative : TargetNames::absolute);
  }
  return Session::create(path, format, session_options, std::move(store));
}

}  // namespace gdal_zarr
