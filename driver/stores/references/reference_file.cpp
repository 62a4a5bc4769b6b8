#include "driver/stores/references/reference_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "driver/stores/vsi/vsi_call.h"

namespace gdal_zarr {

int ReferenceFile::Seek(vsi_l_offset offset, int whence) {
  is_at_end_ = false;
  switch (whence) {
    case SEEK_SET:
      position_ = offset;
      return 0;
    case SEEK_CUR:
      position_ += offset;
      return 0;
    case SEEK_END:
      position_ = size_ + offset;
      return 0;
    default:
      errno = EINVAL;
      return -1;
  }
}

std::size_t ReferenceFile::read(void* buffer, std::size_t byte_count) {
  const std::uint64_t left = position_ < size_ ? size_ - position_ : 0;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(byte_count, left));
  if (wanted < byte_count) is_at_end_ = true;
  if (wanted == 0) return 0;
  std::size_t done = wanted;
  if (file_) {
    const VsiCall call;
    done = VSIFSeekL(file_.get(), start_ + position_, SEEK_SET) == 0
               ? VSIFReadL(buffer, 1, wanted, file_.get())
               : 0;
    if (done < wanted) has_failed_ = true;
  } else {
    std::memcpy(buffer, value_.data() + position_, wanted);
  }
  position_ += done;
  return done;
}

#if GDAL_ZARR_AT_LEAST(3, 13)
std::size_t ReferenceFile::Read(void* buffer, std::size_t byte_count) {
  return read(buffer, byte_count);
}

std::size_t ReferenceFile::Write(const void* /*buffer*/, std::size_t /*byte_count*/) {
  errno = EROFS;
  return 0;
}
#else
std::size_t ReferenceFile::Read(void* buffer, std::size_t size, std::size_t count) {
  if (size == 0 || count == 0 || count > SIZE_MAX / size) return 0;
  return read(buffer, size * count) / size;
}

std::size_t ReferenceFile::Write(const void* /*buffer*/, std::size_t /*size*/,
                                 std::size_t /*count*/) {
  errno = EROFS;
  return 0;
}
#endif

int ReferenceFile::ReadMultiRange(int count, void** places, const vsi_l_offset* offsets,
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

int ReferenceFile::Close() {
  file_.reset();
  value_ = {};
  size_ = 0;
  return 0;
}

}  // namespace gdal_zarr
