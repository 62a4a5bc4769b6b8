#include "driver/stores/references/reference_file_system.h"

#include <cpl_string.h>
#include <cpl_vsi_error.h>
#include <cpl_vsi_virtual.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/stores/references/cached_references.h"
#include "driver/stores/references/reference_file.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_call.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/base/text_encoding.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// A unique pointer in newer versions of GDAL.
using OpenedFile =
    decltype(std::declval<VSIFilesystemHandler&>().Open("", "", false, CSLConstList()));

// The most names that a folder lists; more do not fit a program's memory.
constexpr std::uint64_t kMaxListedChunks = 1'000'000;

// References may lead to values of other references, but not endlessly.
class NestingScope {
 public:
  explicit NestingScope(const char* name) {
    if (depth_ == kMaxDepth) {
      throw Error(std::string(name) +
                  ": references lead through too many documents, or to themselves");
    }
    ++depth_;
  }
  ~NestingScope() { --depth_; }
  NestingScope(const NestingScope&) = delete;
  NestingScope& operator=(const NestingScope&) = delete;

  static bool is_nested() { return depth_ > 0; }

 private:
  static constexpr int kMaxDepth = 8;
  static thread_local int depth_;
};

thread_local int NestingScope::depth_ = 0;

// A file or folder by its name.
struct NamedReference : NamedReferences {
  NamedReference(ReferenceOpener opener, const char* name) : NamedReferences(opener(name)) {}

  std::optional<Reference> find() const {
    if (key.empty()) return std::nullopt;
    return zarrcore::with_context({document, ": ", key}, [this] { return references->find(key); });
  }

  // The path of the file that `reference` refers to.
  std::string target_of(const Reference& reference) const {
    if (reference.is_path) return reference.target;
    return zarrcore::with_context({document, ": ", key},
                                  [&] { return TargetPaths(document).resolve(reference.target); });
  }
};

NamedReferences open_kerchunk(const std::string& name) {
  const ReferencePath path = parse_reference_path(name);
  return {path.document, path.key,
          open_references(path.kind, path.document, ReferenceCheck::strict)};
}

// The status of the file that is referenced as a whole; empty if it does not exist.
std::optional<VSIStatBufL> status_of(const std::string& path, int flags) {
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatExL(path.c_str(), &status, flags) != 0 || VSI_ISDIR(status.st_mode)) {
    return std::nullopt;
  }
  return status;
}

// GDAL looks for files beside a dataset by its name with another extension, which takes the closing
// brace or the .json away.
bool is_sidecar_name(const char* name) {
  const std::string_view text(name);
  const bool has_brace = text.find('{') != std::string_view::npos;
  if (text.find(has_brace ? "}" : ".json/") != std::string_view::npos) return false;
  const std::string extension = zarrcore::lower_case(text.substr(text.rfind('.') + 1));
  return extension == "aux" || extension == "ovr" || extension == "msk";
}

bool get_status(ReferenceOpener opener, const char* name, VSIStatBufL& status, int flags) {
  const NestingScope scope(name);
  const NamedReference named(opener, name);
  if (const auto reference = named.find()) {
    if (!reference->target.empty() && !reference->length) {
      const auto target = status_of(named.target_of(*reference), flags);
      if (target) status = *target;
      return target.has_value();
    }
    status.st_mode = S_IFREG;
    status.st_size = static_cast<decltype(status.st_size)>(
        reference->target.empty() ? reference->value.size() : *reference->length);
    return true;
  }
  if (!named.key.empty() && !named.references->has_below(named.key)) return false;
  status.st_mode = S_IFDIR;
  return true;
}

OpenedFile open_value(ReferenceOpener opener, const char* name) {
  const NestingScope scope(name);
  const NamedReference named(opener, name);
  auto reference = named.find();
  if (!reference) return nullptr;
  if (reference->target.empty()) {
    return OpenedFile(new ReferenceFile(std::move(reference->value)));
  }
  const std::string path = named.target_of(*reference);
  return zarrcore::with_context({named.document, ": ", named.key, ": ", path}, [&] {
    File file = open_file(path);
    if (!file) throw Error("this file, which a reference names, does not exist");
    const auto range = find_value(file.get(), *reference);
    return OpenedFile(new ReferenceFile(std::move(file), range));
  });
}

char** list_names(ReferenceOpener opener, const char* name, int max_files) {
  const NestingScope scope(name);
  const NamedReference named(opener, name);
  const auto listing = named.references->list_all(named.key, kMaxListedChunks);
  CPLStringList names;
  // One more than wanted tells the caller that there are more.
  const auto is_full = [&] { return max_files > 0 && names.size() > max_files; };
  const auto add = [&](const std::string& entry) {
    if (!is_full()) names.AddString(entry.c_str());
  };
  // Documents and folders, then chunks: in the order of their names as long as these are sorted.
  std::size_t next = 0;
  for (const std::string& key : listing.keys) {
    for (; next < listing.prefixes.size() && listing.prefixes[next] < key; ++next) {
      add(listing.prefixes[next]);
    }
    add(key);
  }
  for (; next < listing.prefixes.size(); ++next) add(listing.prefixes[next]);
  return names.StealList();
}

