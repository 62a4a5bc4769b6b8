// What holds of opening and reading through GDAL, whatever is in a store.
#pragma once

#include <string>
#include <string_view>

#include "autotest/fuzz/store_text.h"

namespace zarrcore::fuzz {

// Registers the driver of this tree, and keeps GDAL silent and off the network.
void prepare_gdal();

// A folder of files in /vsimem/ that are removed with it.
class MemoryFolder {
 public:
  explicit MemoryFolder(std::string name);
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::string& path() const { return path_; }
  void add(const std::string& name, std::string_view content);
  void add(const StoreValues& values);

 private:
  std::string path_;
};

// Opens `name` both ways and reads the beginning of its arrays. Ends the process when a part of an
// array has other values than the whole.
void check_raster(const std::string& name);
void check_multidimensional(const std::string& name);

// The files of a fixture, by their paths below its folder.
const std::map<std::string, StoreValues>& fixture_stores();

}  // namespace zarrcore::fuzz
