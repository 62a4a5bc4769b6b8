// The commands branch and tag.
#include <array>
#include <set>

#include "driver/commands/repository.h"
#include "driver/stores/vsi/object_put.h"
#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/refs.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Json;
using zarrcore::icechunk::Repository;
using zarrcore::icechunk::VersionName;

namespace {

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
                (kind == RefKind::tag ? zarrcore::icechunk::create_tag
                                      : zarrcore::icechunk::create_branch)(files, name, snapshot);
              }},
    RefAction{"delete", nullptr, "deleted",
              [](RefKind kind, zarrcore::Store& files, const std::string& name,
                 const std::string& /*snapshot*/) {
                kind == RefKind::tag ? zarrcore::icechunk::delete_tag(files, name)
                                     : zarrcore::icechunk::delete_branch(files, name);
              }},
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

}  // namespace

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

}  // namespace gdal_zarr
