#include "driver/stores/vsi/vsi_file.h"

#include <cpl_conv.h>
#include <cpl_multiproc.h>
#include <cpl_string.h>
#include <cpl_vsi_error.h>
#include <cpl_vsi_virtual.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::AccessFailure;
using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;
using zarrcore::ValuePart;

// The server's message when opening failed, with the status of its answer if it is known.
std::string reason_of_failure() {
  const std::string reason = VSIGetLastErrorMsg();
  if (reason.empty() || STARTS_WITH(reason.c_str(), "HTTP response code") ||
      STARTS_WITH(reason.c_str(), "CURL error")) {
    return reason;
  }
  // For object stores, GDAL stores the text of the server, and warns about the status.
  const std::string_view warning = CPLGetLastErrorMsg();
  std::string status;
  if (warning.starts_with("HTTP response code on ")) {
    status = warning.substr(warning.find_last_of(' ') + 1);
  } else if (VSIGetLastErrorNo() == VSIE_AWSAccessDenied) {
    status = "403";
  }
  return status.empty() ? reason : "HTTP response code: " + status + " - " + reason;
}

// Returns true if the server sends headers for a file, as if it existed.
bool has_headers(const std::string& path) {
  const CPLStringList headers(VSIGetFileMetadata(path.c_str(), "HEADERS", nullptr));
  return !headers.empty();
}

// Called when opening failed: throws unless the file does not exist. Only network file systems
// report a reason.
void check_is_absent(const std::string& path) {
  const std::string message = reason_of_failure();
  switch (VSIGetLastErrorNo()) {
    case VSIE_None:
    case VSIE_FileError:
    case VSIE_AWSObjectNotFound:
    case VSIE_AWSBucketNotFound:
      break;
    case VSIE_AWSAccessDenied:
      VSICurlPartialClearCache(path.c_str());
      check_denied_is_absent(path, message);
      return;
    case VSIE_HttpError:
      // The server's own text may follow the code, with any number in it.
      if (message.starts_with("HTTP response code: 404") ||
          message.starts_with("HTTP response code: 410")) {
        return;
      }
      if (message.starts_with("HTTP response code: 401") ||
          message.starts_with("HTTP response code: 403")) {
        VSICurlPartialClearCache(path.c_str());
        check_denied_is_absent(path, message);
        return;
      }
      [[fallthrough]];
    default:
      // Otherwise GDAL caches the file as absent and reports no reason the next time.
      VSICurlPartialClearCache(path.c_str());
      throw AccessFailure(message.empty() ? "cannot be opened" : message);
  }
  // Over the network the reason above is reliable, and asking again would be another request. Other
  // file systems give none, and leave any number in errno.
  if (!VSIIsLocal(path.c_str()) && !has_foreign_file_system(path)) return;
  VSIStatBufL status;
  if (VSIStatExL(path.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
      !VSI_ISDIR(status.st_mode)) {
    throw AccessFailure("cannot be opened");
  }
}

// The path of the file that GDAL's archives and other wrappers read: "/a.zip" of
// "/vsizip/{/a.zip}/x".
std::string innermost_path(std::string_view path) {
  for (const std::string_view prefix :
       {"/vsigzip/", "/vsizip/", "/vsitar/", "/vsi7z/", "/vsirar/", "/vsisparse/", "/vsicrypt/",
        "/vsisubfile/", "/vsicached?"}) {
    if (!path.starts_with(prefix)) continue;
    std::string_view inner = path.substr(prefix.size());
    if (prefix == "/vsisubfile/") inner = inner.substr(std::min(inner.find(',') + 1, inner.size()));
    for (const std::string_view key : {"file=", "{"}) {
      if (const auto start = inner.find(key); start != std::string_view::npos) {
        inner = inner.substr(start + key.size());
      }
    }
    return innermost_path(inner.substr(0, inner.find('}')));
  }
  return std::string(path);
}

// Opening a pipe waits for its other end, and a device may have no end.
void check_is_no_device(const std::string& path) {
  const std::string inner = innermost_path(path);
  if (STARTS_WITH(inner.c_str(), "/vsistdin")) throw Error("it is not a file");
  if (STARTS_WITH(inner.c_str(), "/vsi")) return;
  // In an archive the file is one of the folders above.
  const std::filesystem::path whole = zarrcore::path_of_utf8(inner);
  for (std::filesystem::path file = whole; !file.empty(); file = file.parent_path()) {
    std::error_code error;
    const auto type = std::filesystem::status(file, error).type();
    if (type == std::filesystem::file_type::regular) return;
    if (type == std::filesystem::file_type::directory) {
      if (file == whole) throw Error("it is a folder, not a file");
      return;
    }
    if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::none) {
      throw Error("it is a pipe or a device, not a file");
    }
    if (file == file.parent_path()) return;
  }
}

