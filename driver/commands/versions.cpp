// Icechunk: branches, tags, history, and sessions that become commits. The name of the store
// chooses the version that they start from.
#include <cpl_time.h>

#include <array>
#include <cstdio>
#include <utility>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/stores/icechunk/icechunk_writer.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Json;
using namespace zarrcore::icechunk;

namespace {

// "2026-11-27T09:30:00Z"
std::string time_text(std::uint64_t microseconds) {
  struct tm parts{};
  CPLUnixTimeToYMDHMS(static_cast<GIntBig>(microseconds / 1'000'000), &parts);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text.data();
}

using ChangeRef = void (*)(zarrcore::Store& files, std::string_view name,
                           std::string_view snapshot);

struct RefAction {
  const char* name;
  ChangeRef change;  // null for none
};

constexpr RefAction kBranchActions[] = {
    {"list", nullptr},
    {"create", &create_branch},
    {"delete", [](zarrcore::Store& files, std::string_view name,
                  std::string_view) { delete_branch(files, name); }},
    {"reset", &reset_branch},
};
constexpr RefAction kTagActions[] = {
    {"list", nullptr},
    {"create", &create_tag},
    {"delete", [](zarrcore::Store& files, std::string_view name,
                  std::string_view) { delete_tag(files, name); }},
};

CommandResult run_refs(const Arguments& arguments, std::span<const RefAction> actions,
                       const std::string& kind) {
  ExaminedRepository opened = open_repository(arguments);
  const std::string wanted = arguments.has("action") ? arguments.text("action") : "list";
  const std::string name = arguments.text("name");
  for (const RefAction& action : actions) {
    if (wanted != action.name || action.change == nullptr) continue;
    if (name.empty()) throw Error("the name of the " + kind + " is missing");
    // What is deleted may be the version that the store's name stands for.
    const std::string snapshot =
        wanted == "delete" ? "" : opened.repository->find_snapshot(opened.path.version);
    action.change(*opened.files, name, snapshot);
    opened = open_repository(arguments);
  }
  if (wanted == "list" && !name.empty()) throw Error("list takes no name");
  Json refs;
  add_refs(refs, *opened.repository);
  const std::string plural = kind == "branch" ? "branches" : "tags";
  return {{{"store", opened.path.repository}, {plural, refs[plural]}}, text_of_refs(refs, plural)};
}

}  // namespace

ExaminedRepository open_repository(const Arguments& arguments) {
  std::string name = store_of(arguments);
  if (!has_icechunk_prefix(name)) name = find_icechunk_path(name, VersionName());
  ExaminedRepository opened{parse_icechunk_path(name), nullptr, nullptr};
  opened.files = make_store(opened.path.repository);
  opened.files->refresh();  // branches and tags may have changed
  opened.repository = Repository::open(opened.files);
  return opened;
}

void add_refs(Json& json, const Repository& repository) {
  const auto refs = [&](VersionName::Kind kind) {
    Json list = Json::array();
    for (const Repository::Ref& ref : repository.refs(kind)) {
      list.push_back({{"name", ref.name}, {"snapshot", ref.snapshot}});
    }
    return list;
  };
  json["branches"] = refs(VersionName::Kind::branch);
  json["tags"] = refs(VersionName::Kind::tag);
}

Json history_of(zarrcore::Store& files, const std::string& snapshot) {
  Json history = Json::array();
  for (const SnapshotInfo& info : ancestry(files, snapshot)) {
    Json entry{{"snapshot", info.id}, {"time", time_text(info.time)}, {"message", info.message}};
    for (const auto& [name, value] : info.properties) entry["properties"][name] = value;
    history.push_back(std::move(entry));
  }
  return history;
}

std::string text_of_refs(const Json& refs, const std::string& kind) {
  std::string text;
  for (const Json& ref : refs[kind]) {
    text += ref["name"].get<std::string>() + "  " + ref["snapshot"].get<std::string>() + '\n';
  }
  return text.empty() ? "There are no " + kind + ".\n" : text;
}

std::string text_of_history(const Json& history) {
  std::string text;
  for (const Json& entry : history) {
    text += entry["snapshot"].get<std::string>() + "  " + entry["time"].get<std::string>() + "  " +
            entry["message"].get<std::string>() + '\n';
  }
  return text;
}

CommandResult run_branch(const Arguments& arguments, const CommandProgress& /*progress*/) {
  return run_refs(arguments, kBranchActions, "branch");
}

CommandResult run_tag(const Arguments& arguments, const CommandProgress& /*progress*/) {
  return run_refs(arguments, kTagActions, "tag");
}

CommandResult run_log(const Arguments& arguments, const CommandProgress& /*progress*/) {
  const ExaminedRepository opened = open_repository(arguments);
  const Json history =
      history_of(*opened.files, opened.repository->find_snapshot(opened.path.version));
  return {{{"store", opened.path.repository}, {"history", history}}, text_of_history(history)};
}

CommandResult run_commit(const Arguments& arguments, const CommandProgress& /*progress*/) {
  const ExaminedRepository opened = open_repository(arguments);
  const std::vector<std::string> sessions = arguments.list("sessions");
  IcechunkWriteOptions options;
  options.session = sessions.front();
  options.new_branch = arguments.text("new-branch");
  IcechunkWriter writer(opened.path, options);
  for (std::size_t i = 1; i < sessions.size(); ++i) writer.run("MERGE", sessions[i], "");
  writer.run("COMMIT", arguments.text("message"),
             "changes of " + std::to_string(sessions.size()) + " session" +
                 (sessions.size() == 1 ? "" : "s"));
  const std::string snapshot = writer.store()->snapshot_id();
  const std::string& branch = writer.store()->branch();
  return {{{"store", opened.path.repository}, {"branch", branch}, {"snapshot", snapshot}},
          opened.path.repository + ": snapshot " + snapshot + " of the branch " + branch + '\n'};
}

}  // namespace gdal_zarr
