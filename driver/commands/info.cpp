// The store at a glance: its nodes as a tree, and of a repository its versions.
#include <algorithm>
#include <map>
#include <memory>

#include "driver/commands/examined.h"
#include "driver/commands/info_array.h"
#include "driver/commands/repository.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

using zarrcore::Json;
using zarrcore::icechunk::IcechunkStore;
using zarrcore::icechunk::VersionName;

namespace {

constexpr std::size_t kLastSnapshots = 5;

Json describe_repository(const IcechunkStore& store) {
  const auto& repository = store.repository();
  Json json{{"format", repository.format()},
            {"version", describe(store.version())},
            {"branches", refs_json(repository, VersionName::Kind::branch)},
            {"tags", refs_json(repository, VersionName::Kind::tag)},
            {"last_snapshots", Json::array()}};
  try {
    json["last_snapshots"] = history_json(repository.files(), store.snapshot_id(), kLastSnapshots);
  } catch (const zarrcore::Error& error) {  // its arrays may be sound
    json["history_problem"] = error.what();
  }
  return json;
}

std::string repository_text(const Json& repository) {
  std::string text = "Icechunk format " + std::to_string(repository["format"].get<int>()) + ", " +
                     repository["version"].get<std::string>() + '\n';
  for (const char* kind : {"branches", "tags"}) {
    if (repository[kind].empty()) continue;
    std::string names;
    for (const Json& ref : repository[kind]) {
      names += (names.empty() ? "" : ", ") + ref["name"].get<std::string>();
    }
    text += std::string(kind) + ": " + names + '\n';
  }
  if (repository.contains("history_problem")) {
    return text + "no history: " + repository["history_problem"].get<std::string>() + '\n';
  }
  return text + "last snapshots:\n" + history_text(repository["last_snapshots"], "  ");
}

// Each node below its group. `arrays` are described, by their paths.
std::string tree_text(const std::vector<std::string>& groups,
                      const std::map<std::string, Json>& arrays) {
  std::vector<std::string> paths = groups;
  for (const auto& [path, array] : arrays) paths.push_back(path);
  std::ranges::sort(paths, {}, [](std::string path) {
    std::ranges::replace(path, '/', '\0');  // what is below "a" comes before "a-b"
    return path;
  });
  std::string text;
  for (const std::string& path : paths) {
    const auto depth = path.empty() ? 0 : 1 + std::ranges::count(path, '/');
    const std::string indentation(2 * static_cast<std::size_t>(depth), ' ');
    const std::string name = path.empty() ? "/" : std::string(zarrcore::last_segment(path));
    const auto array = arrays.find(path);
    text += array != arrays.end() ? array_text(array->second, name, indentation)
                                  : indentation + name + (path.empty() ? "\n" : "/\n");
  }
  return text;
}

}  // namespace

CommandResult run_info(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  SessionOptions options;
  options.use_consolidated = false;
  const QuietErrors quiet;  // what is reported becomes findings
  const auto session = Session::open(path, options);
  const zarrcore::Hierarchy& hierarchy = session->hierarchy();
  const zarrcore::ExaminedStore examined =
      examine(hierarchy, ExaminedParts::sizes,
              [&](double complete) { return complete == 0 || progress(complete); });
  const bool is_consolidated =
      std::ranges::find(examined.consolidated, "") != examined.consolidated.end();
  CommandResult result;
  Json groups = Json::array();
  for (const std::string& group : examined.groups) groups.push_back(node_name(group));
  result.json = {{"store", path},
                 {"format", hierarchy.format().name()},
                 {"consolidated", is_consolidated},
                 {"groups", std::move(groups)},
                 {"arrays", Json::array()}};
  result.text = path + ": " + std::string(hierarchy.format().name()) +
                (is_consolidated             ? ", consolidated, "
                 : has_icechunk_prefix(path) ? ", "
                                             : ", not consolidated, ") +
                count_of(examined.groups.size(), "group") + ", " +
                count_of(examined.arrays.size(), "array") + '\n';
  if (const auto* store = dynamic_cast<const IcechunkStore*>(hierarchy.store().get())) {
    result.json["repository"] = describe_repository(*store);
    result.text += repository_text(result.json["repository"]);
  }
  std::map<std::string, Json> arrays;
  for (const zarrcore::ExaminedArray& array : examined.arrays) {
    const Json& json = arrays.emplace(array.path, describe_array(*session, array)).first->second;
    result.json["arrays"].push_back(json);
  }
  result.text += tree_text(examined.groups, arrays);
  if (!examined.findings.empty()) {
    result.json["findings"] = examined.findings.size();
    result.text += count_of(examined.findings.size(), "finding") + ": see check\n";
  }
  return result;
}

}  // namespace gdal_zarr