// The mode of a file or folder; empty when it does not exist.
std::optional<decltype(VSIStatBufL::st_mode)> mode_of(const std::string& path, int flags) {
  const VsiCall call;
  const auto lock = lock_archive(path);
  VSIStatBufL status;
  if (VSIStatExL(path.c_str(), &status, flags) != 0) return std::nullopt;
  return status.st_mode;
}

// While it lives, GDAL fetches so many bytes when it opens a file over the network.
std::optional<CPLConfigOptionSetter> set_bytes_at_open(const std::string& path,
                                                       std::uint64_t wanted) {
  // GDAL fetches 16384 by default, and caches no more than its cache holds.
  constexpr std::uint64_t kDefault = std::uint64_t{16} << 10;
  constexpr std::uint64_t kMax = std::uint64_t{1} << 20;
  const char* name = config_option_name(ConfigOption::ingested_bytes);
  if (wanted <= kDefault || VSIIsLocal(path.c_str()) || path_option(path, name)) {
    return std::nullopt;
  }
  return std::optional<CPLConfigOptionSetter>(
      std::in_place, name, std::to_string(std::min(wanted, kMax)).c_str(), false);
}

constexpr const char* kStem = "zarr_copy";

std::string temporary_path() {
#if GDAL_ZARR_AT_LEAST(3, 11)
  return CPLGenerateTempFilenameSafe(kStem);
#else
  return CPLGenerateTempFilename(kStem);
#endif
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

void check_denied_is_absent(const std::string& path, const std::string& problem) {
  if (path_test(path, ConfigOption::forbidden_is_missing)) return;
  throw zarrcore::AccessDenied(
      problem + " (if the server answers so for files that do not exist, " +
      config_option_name(ConfigOption::forbidden_is_missing) + "=YES treats them as missing)");
}

bool path_exists(const std::string& path) {
  return mode_of(path, VSI_STAT_EXISTS_FLAG).has_value();
}

bool is_file(const std::string& path) {
  const auto mode = mode_of(path, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG);
  return mode && VSI_ISREG(*mode);
}

bool is_folder(const std::string& path) {
  const auto mode = mode_of(path, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG);
  return mode && VSI_ISDIR(*mode);
}

void check_parent_exists(const std::string& path) {
  if (STARTS_WITH(path.c_str(), "/vsi")) return;
  const std::string folder = zarrcore::utf8_of(zarrcore::path_of_utf8(path).parent_path());
  if (!folder.empty() && !is_folder(folder)) {
    throw Error(path + " cannot be created: the folder " + folder + " does not exist");
  }
}

File open_file(const std::string& path, std::uint64_t wanted) {
  const VsiCall call;
  const CPLErrorStateBackuper state;
  const auto bytes_at_open = set_bytes_at_open(path, wanted);
  check_is_no_device(path);
  const auto open = [&] {
    const auto lock = lock_archive(path);
    VSIErrorReset();
    CPLErrorReset();
    // When GDAL lists a folder, it mistakes names without a dot, such as names of chunks, for
    // folders.
    const char* const options[] = {"DISABLE_READDIR_ON_OPEN=YES", nullptr};
    return File(VSIFOpenEx2L(path.c_str(), "rb", TRUE, options));
  };
  File file = open();
  const auto is_unexplained = [&] {
    return !file && VSIGetLastErrorNo() == VSIE_None && !VSIIsLocal(path.c_str());
  };
  if (is_unexplained()) {
    // It is absent in a listing or an earlier answer, or the server's answer could not be used.
    VSICurlPartialClearCache(path.c_str());
    file = open();
    if (is_unexplained() && has_headers(path)) {
      throw AccessFailure("the server has it, but sent it in a way that GDAL does not understand");
    }
  }
  if (!file) check_is_absent(path);
  return file;
}

bool FileVersion::is_ambiguous() const {
  constexpr std::int64_t kTimeResolution = 2;  // in seconds
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - seconds <= kTimeResolution;
}

std::optional<FileVersion> find_file_version(const std::string& path) {
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatL(path.c_str(), &status) != 0) return std::nullopt;
  return FileVersion{static_cast<std::uint64_t>(status.st_size),
                     static_cast<std::int64_t>(status.st_mtime)};
}

std::unique_lock<std::recursive_mutex> lock_archive(const std::string& path) {
  // An archive may be in a store that is in an archive.
  static auto& mutex = *new std::recursive_mutex;
  std::unique_lock lock(mutex, std::defer_lock);
  if (is_in_archive(path) && VSIIsLocal(path.c_str())) lock.lock();
  return lock;
}

FolderListing open_listing(const std::string& folder, int depth) {
  const auto lock = lock_archive(folder);
  const char* const options[] = {"NAME_AND_TYPE_ONLY=YES", nullptr};
  return FolderListing(VSIOpenDir(folder.c_str(), depth, options));
}

