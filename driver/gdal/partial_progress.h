// The progress of a part of some work.
#pragma once

#include <gdal.h>

#include <memory>

namespace gdal_zarr {

// Maps the progress of a part, 0 to 1, to `from` to `to` of the whole.
class PartialProgress {
 public:
  PartialProgress(double from, double to, GDALProgressFunc progress, void* data)
      : data_(GDALCreateScaledProgress(from, to, progress, data)) {}

  // GDAL returns null data when no progress is wanted.
  GDALProgressFunc function() const { return data_ ? GDALScaledProgress : GDALDummyProgress; }
  void* data() const { return data_.get(); }
  // Returns false when the work is to be stopped.
  bool operator()(double share) const { return function()(share, nullptr, data()) != FALSE; }

 private:
  struct Destroy {
    void operator()(void* data) const { GDALDestroyScaledProgress(data); }
  };
  std::unique_ptr<void, Destroy> data_;
};

}  // namespace gdal_zarr
