#include "driver/stores/references/store_file_system.h"

#include <cpl_string.h>
#include <cpl_vsi_error.h>
#include <cpl_vsi_virtual.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "driver/stores/vsi/install_file_system.h"
#include "driver/stores/vsi/vsi_call.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The most names that a folder lists; more do not fit a program's memory.
constexpr std::uint64_t kMaxListedChunks = 1'000'000;

// An open value: bytes in memory or a part of another file.
class ValueFile final : public VSIVirtualHandle {
 public:
  explicit ValueFile(zarrcore::Buffer value) : value_(std::move(value)), size_(value_.size()) {}
  // `range` is inside `file`.
  ValueFile(File file, const zarrcore::ByteRange& range)
      : file_(std::move(file)), start_(range.offset), size_(range.length) {}

  int Seek(vsi_l_offset offset, int whence) override {
    is_at_end_ = false;
    if (whence == SEEK_CUR) {
      position_ += offset;
    } else if (whence == SEEK_SET || whence == SEEK_END) {
      position_ = offset + (whence == SEEK_END ? size_ : 0);
    } else {
      errno = EINVAL;
      return -1;
    }
    return 0;
  }
  vsi_l_offset Tell() override { return position_; }
#if GDAL_ZARR_AT_LEAST(3, 13)
  std::size_t Read(void* buffer, std::size_t byte_count) override {
    return read(buffer, byte_count);
  }
  std::size_t Write(const void* /*buffer*/, std::size_t /*byte_count*/) override {
    return refuse_to_write();
  }
#else
  std::size_t Read(void* buffer, std::size_t size, std::size_t count) override {
    return size == 0 || count > SIZE_MAX / size ? 0 : read(buffer, size * count) / size;
  }
  std::size_t Write(const void* /*buffer*/, std::size_t /*size*/, std::size_t /*count*/) override {
    return refuse_to_write();
  }
#endif
  int ReadMultiRange(int count, void** places, const vsi_l_offset* offsets,
                     const std::size_t* sizes) override;
  int Eof() override { return is_at_end_ ? TRUE : FALSE; }
#if GDAL_ZARR_AT_LEAST(3, 10)
  int Error() override { return has_failed_ ? TRUE : FALSE; }
  void ClearErr() override {
    is_at_end_ = false;
    has_failed_ = false;
  }
#endif
  int Close() override {
    file_.reset();
    value_ = {};
    size_ = 0;
    return 0;
  }

 private:
  std::size_t read(void* buffer, std::size_t byte_count);
  static std::size_t refuse_to_write() {
    errno = EROFS;
    return 0;
  }

  zarrcore::Buffer value_;
  File file_;  // null if the value is in memory
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  bool is_at_end_ = false;
  bool has_failed_ = false;
};

std::size_t ValueFile::read(void* buffer, std::size_t byte_count) {
  const std::uint64_t left = position_ < size_ ? size_ - position_ : 0;
  auto done = static_cast<std::size_t>(std::min<std::uint64_t>(byte_count, left));
  if (done < byte_count) is_at_end_ = true;
  if (done == 0) return 0;
  if (file_) {
    const VsiCall call;
    const bool is_found = VSIFSeekL(file_.get(), start_ + position_, SEEK_SET) == 0;
    const std::size_t wanted = std::exchange(done, 0);
    if (is_found) done = VSIFReadL(buffer, 1, wanted, file_.get());
    if (done < wanted) has_failed_ = true;
  } else {
    std::memcpy(buffer, value_.data() + position_, done);
  }
  position_ += done;
  return done;
}

int ValueFile::ReadMultiRange(int count, void** places, const vsi_l_offset* offsets,
                              const std::size_t* sizes) {
  std::vector<void*> places_in_file;
  std::vector<vsi_l_offset> offsets_in_file;
  std::vector<std::size_t> sizes_in_file;
  for (int i = 0; i < count; ++i) {
    if (offsets[i] > size_ || sizes[i] > size_ - offsets[i]) return -1;
    if (sizes[i] == 0) continue;
    if (!file_) {
      std::memcpy(places[i], value_.data() + offsets[i], sizes[i]);
      continue;
    }
    places_in_file.push_back(places[i]);
    offsets_in_file.push_back(start_ + offsets[i]);
    sizes_in_file.push_back(sizes[i]);
  }
  if (places_in_file.empty()) return 0;
  const VsiCall call;
  return VSIFReadMultiRangeL(static_cast<int>(places_in_file.size()), places_in_file.data(),
                             offsets_in_file.data(), sizes_in_file.data(), file_.get());
}

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

// A value or folder of values by its name.
class OpenedName {
 public:
  OpenedName(StoreOpener opener, const char* name) : scope_(name), value_(opener(name)) {}

