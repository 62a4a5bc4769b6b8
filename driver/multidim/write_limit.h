// Limits the data that all arrays of a session together hold in memory before it is put.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdal_zarr {

class Array;
class Session;

class WriteLimit {
 public:
  explicit WriteLimit(const Session& session) : session_(session) {}

  // The configuration option ZARR_WRITE_CACHE_SIZE in bytes (256 MB), which also limits each array.
  static std::uint64_t max_bytes();
  // Called after a write to `current`: flushes the other arrays when all together exceed the limit.
  // Throws zarrcore::Error.
  void enforce(const Array& current);

 private:
  const Session& session_;
  std::atomic<unsigned> writes_{0};
};

}  // namespace gdal_zarr
