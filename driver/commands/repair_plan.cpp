#include "driver/commands/repair_plan.h"

#include <algorithm>
#include <string_view>

#include "driver/gdal/worker_scope.h"
#include "driver/multidim/stored_nodes.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Finding;

namespace {

// Whether a node at or below the group has documents that cannot be used. Consolidated metadata may
// have the only good copy of them.
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

}  // namespace

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

}  // namespace gdal_zarr