std::uint64_t file_size(VSILFILE* file) {
  const VsiCall call;
  if (VSIFSeekL(file, 0, SEEK_END) != 0) throw AccessFailure("its size cannot be determined");
  return VSIFTellL(file);
}

Buffer read_bytes(VSILFILE* file, std::uint64_t offset, std::uint64_t length) {
  const VsiCall call;
  Buffer buffer(length);
  if (VSIFSeekL(file, offset, SEEK_SET) != 0 ||
      VSIFReadL(buffer.data(), 1, length, file) != length) {
    throw AccessFailure("reading " + std::to_string(length) + " bytes at offset " +
                        std::to_string(offset) + " failed");
  }
  return buffer;
}

std::vector<Buffer> read_ranges(VSILFILE* file, std::span<const ByteRange> ranges,
                                bool one_by_one) {
  const std::uint64_t size = file_size(file);
  std::vector<Buffer> parts;
  std::vector<void*> places;
  std::vector<vsi_l_offset> offsets;
  std::vector<std::size_t> lengths;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const std::uint64_t offset = zarrcore::resolve_range(range, size);
    if (ranges.size() == 1 || one_by_one) {
      parts.push_back(read_bytes(file, offset, range.length));
      continue;
    }
    void* place = parts.emplace_back(range.length).data();
    if (range.length == 0) continue;  // /vsicurl/ never returns from an empty range
    places.push_back(place);
    offsets.push_back(offset);
    lengths.push_back(range.length);
  }
  const VsiCall call;
  // Network file systems fetch the ranges in parallel.
  if (!places.empty() && VSIFReadMultiRangeL(static_cast<int>(places.size()), places.data(),
                                             offsets.data(), lengths.data(), file) != 0) {
    throw AccessFailure("reading " + std::to_string(places.size()) + " ranges failed");
  }
  return parts;
}

std::string partial_path(const std::string& path) {
  const std::string folder = CPLGetPath(path.c_str());
  return (folder.empty() ? folder : folder + '/') + '.' + CPLGetFilename(path.c_str()) +
         zarrcore::make_temporary_name();
}

void write_file(const std::string& path, std::span<const ValuePart> parts) {
  const VsiCall call;
  File file(VSIFOpenExL(path.c_str(), "wb", TRUE));
  if (!file) throw Error(std::string("cannot be written: ") + VSIGetLastErrorMsg());
  for (const ValuePart& part : parts) {
    const Buffer fetched = part.fetch ? part.fetch() : Buffer();
    const zarrcore::ByteSpan bytes = part.fetch ? fetched.span() : part.bytes;
    if (VSIFWriteL(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
#if GDAL_ZARR_AT_LEAST(3, 12)
      file->CancelCreation();
#endif
      throw Error("writing " + std::to_string(bytes.size()) + " bytes failed");
    }
  }
  // Buffered writes and uploads report their failure here.
  if (VSIFCloseL(file.release()) != 0) throw Error("cannot be written");
}

TemporaryFile::TemporaryFile(const std::string& folder, std::uint64_t bytes)
    : path_(temporary_path()) {
  std::string problem;
  std::string path = path_;
  if (!folder.empty()) path = folder + '/' + path_.substr(path_.find_last_of("/\\") + 1);
  for (const std::string& candidate : {path_, path}) {
    // Negative if the disk does not state it.
    const GIntBig room = VSIGetDiskFreeSpace(folder_of(candidate).c_str());
    if (room >= 0 && static_cast<std::uint64_t>(room) < bytes + bytes / 16) {
      problem =
          "its disk has " + std::to_string(room) + " bytes of room for " + std::to_string(bytes);
    } else {
      file_.reset(VSIFOpenL(candidate.c_str(), "w+b"));
      if (file_) {
        path_ = candidate;
#ifndef _WIN32
        VSIUnlink(path_.c_str());
#endif
        return;
      }
      problem = "it cannot be written";
    }
    if (path == path_) break;
  }
  throw NoTemporaryFile("temporary file " + path_ + ": " + problem);
}

TemporaryFile::~TemporaryFile() {
#ifdef _WIN32
  file_.reset();
  VSIUnlink(path_.c_str());
#endif
}

std::uint64_t TemporaryFile::append(std::span<const std::byte> bytes) {
  if (VSIFSeekL(file_.get(), end_, SEEK_SET) != 0 ||
      VSIFWriteL(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    throw NoTemporaryFile("temporary file " + path_ + ": writing " + std::to_string(bytes.size()) +
                          " bytes at " + std::to_string(end_) + " failed");
  }
  const std::uint64_t offset = end_;
  end_ += bytes.size();
  return offset;
}

void TemporaryFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (VSIFSeekL(file_.get(), offset, SEEK_SET) != 0 ||
      VSIFReadL(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    throw zarrcore::Error("temporary file " + path_ + ": reading " + std::to_string(bytes.size()) +
                          " bytes at " + std::to_string(offset) + " failed");
  }
}

}  // namespace gdal_zarr
