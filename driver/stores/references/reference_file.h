// An open file in a file system of references: a value, which is bytes in memory or a part of
// another file.
#pragma once

#include <cpl_vsi_virtual.h>

#include <cstdint>

#include "driver/gdal/compat.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

class ReferenceFile final : public VSIVirtualHandle {
 public:
  explicit ReferenceFile(zarrcore::Buffer value) : value_(std::move(value)), size_(value_.size()) {}
  // `range` is inside `file`.
  ReferenceFile(File file, const zarrcore::ByteRange& range)
      : file_(std::move(file)), start_(range.offset), size_(range.length) {}

  int Seek(vsi_l_offset offset, int whence) override;
  vsi_l_offset Tell() override { return position_; }
#if GDAL_ZARR_AT_LEAST(3, 13)
  std::size_t Read(void* buffer, std::size_t byte_count) override;
  std::size_t Write(const void* buffer, std::size_t byte_count) override;
#else
  std::size_t Read(void* buffer, std::size_t size, std::size_t count) override;
  std::size_t Write(const void* buffer, std::size_t size, std::size_t count) override;
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
  int Close() override;

 private:
  std::size_t read(void* buffer, std::size_t byte_count);

  zarrcore::Buffer value_;
  File file_;  // null if the value is in memory
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  bool is_at_end_ = false;
  bool has_failed_ = false;
};

}  // namespace gdal_zarr
