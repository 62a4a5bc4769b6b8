#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"

namespace gdal_zarr {

using zarrcore::Finding;

CommandResult run_repair(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const bool applies = arguments.has("apply");
  const auto hierarchy = open_examined(path);
  const zarrcore::ExaminedStore examined = examine(*hierarchy, false, progress);
  const auto& store = hierarchy->store();
  CommandResult result;
  zarrcore::Json actions = zarrcore::Json::array();
  const auto add = [&](const std::string& action, const std::string& place) {
    actions.push_back({{"action", action}, {"place", place}});
    result.text += (applies ? "" : "would ") + action + ' ' + place + '\n';
  };

  std::vector<std::string> leftovers = abandoned_files(*store, applies);
  for (const std::string& file : leftovers) add("remove the file of a killed writer", file);
  for (const auto& array : examined.arrays) {
    for (const std::string& key : array.outside) add("remove the chunk outside of its array", key);
    if (applies) store->erase_all(array.outside);
  }
  std::vector<std::string> groups;
  for (const std::string& group : examined.consolidated) {
    const std::string key = hierarchy->format().consolidated_key(group).value_or("");
    const bool is_wrong = std::any_of(
        examined.findings.begin(), examined.findings.end(), [&](const Finding& finding) {
          return finding.kind == Finding::Kind::copy && finding.place == key;
        });
    if (is_wrong) groups.push_back(group);
  }
  if (examined.lacks_copy) add("put the consolidated metadata that is missing in", node_name(""));
  for (const std::string& group : groups) {
    add("put consolidated metadata again in", node_name(group));
  }
  if (applies && (examined.lacks_copy || !groups.empty())) {
    const auto changed = open_changed(path);  // which puts what is missing
    if (!groups.empty()) changed->consolidate(groups);
    changed->flush();
  }
  const auto left =
      std::count_if(examined.findings.begin(), examined.findings.end(), [](const Finding& finding) {
        return finding.kind != Finding::Kind::copy && finding.kind != Finding::Kind::leftover;
      });
  if (actions.empty()) result.text += "There is nothing that can be mended.\n";
  if (left != 0) {
    result.text += std::to_string(left) + " findings need a decision: see check\n";
    result.exit = CommandResult::Exit::found;
  }
  result.json = {{"applied", applies}, {"actions", std::move(actions)}, {"left", left}};
  return result;
}

}  // namespace gdal_zarr