  const ReferenceStore& store() const { return *value_.store; }
  const std::string& key() const { return value_.key; }

  template <typename Body>
  auto in_context(const Body& body) const {
    return zarrcore::with_context({store().description(), ": ", key()}, body);
  }

  // The reference as stated in the document, if the name means a value.
  std::optional<Reference> find() const {
    if (key().empty()) return std::nullopt;
    return in_context([this] { return store().find(key()); });
  }
  // The reference with its target as a path.
  Reference resolved(Reference reference) const {
    return in_context([&] { return store().resolved(std::move(reference)); });
  }
  std::optional<Reference> locate() const {
    auto reference = find();
    if (reference) reference = resolved(*std::move(reference));
    return reference;
  }

 private:
  NestingScope scope_;
  NamedValue value_;
};

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

bool get_status(StoreOpener opener, const char* name, VSIStatBufL& status, int flags) {
  const OpenedName named(opener, name);
  // The size of a part is stated; its file need not be opened.
  if (auto reference = named.find()) {
    if (!reference->target.empty() && !reference->length) {
      const auto target = status_of(named.resolved(*std::move(reference)).target, flags);
      if (target) status = *target;
      return target.has_value();
    }
    status.st_mode = S_IFREG;
    status.st_size = static_cast<decltype(status.st_size)>(
        reference->target.empty() ? reference->value.size() : *reference->length);
    return true;
  }
  if (!named.key().empty() && !named.store().has_below(named.key())) return false;
  status.st_mode = S_IFDIR;
  return true;
}

OpenedFile open_value(StoreOpener opener, const char* name) {
  const OpenedName named(opener, name);
  auto reference = named.locate();
  if (!reference) return nullptr;
  if (reference->target.empty()) {
    return OpenedFile(new ValueFile(std::move(reference->value)));
  }
  return named.in_context([&] {
    return zarrcore::with_context(reference->target, [&] {
      File file = open_file(reference->target);
      if (!file) throw Error("this file, which a reference names, does not exist");
      const auto range = find_value(file.get(), *reference);
      return OpenedFile(new ValueFile(std::move(file), range));
    });
  });
}

char** list_names(StoreOpener opener, const char* name, int max_files) {
  const OpenedName named(opener, name);
  const auto listing = named.store().list_chunks(named.key(), kMaxListedChunks);
  CPLStringList names;
  // One name more than `max_files` tells the caller that there are more.
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

char** chunk_information(StoreOpener opener, const char* name) {
  const OpenedName named(opener, name);
  const auto reference = named.locate();
  if (!reference) return nullptr;
  CPLStringList items;
  if (reference->target.empty()) {
    items.SetNameValue("SIZE", std::to_string(reference->value.size()).c_str());
    items.SetNameValue("BASE64", zarrcore::encode_base64(reference->value.span()).c_str());
    return items.StealList();
  }
  std::uint64_t size = reference->length.value_or(0);
  if (!reference->length) {
    const auto status = status_of(reference->target, VSI_STAT_SIZE_FLAG | VSI_STAT_NATURE_FLAG);
    if (!status) return nullptr;
    size = static_cast<std::uint64_t>(status->st_size);
  }
  items.SetNameValue("SIZE", std::to_string(size).c_str());
  items.SetNameValue("OFFSET", std::to_string(reference->offset).c_str());
  items.SetNameValue("FILENAME", reference->target.c_str());
  return items.StealList();
}

// Returns the result of `open_value`. Reports errors, also to VSIGetLastErrorMsg() if the caller
// wants that; then, if references lead to other references, only the first reports the error.
OpenedFile open_and_report(StoreOpener opener, const char* name, bool set_error) {
  try {
    return open_value(opener, name);
  } catch (const std::exception& exception) {
    // An error number that does not mean that the file is missing.
    if (set_error) VSIError(VSIE_HttpError, "%s", mask_secrets(exception.what()).c_str());
    if (!set_error || !NestingScope::is_nested()) {
      report(CE_Failure, CPLE_AppDefined, "Zarr: %s", exception.what());
    }
  }
  return nullptr;
}

// Every function that GDAL calls reports errors, also where other file systems are silent:
// otherwise no message would say which reference is wrong.
class StoreFileSystem final : public VSIFilesystemHandler {
 public:
  explicit StoreFileSystem(StoreOpener opener) : opener_(opener) {}

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
  StoreOpener opener_;
};

}  // namespace

void install_store_file_system(std::string_view prefix, StoreOpener opener) {
  install_file_system<StoreFileSystem>(std::string(prefix), opener);
}

}  // namespace gdal_zarr
