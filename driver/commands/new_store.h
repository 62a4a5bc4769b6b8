// A store that a command makes. A folder of this computer has another name until it is complete.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace gdal_zarr {

class NewStore {
 public:
  // Removes what a killed command has left. Throws zarrcore::Error if the name is taken.
  explicit NewStore(const std::string& name);

  // The name under which it is made.
  const std::string& path() const { return path_; }
  // Opens the store, to put values. Throws zarrcore::Error for Icechunk repositories.
  std::shared_ptr<zarrcore::Store> open() const;
  // Gives it its own name.
  void complete();

 private:
  std::string name_;
  std::string path_;
};

}  // namespace gdal_zarr
