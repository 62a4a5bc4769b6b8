#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/commands/repair_plan.h"
#include "driver/commands/repository.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;

CommandResult run_repair(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const bool applies = applies_changes(arguments);
  if (has_icechunk_prefix(path)) return clean_repository(arguments);
  if (arguments.has("older-than")) throw zarrcore::Error("--older-than is for Icechunk");
  const auto hierarchy = open_examined(path);
  const zarrcore::ExaminedStore examined = examine(*hierarchy, ExaminedParts::names, progress);
  CommandResult result;
  zarrcore::Json actions = zarrcore::Json::array();
  const auto add = [&](const std::string& action, const std::string& place) {
    actions.push_back({{"action", action}, {"place", place}});
    result.text += (applies ? "" : "would ") + action + ' ' + place + '\n';
  };
  const RepairPlan plan = plan_repair(*hierarchy, examined);
  if (applies && !plan.leftovers.empty()) end_interrupted_rechunk(path, plan.leftovers);
  for (const std::string& leftover : plan.leftovers) {
    add("end the interrupted rechunk that has left", leftover);
  }
  // Also throws, before anything is changed, when the store cannot be written; and puts the
  // consolidated metadata that a killed program owes.
  const auto changed = applies ? open_changed(path) : nullptr;
  for (const std::string& file : examined.temporary_files) {
    const bool is_done = !applies || remove_abandoned_file(*hierarchy->store(), file);
    if (is_done) add("remove the file of a killed writer", file);
  }
  if (!plan.shrunk.empty()) {
    // Under this lock, arrays change their shape.
    const auto lock = applies ? changed->store()->lock("") : nullptr;
    const auto now = open_examined(path);
    for (const ExaminedArray* array : plan.shrunk) {
      const std::vector<std::string> keys = still_outside(*now, *array);
      if (applies) changed->store()->erase_all(keys);
      for (const std::string& key : keys) add("remove the chunk outside of its array", key);
    }
  }
  if (examined.lacks_copy) add("put the consolidated metadata that is missing in", node_name(""));
  for (const std::string& group : plan.groups) {
    add("put consolidated metadata again in", node_name(group));
  }
  if (applies && !plan.groups.empty()) changed->consolidate(plan.groups);
  if (applies) end_changes(*changed);
  if (actions.empty()) result.text += "There is nothing that can be mended.\n";
  if (plan.left != 0) {
    result.text += std::to_string(plan.left) +
                   (plan.left == 1 ? " finding needs" : " findings need") +
                   " a decision: see check\n";
  }
  if (plan.left != 0 || (!applies && !actions.empty())) result.exit = CommandResult::Exit::found;
  result.json = {{"applied", applies}, {"actions", std::move(actions)}, {"left", plan.left}};
  return result;
}

}  // namespace gdal_zarr
