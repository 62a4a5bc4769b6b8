// The commands of Icechunk repositories: log, branch, tag, commit, and repair of a repository.
#include "driver/commands/repository.h"

#include <cpl_conv.h>
#include <cpl_time.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <set>
#include <span>
#include <utility>

#include "driver/commands/examined.h"
#include "driver/stores/icechunk/icechunk_writer.h"
#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/refs.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Json;
using zarrcore::icechunk::Repository;
using zarrcore::icechunk::SnapshotInfo;
using zarrcore::icechunk::VersionName;

namespace {

// "2026-11-27T09:30:00Z"
std::string time_text(std::uint64_t microseconds) {
  std::tm parts{};
  CPLUnixTimeToYMDHMS(static_cast<GIntBig>(microseconds / 1'000'000), &parts);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text.data();
}

std::string lines_of(const std::string& text, const std::string& indentation) {
  std::string lines = indentation;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += indentation;
  }
  return lines + '\n';
}

using RefKind = VersionName::Kind;

struct RefAction {
  const char* name;      // the option that has the name of the branch or tag
  const char* snapshot;  // the option that has the snapshot; null for none
  const char* done;
  void (*run)(RefKind kind, zarrcore::Store& files, const std::string& name,
              const std::string& snapshot);
};

constexpr std::array kRefActions{
    RefAction{"create", "from", "created",
              [](RefKind kind, zarrcore::Store& files, const std::string& name,
                 const std::string& snapshot) {
                zarrcore::icechunk::create_ref(files, kind, name, snapshot);
              }},
    RefAction{
        "delete", nullptr, "deleted",
        [](RefKind kind, zarrcore::Store& files, const std::string& name,
           const std::string& /*snapshot*/) { zarrcore::icechunk::delete_ref(files, kind, name); }},
    RefAction{"reset", "to", "reset",
              [](RefKind /*kind*/, zarrcore::Store& files, const std::string& name,
                 const std::string& snapshot) {
                zarrcore::icechunk::reset_branch(files, name, snapshot);
              }},
};

// The snapshot that a branch, a tag or an id means. Throws Error if there is none, or more than
// one.
std::string resolve_ref(const Repository& repository, const std::string& name) {
  std::set<std::string> found;
  for (const RefKind kind : {RefKind::branch, RefKind::tag}) {
    for (const Repository::Ref& ref : repository.refs(kind)) {
      if (ref.name == name) found.insert(ref.snapshot);
    }
  }
  if (found.size() > 1) {
    throw Error(name + " is a branch and a tag of different snapshots; give the id of one");
  }
  if (!found.empty()) return *found.begin();
  try {
    return repository.find_snapshot({RefKind::snapshot, name});
  } catch (const Error& error) {
    throw Error(repository.description() + ": there is no branch or tag " + name + ", and " +
                error.what());
  }
}

// Null to list. Throws Error if the options do not fit together.
const RefAction* find_action(const Arguments& arguments) {
  const RefAction* found = nullptr;
  for (const RefAction& action : kRefActions) {
    if (!arguments.has(action.name)) continue;
    if (found != nullptr) {
      throw Error(std::string("--") + found->name + " and --" + action.name +
                  " cannot be given together");
    }
    found = &action;
  }
  for (const RefAction& action : kRefActions) {
    if (action.snapshot != nullptr && arguments.has(action.snapshot) && found != &action) {
      throw Error(std::string("--") + action.snapshot + " is for --" + action.name);
    }
  }
  if (found != nullptr && found->name == std::string_view("reset") && !arguments.has("to")) {
    throw Error("--reset needs --to");
  }
  return found;
}

CommandResult run_refs(const Arguments& arguments, RefKind kind) {
  const RefAction* const action = find_action(arguments);
  const OpenedRepository opened = open_repository(arguments);
  CommandResult result;
  result.json["store"] = opened.path.repository;
  if (action == nullptr) {
    Json refs = refs_json(*opened.repository, kind);
    for (const Json& ref : refs) {
      result.text +=
          ref["name"].get<std::string>() + "  " + ref["snapshot"].get<std::string>() + '\n';
    }
    result.json[kind == RefKind::tag ? "tags" : "branches"] = std::move(refs);
    return result;
  }
  const std::string name = arguments.text(action->name);
  const std::string what = describe(VersionName{kind, name});
  result.json[action->done] = name;
  result.text = opened.path.repository + ": " + what + " was " + action->done;
  std::string snapshot;
  if (action->snapshot != nullptr) {
    snapshot = arguments.has(action->snapshot)
                   ? resolve_ref(*opened.repository, arguments.text(action->snapshot))
                   : opened.repository->find_snapshot(opened.path.version);
    result.json["snapshot"] = snapshot;
    result.text += " at snapshot " + snapshot;
  }
  if (!VSIIsLocal(opened.path.repository.c_str())) prove_conditions(opened.path.repository);
  action->run(kind, *opened.files, name, snapshot);
  result.text += '\n';
  return result;
}

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

