#include "driver/stores/vsi/temporary_file.h"

#include <cpl_conv.h>

#include <cstring>

#include "driver/gdal/compat.h"

namespace gdal_zarr {
namespace {

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
