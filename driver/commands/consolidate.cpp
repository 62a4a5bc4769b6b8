#include "driver/commands/examined.h"

namespace gdal_zarr {

CommandResult run_consolidate(const Arguments& arguments, const CommandProgress& /*progress*/) {
  const std::string path = store_of(arguments);
  const auto changed = open_changed(path);
  changed->consolidate();
  end_changes(*changed);
  return {{{"store", path}, {"consolidated", true}},
          path + ": consolidated metadata is at the root\n"};
}

CommandResult run_unconsolidate(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const auto changed = open_changed(path);  // which completes what a killed program left
  const auto groups = examine(*open_examined(path), ExaminedParts::names, progress).consolidated;
  changed->remove_consolidated(groups);
  end_changes(*changed);
  return {
      {{"store", path}, {"consolidated", false}, {"groups", groups}},
      path + ": consolidated metadata of " + count_of(groups.size(), "group") + " was removed\n"};
}

}  // namespace gdal_zarr