OpenedRepository open_repository(const Arguments& arguments) {
  const std::string name = store_of(arguments);
  OpenedRepository opened{
      has_icechunk_prefix(name) ? parse_icechunk_path(name) : IcechunkPath{name}, {}, {}};
  opened.files = make_store(opened.path.repository);
  opened.files->refresh();  // branches and tags may have changed
  opened.repository = zarrcore::icechunk::Repository::open(opened.files, opened.path.version);
  return opened;
}

Json history_json(zarrcore::Store& files, const std::string& snapshot, std::size_t most) {
  Json history = Json::array();
  for (const SnapshotInfo& info : zarrcore::icechunk::ancestry(files, snapshot, most)) {
    Json properties = Json::object();
    for (const auto& [name, value] : info.properties) properties[name] = value;
    history.push_back({{"id", info.id},
                       {"parent", info.parent.empty() ? Json() : Json(info.parent)},
                       {"time", time_text(info.time)},
                       {"message", info.message},
                       {"properties", std::move(properties)}});
  }
  return history;
}

std::string history_text(const Json& history, const std::string& indentation) {
  std::string text;
  const std::string below = indentation + "    ";
  for (const Json& snapshot : history) {
    text += indentation + snapshot["id"].get<std::string>() + "  " +
            snapshot["time"].get<std::string>() + '\n' +
            lines_of(snapshot["message"].get<std::string>(), below);
    for (const auto& [name, value] : snapshot["properties"].items()) {
      text += lines_of(name + ": " + value.get<std::string>(), below);
    }
  }
  return text;
}

CommandResult run_log(const Arguments& arguments, const CommandProgress& /*progress*/) {
  OpenedRepository opened = open_repository(arguments);
  if (arguments.has("branch")) {
    opened.path.version = {VersionName::Kind::branch, arguments.text("branch")};
  }
  const Json history =
      history_json(*opened.files, opened.repository->find_snapshot(opened.path.version));
  return {{{"store", opened.path.repository},
           {"version", describe(opened.path.version)},
           {"snapshots", history}},
          history_text(history)};
}

Json refs_json(const Repository& repository, RefKind kind) {
  Json refs = Json::array();
  for (const Repository::Ref& ref : repository.refs(kind)) {
    refs.push_back({{"name", ref.name}, {"snapshot", ref.snapshot}});
  }
  return refs;
}

CommandResult run_branch(const Arguments& arguments, const CommandProgress& /*progress*/) {
  return run_refs(arguments, RefKind::branch);
}

CommandResult run_tag(const Arguments& arguments, const CommandProgress& /*progress*/) {
  return run_refs(arguments, RefKind::tag);
}

CommandResult run_commit(const Arguments& arguments, const CommandProgress& /*progress*/) {
  OpenedRepository opened = open_repository(arguments);
  const std::vector<std::string> sessions = arguments.list("session");
  IcechunkWriteOptions options;
  options.session = sessions.front();
  options.new_branch = arguments.text("new-branch");
  if (arguments.has("branch")) {
    if (!options.new_branch.empty()) {
      throw zarrcore::Error("--branch and --new-branch cannot be given together");
    }
    opened.path.version = {VersionName::Kind::branch, arguments.text("branch")};
  }
  IcechunkWriter writer(opened.path, options);
  for (const std::string& session : std::span(sessions).subspan(1)) {
    zarrcore::with_context({session}, [&] { writer.run("MERGE", session, {}); });
  }
  writer.run("COMMIT", arguments.text("message"),
             "changes of " + count_of(sessions.size(), "session"));
  const std::string& branch = writer.store()->branch();
  const std::string snapshot = writer.store()->snapshot_id();
  return {{{"store", opened.path.repository}, {"branch", branch}, {"snapshot", snapshot}},
          opened.path.repository + ": snapshot " + snapshot + " of branch " + branch + '\n'};
}

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