char** chunk_information(ReferenceOpener opener, const char* name) {
  const NestingScope scope(name);
  const NamedReference named(opener, name);
  const auto reference = named.find();
  if (!reference) return nullptr;
  CPLStringList items;
  if (reference->target.empty()) {
    items.SetNameValue("SIZE", std::to_string(reference->value.size()).c_str());
    items.SetNameValue("BASE64", zarrcore::encode_base64(reference->value.span()).c_str());
    return items.StealList();
  }
  const std::string path = named.target_of(*reference);
  std::uint64_t size = reference->length.value_or(0);
  if (!reference->length) {
    const auto status = status_of(path, VSI_STAT_SIZE_FLAG | VSI_STAT_NATURE_FLAG);
    if (!status) return nullptr;
    size = static_cast<std::uint64_t>(status->st_size);
  }
  items.SetNameValue("SIZE", std::to_string(size).c_str());
  items.SetNameValue("OFFSET", std::to_string(reference->offset).c_str());
  items.SetNameValue("FILENAME", path.c_str());
  return items.StealList();
}

// What `open_value` returns. An error is also that of VSIGetLastErrorMsg() if the caller wants so;
// then, of references that lead to others, only the first reports it.
OpenedFile open_and_report(ReferenceOpener opener, const char* name, bool set_error) {
  try {
    return open_value(opener, name);
  } catch (const std::exception& exception) {
    // The number is one that does not mean that the file is absent.
    if (set_error) VSIError(VSIE_HttpError, "%s", mask_secrets(exception.what()).c_str());
    if (!set_error || !NestingScope::is_nested()) {
      report(CE_Failure, CPLE_AppDefined, "Zarr: %s", exception.what());
    }
  }
  return nullptr;
}

// Every function that GDAL calls reports errors, also where other file systems are silent: nobody
// else would say which reference is wrong.
class ReferenceFileSystem final : public VSIFilesystemHandler {
 public:
  explicit ReferenceFileSystem(ReferenceOpener opener) : opener_(opener) {}

  OpenedFile Open(const char* name, const char* access, bool set_error,
                  CSLConstList /*options*/) override {
    if (access[0] != 'r' || std::string_view(access).find('+') != std::string_view::npos) {
      errno = EROFS;
      return nullptr;
    }
    errno = ENOENT;
    if (is_sidecar_name(name)) return nullptr;
    return guarded(OpenedFile(), [&] { return open_and_report(opener_, name, set_error); });
  }

  int Stat(const char* name, VSIStatBufL* status, int flags) override {
    *status = {};
    errno = ENOENT;
    if (is_sidecar_name(name)) return -1;
    return guarded(false, [&] { return get_status(opener_, name, *status, flags); }) ? 0 : -1;
  }

  char** ReadDirEx(const char* name, int max_files) override {
    return guarded<char**>(nullptr, [&] { return list_names(opener_, name, max_files); });
  }

  char** GetFileMetadata(const char* name, const char* domain, CSLConstList /*options*/) override {
    if (domain == nullptr || !EQUAL(domain, "CHUNK_INFO")) return nullptr;
    return guarded<char**>(nullptr, [&] { return chunk_information(opener_, name); });
  }

  bool SupportsSequentialWrite(const char* /*path*/, bool /*allows_temporary*/) override {
    return false;
  }
  bool SupportsRandomWrite(const char* /*path*/, bool /*allows_temporary*/) override {
    return false;
  }

 private:
  ReferenceOpener opener_;
};

// The manager owns handlers; newer versions of GDAL take a shared pointer.
template <typename Manager>
void install(std::string_view prefix, ReferenceOpener opener) {
  const std::string name(prefix);
  if constexpr (requires {
                  Manager::InstallHandler(name, std::shared_ptr<VSIFilesystemHandler>());
                }) {
    Manager::InstallHandler(name, std::make_shared<ReferenceFileSystem>(opener));
  } else {
    Manager::InstallHandler(name, new ReferenceFileSystem(opener));
  }
}

}  // namespace

void install_reference_file_system(std::string_view prefix, ReferenceOpener opener) {
  install<VSIFileManager>(prefix, opener);
}

void install_reference_file_systems() {
  for (const std::string_view prefix :
       {kJsonReferencePrefix, kCachedReferencePrefix, kParquetReferencePrefix}) {
    install_reference_file_system(prefix, open_kerchunk);
  }
}

}  // namespace gdal_zarr
