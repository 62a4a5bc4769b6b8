// Scale and offset that programs set on arrays of a store opened for reading. GDAL's
// GDALPamMultiDim, which stores CRSs and statistics in the file pam.aux.xml of the store, cannot
// store them. We add an element to that file, which GDAL preserves when it writes the file:
//
//   <ZarrArray name="/group/array"><Scale>0.01</Scale><Offset>273.15</Offset></ZarrArray>
#pragma once

#include <gdal_pam.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gdal_zarr {

class PamValues {
 public:
  struct Values {
    std::optional<double> scale;
    std::optional<double> offset;
  };

  // `path` is the path of the file without ".aux.xml".
  explicit PamValues(std::string path) : path_(std::move(path)) {}

  // Returns true if GDAL looks for the file, which would cost requests on the network.
  bool has_file() const;
  // The values of the array with this full name. Reads the file when it is first needed.
  Values find(const std::string& array);
  void set(const std::string& array, const Values& values);
  // Writes the values that were set, after GDAL has written the file. A failure is reported as
  // CE_Failure.
  void save();

 private:
  void load();

  std::string path_;
  std::mutex mutex_;  // guards the members below
  bool is_loaded_ = false;
  bool has_changed_ = false;
  std::map<std::string, Values> values_;  // by full name
};

// GDAL's own part of the file. Its destructor writes the file, and `values` after it.
std::shared_ptr<GDALPamMultiDim> make_pam(const std::string& path,
                                          const std::shared_ptr<PamValues>& values);

}  // namespace gdal_zarr
