#include <algorithm>
#include <array>
#include <string>

#include "driver/commands/command.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using ParameterKind = Parameter::Kind;

constexpr Parameter kStoreParameter{"store", ParameterKind::positional,
                                    "Path or name of the store, as GDAL opens it", true};
constexpr Parameter kApplyParameter{"apply", ParameterKind::flag,
                                    "Make the changes; without it, they are only listed"};
constexpr Parameter kDryRunParameter{"dry-run", ParameterKind::flag,
                                     "List the changes and make none (the default)"};

constexpr std::array kInfoParameters{kStoreParameter};
constexpr std::array kCheckParameters{
    kStoreParameter,
    Parameter{"read", ParameterKind::flag, "Decode every chunk and verify its checksums"},
};
constexpr std::array kRepairParameters{
    kStoreParameter, kApplyParameter, kDryRunParameter,
    Parameter{"older-than", ParameterKind::text,
              "Of Icechunk: the days for which files that no snapshot names are kept (30)"}};
constexpr std::array kConsolidateParameters{kStoreParameter};
constexpr std::array kMigrateParameters{kStoreParameter, kApplyParameter, kDryRunParameter};
constexpr Parameter kArrayParameter{"array", ParameterKind::text,
                                    "An array, such as /group/array; by default all of two or more "
                                    "dimensions"};
constexpr std::array kRechunkParameters{
    kStoreParameter,
    Parameter{"options", ParameterKind::list,
              "Creation options of arrays, such as BLOCKSIZE=512,512 or COMPRESS=ZSTD", true},
    kArrayParameter,
    Parameter{"into", ParameterKind::text, "The path of a new store; by default in place"},
};
constexpr std::array kOverviewParameters{
    kStoreParameter,
    Parameter{"levels", ParameterKind::list,
              "Such as 2 4 8; by default those that exist, or down to 256 pixels"},
    Parameter{"resampling", ParameterKind::text, "As of gdaladdo (average)"},
    Parameter{"remove", ParameterKind::flag, "Remove all levels"},
};
constexpr std::array kBenchmarkParameters{kStoreParameter, kArrayParameter};
constexpr Parameter kRefNameParameter{"name", ParameterKind::positional,
                                      "Of what is created, deleted or reset"};
constexpr std::array kBranchParameters{
    kStoreParameter,
    Parameter{"action", ParameterKind::positional, "What to do; by default to list them", false,
              "list,create,delete,reset"},
    kRefNameParameter,
};
constexpr std::array kTagParameters{
    kStoreParameter,
    Parameter{"action", ParameterKind::positional, "What to do; by default to list them", false,
              "list,create,delete"},
    kRefNameParameter,
};
constexpr std::array kCommitParameters{
    kStoreParameter,
    Parameter{"sessions", ParameterKind::list, "Files of sessions, all from one snapshot", true},
    Parameter{"message", ParameterKind::text, "Of the commit"},
    Parameter{"new-branch", ParameterKind::text, "A branch that is made for the commit"},
};

constexpr std::array kCommands{
    Command{"info", "Shows what a store holds: nodes, codecs, stored chunks and bytes",
            kInfoParameters, &run_info},
    Command{"check", "Looks for damage: in documents, copies of documents, shards and chunks",
            kCheckParameters, &run_check},
    Command{"repair", "Mends what check finds, as far as it is certain", kRepairParameters,
            &run_repair},
    Command{"consolidate", "Puts consolidated metadata into the root of a store",
            kConsolidateParameters, &run_consolidate},
    Command{"unconsolidate", "Removes consolidated metadata from all groups of a store",
            kConsolidateParameters, &run_unconsolidate},
    Command{"migrate", "Gives the nodes of a Zarr v2 store documents of Zarr v3; chunks stay",
            kMigrateParameters, &run_migrate},
    Command{"rechunk", "Gives arrays other chunks, shards and codecs; elements keep all bits",
            kRechunkParameters, &run_rechunk},
    Command{"overviews", "Builds, rebuilds or removes the overviews of a raster",
            kOverviewParameters, &run_overviews},
    Command{"benchmark", "Measures what a window, a row and a series of each array cost",
            kBenchmarkParameters, &run_benchmark},
    Command{"branch", "Lists and changes the branches of an Icechunk repository", kBranchParameters,
            &run_branch},
    Command{"tag", "Lists and changes the tags of an Icechunk repository", kTagParameters,
            &run_tag},
    Command{"log", "Shows the history of a version of an Icechunk repository", kInfoParameters,
            &run_log},
    Command{"commit", "Commits sessions to a branch of an Icechunk repository", kCommitParameters,
            &run_commit},
};

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

CommandResult run(const Command& command, const Arguments& arguments,
                  const CommandProgress& progress) {
  for (const Parameter& parameter : command.parameters) {
    const std::string name = parameter.name;
    if (!arguments.has(name)) {
      if (!parameter.is_required) continue;
      throw zarrcore::Error("the argument " + name + " is missing; see gdal_zarr " + command.name +
                            " --help");
    }
    const std::string choices = parameter.choices;
    const std::string given = arguments.text(name);
    if (!choices.empty() && (',' + choices + ',').find(',' + given + ',') == std::string::npos) {
      throw zarrcore::Error(name + " is one of " + choices + ", not " + given);
    }
  }
  return command.run(arguments, progress);
}

const Command* find_command(std::string_view name) {
  const auto it = std::find_if(kCommands.begin(), kCommands.end(),
                               [&](const Command& command) { return name == command.name; });
  return it == kCommands.end() ? nullptr : &*it;
}

}  // namespace gdal_zarr
