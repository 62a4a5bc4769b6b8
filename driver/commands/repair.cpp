// Mends what check finds, as far as it is certain.
#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Finding;

namespace {

// What can be repaired for certain, and what needs a decision.
struct RepairPlan {
  // Arrays with chunks outside of their shape, which they had before they shrank.
  std::vector<const ExaminedArray*> shrunk = {};
  std::vector<std::string> groups = {};  // whose consolidated metadata is made again
  // What an interrupted rechunk has left.
  std::set<std::string, std::less<>> leftovers = {};
  std::size_t left = 0;  // findings that need a decision
};

// Returns true if a node at or below the group has documents that cannot be used. Consolidated
// metadata may have the only good copy of them.
bool has_broken_nodes(const zarrcore::ExaminedStore& examined, const std::string& group) {
  return std::ranges::any_of(examined.findings, [&](const Finding& finding) {
    return finding.kind == Finding::Kind::document &&
           zarrcore::is_at_or_below(finding.place, group);
  });
}

bool has_wrong_copy(const zarrcore::ExaminedStore& examined, std::string_view key) {
  return std::ranges::any_of(examined.findings, [&](const Finding& finding) {
    return finding.kind == Finding::Kind::copy && finding.place == key;
  });
}

// Returns true if there is no doubt about the array that an interrupted rechunk has left beside
// another one, or that has replaced it: one of them can be read.
bool is_certain(const zarrcore::Hierarchy& hierarchy, const std::string& leftover) {
  if (leftover == kRechunkLock) return true;
  const auto is_array = [&](const std::string& path) {
    try {
      return hierarchy.node(path, zarrcore::NodeKind::array) != nullptr;
    } catch (const zarrcore::AccessFailure&) {
      throw;
    } catch (const zarrcore::Error&) {
      return false;
    }
  };
  const std::string name = leftover.substr(0, leftover.rfind(".gdal-zarr-"));
  return is_array(name) ||
         (!hierarchy.store()->has_prefix(name) && is_array(name + std::string(kReplacedArray)));
}

// `examined` must outlive the result. Throws AccessFailure.
RepairPlan plan_repair(const zarrcore::Hierarchy& hierarchy,
                       const zarrcore::ExaminedStore& examined) {
  RepairPlan plan;
  for (const Finding& finding : examined.findings) {
    if (finding.kind != Finding::Kind::copy && finding.kind != Finding::Kind::leftover) ++plan.left;
  }

  // Chunks are outside because the array has shrunk, or because its document is wrong. Consolidated
  // metadata that says otherwise makes that uncertain.
  std::vector<std::string> uncertain;  // arrays
  for (const ExaminedArray& array : examined.arrays) {
    if (array.outside.empty()) continue;
    if (array.has_other_copy) {
      uncertain.push_back(array.path);
    } else {
      plan.shrunk.push_back(&array);
    }
  }
  plan.left += uncertain.size();
  const auto contains_uncertain = [&](const std::string& group) {
    return std::ranges::any_of(uncertain, [&](const std::string& array) {
      return zarrcore::is_at_or_below(array, group);
    });
  };
  bool keeps_copies = false;
  for (const std::string& group : examined.consolidated) {
    if (!has_wrong_copy(examined, hierarchy.format().consolidated_key(group).value_or("")))
      continue;
    if (has_broken_nodes(examined, group) || contains_uncertain(group)) {
      keeps_copies = true;
      ++plan.left;
    } else {
      plan.groups.push_back(group);
    }
  }
  plan.leftovers = examined.leftovers;
  // Renaming and erasing nodes makes consolidated metadata again.
  plan.left += std::erase_if(plan.leftovers, [&](const std::string& leftover) {
    return keeps_copies || !is_certain(hierarchy, leftover);
  });
  return plan;
}

// Of the chunks that were outside of an array, those that are outside of it as it is now: it may
// have grown since it was examined.
std::vector<std::string> still_outside(const zarrcore::Hierarchy& hierarchy,
                                       const ExaminedArray& examined) {
  const auto array = hierarchy.open_array(examined.path, shared_context());
  std::vector<std::string> keys = examined.outside;
  std::erase_if(keys, [&](const std::string& key) {
    const auto chunk = zarrcore::chunk_of_key(examined.metadata, key);
    return !chunk || zarrcore::is_in_grid(*chunk, array->state().grid);
  });
  return keys;
}

}  // namespace

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
  // consolidated metadata that a killed program left out of date.
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
