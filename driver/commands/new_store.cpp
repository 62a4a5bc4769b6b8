#include "driver/commands/new_store.h"

#include <cpl_vsi.h>

#include "driver/entry/manage.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;

NewStore::NewStore(const std::string& name) : name_(parse_connection_string(name).store_path) {
  if (!is_icechunk_name(name_) && path_exists(name_)) throw Error(name_ + " already exists");
  path_ = is_new_folder(name_) ? name_ + std::string(kUnfinishedCopy) : name_;
  if (path_ != name_ && path_exists(path_) && VSIRmdirRecursive(path_.c_str()) != 0) {
    throw Error(path_ + " cannot be removed");
  }
}

std::shared_ptr<zarrcore::Store> NewStore::open() const {
  if (is_icechunk_name(path_)) throw Error(path_ + ": rechunk --into makes Icechunk repositories");
  check_can_be_created(path_, "choose another name");
  return make_new_store(path_);
}

void NewStore::complete() {
  if (path_ != name_ && VSIRename(path_.c_str(), name_.c_str()) != 0) {
    throw Error(path_ + " cannot be renamed to " + name_);
  }
}

}  // namespace gdal_zarr
