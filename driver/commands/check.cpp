#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Finding;
using zarrcore::Json;

namespace {

// The damage that keeps a store from being opened, which is then all that is known of it.
zarrcore::ExaminedStore with_broken_root(const zarrcore::Error& error) {
  zarrcore::ExaminedStore examined;
  examined.findings.push_back({Finding::Kind::document, "", error.what()});
  return examined;
}

}  // namespace

CommandResult run_check(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  std::unique_ptr<zarrcore::Hierarchy> hierarchy;
  zarrcore::ExaminedStore examined;
  try {
    hierarchy = open_examined(path);
  } catch (const zarrcore::AccessFailure&) {
    throw;
  } catch (const zarrcore::Error& error) {
    const bool is_zarr =
        is_folder(path) ? is_zarr_folder(path) : find_zipped_store(path).has_value();
    if (!is_zarr) throw;
    examined = with_broken_root(error);
  }
  if (hierarchy) {
    examined = examine(
        *hierarchy, arguments.has("read") ? ExaminedParts::values : ExaminedParts::names, progress);
    for (Finding& finding : check_conventions(*hierarchy, examined)) {
      examined.findings.push_back(std::move(finding));
    }
    for (const std::string& file : examined.temporary_files) {
      examined.findings.push_back(
          {Finding::Kind::leftover, file, "a program that was killed has left this file"});
    }
  }
  CommandResult result;
  Json findings = Json::array();
  for (const Finding& finding : examined.findings) {
    const std::string kind(name_of(finding.kind));
    findings.push_back({{"kind", kind}, {"place", finding.place}, {"problem", finding.problem}});
    result.text += kind + ' ' + node_name(finding.place) + ": " + finding.problem + '\n';
  }
  Json arrays = Json::array();
  for (const ExaminedArray& array : examined.arrays) {
    arrays.push_back({{"path", node_name(array.path)},
                      {"chunks", array.grid_chunks},
                      {"stored", array.chunks},
                      {"missing", array.grid_chunks - array.chunks}});
    if (array.inner_chunks) arrays.back()["inner_chunks"] = *array.inner_chunks;
    result.text += node_name(array.path) + ": " + std::to_string(array.chunks) + " of " +
                   count_of(array.grid_chunks, "chunk") + " stored\n";
  }
  if (examined.foreign_values != 0) {
    result.text += count_of(examined.foreign_values, "value") +
                   (examined.foreign_values == 1 ? " belongs" : " belong") +
                   " to no node, such as " + examined.first_foreign.front() + '\n';
  }
  result.text +=
      findings.empty() ? "No damage was found.\n" : count_of(findings.size(), "finding") + ".\n";
  if (!findings.empty()) result.exit = CommandResult::Exit::found;
  result.json["findings"] = std::move(findings);
  result.json["arrays"] = std::move(arrays);
  result.json["foreign_values"] = examined.foreign_values;
  result.json["first_foreign_values"] = examined.first_foreign;
  return result;
}

}  // namespace gdal_zarr
