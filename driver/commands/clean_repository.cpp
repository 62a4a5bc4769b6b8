// Repair of Icechunk repositories: files that no snapshot reaches are removed.
#include <cpl_conv.h>

#include <ctime>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/unreferenced.h"

namespace gdal_zarr {
namespace {

constexpr double kSecondsPerDay = 86'400;

double wanted_days(const Arguments& arguments) {
  if (!arguments.has("older-than")) return 30;
  const std::string text = arguments.text("older-than");
  char* end = nullptr;
  const double days = CPLStrtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(days >= 0)) {
    throw zarrcore::Error("--older-than takes a number of days, not " + text);
  }
  return days;
}

}  // namespace

CommandResult clean_repository(const Arguments& arguments) {
  const double days = wanted_days(arguments);
  const bool applies = applies_changes(arguments);
  const OpenedRepository opened = open_repository(arguments);
  std::vector<std::string> removed;
  std::uint64_t young = 0;
  std::uint64_t bytes = 0;
  const auto now = static_cast<double>(std::time(nullptr));
  for (const std::string& key : zarrcore::icechunk::unreferenced_files(opened.files)) {
    VSIStatBufL status{};
    const std::string file = join_vsi_path(opened.path.repository, key);
    // Where the time is unknown, a file may be that of a running transaction.
    const bool is_old = VSIStatL(file.c_str(), &status) == 0 && status.st_mtime != 0 &&
                        now - static_cast<double>(status.st_mtime) >= days * kSecondsPerDay;
    if (!is_old) {
      ++young;
      continue;
    }
    bytes += static_cast<std::uint64_t>(status.st_size);
    removed.push_back(key);
  }
  if (applies) opened.files->erase_all(removed);
  CommandResult result;
  zarrcore::Json actions = zarrcore::Json::array();
  for (const std::string& key : removed) {
    constexpr const char* kAction = "remove the file that no snapshot names";
    actions.push_back({{"action", kAction}, {"place", key}});
    result.text += std::string(applies ? "" : "would ") + kAction + ' ' + key + '\n';
  }
  result.text += std::to_string(young) + " younger files that no snapshot names stay\n";
  if (removed.empty()) result.text += "There is nothing that can be mended.\n";
  result.json = {{"applied", applies},
                 {"actions", std::move(actions)},
                 {"bytes", bytes},
                 {"younger", young},
                 {"left", 0}};
  return result;
}

}  // namespace gdal_zarr
