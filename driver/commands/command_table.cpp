
#include "driver/commands/command.h"
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

#include "driver/gdal/messages.h"

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
constexpr std::array kMigrateParameters{
    kStoreParameter, kApplyParameter, kDryRunParameter,
    Parameter{"copy", ParameterKind::text,
              "The path of a new store, which is made instead; the old one stays"}};
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
    Parameter{"resampling", ParameterKind::text,
              "As of gdaladdo (that of existing levels, or average)"},
    Parameter{"bbox", ParameterKind::text,
              "Refresh this part alone: xmin,ymin,xmax,ymax in the CRS of the raster"},
    Parameter{"window", ParameterKind::text,
              "Refresh this part alone: column,line,width,height in pixels"},
    Parameter{"remove", ParameterKind::flag, "Remove all levels"},
};
constexpr std::array kBenchmarkParameters{kStoreParameter, kArrayParameter};
constexpr std::array kVirtualizeParameters{
    Parameter{"store", ParameterKind::positional,
              "The new store: .json, .parq, .parquet, or an Icechunk repository", true},
    Parameter{"inputs", ParameterKind::list, "Rasters, or one file with arrays"},
    Parameter{"list", ParameterKind::text, "A text file with the name of an input in each line"},
    Parameter{"index", ParameterKind::text, "A tile index, as by gdaltindex"},
    Parameter{"var", ParameterKind::text, "The name of the array (data, or the element of GRIB)"},
    Parameter{"dim", ParameterKind::text,
              "The dimension along which inputs are stacked; without it and times, a mosaic"},
    Parameter{"time-pattern", ParameterKind::text,
              "Where names of inputs have their times, such as %Y%m%dT%H%M%S"},
    Parameter{"time-item", ParameterKind::text,
              "The metadata item that has the time, such as TIFFTAG_DATETIME"},
    Parameter{"auto", ParameterKind::flag, "Copy what cannot be referred to"},
    Parameter{"overwrite", ParameterKind::flag, "Replace the arrays of a repository"},
    Parameter{"relative", ParameterKind::flag, "Name inputs from the folder of the store"},
    Parameter{"v3", ParameterKind::flag, "Write Zarr v3"},
};
constexpr Parameter kBranchParameter{"branch", ParameterKind::text,
                                     "The branch; by default that of the store's name, or main"};
constexpr Parameter kFromParameter{
    "from", ParameterKind::text,
    "A branch, a tag or a snapshot's id; by default the version that "
    "the store's name says"};
constexpr std::array kLogParameters{kStoreParameter, kBranchParameter};
constexpr std::array kBranchParameters{
    kStoreParameter,
    Parameter{"create", ParameterKind::text, "Make a branch of this name"},
    kFromParameter,
    Parameter{"delete", ParameterKind::text, "Delete the branch of this name"},
    Parameter{"reset", ParameterKind::text, "Make another snapshot the newest of this branch"},
    Parameter{"to", ParameterKind::text, "That snapshot's id, or a branch or tag that has it"},
};
constexpr std::array kTagParameters{
    kStoreParameter,
    Parameter{"create", ParameterKind::text, "Make a tag of this name"},
    kFromParameter,
    Parameter{"delete", ParameterKind::text, "Delete the tag of this name, for good"},
};
constexpr std::array kCommitParameters{
    kStoreParameter,
    Parameter{"session", ParameterKind::list,
              "Files of changes that started from the same snapshot", true},
    kBranchParameter,
    Parameter{"new-branch", ParameterKind::text, "Make this branch of that snapshot, and use it"},
    Parameter{"message", ParameterKind::text, "The message of the commit"},
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
    Command{"migrate", "Makes a store of an older version one of Zarr v3; chunks keep their bytes",
            kMigrateParameters, &run_migrate},
    Command{"rechunk", "Gives arrays other chunks, shards and codecs; elements keep all bits",
            kRechunkParameters, &run_rechunk},
    Command{"overviews", "Builds, rebuilds or removes the overviews of a raster",
            kOverviewParameters, &run_overviews},
    Command{"benchmark", "Measures what a window, a row and a series of each array cost",
            kBenchmarkParameters, &run_benchmark},
    Command{"virtualize", "Makes a store whose chunks are the blocks of other files",
            kVirtualizeParameters, &run_virtualize},
    Command{"log", "Shows the history of a branch of an Icechunk repository", kLogParameters,
            &run_log},
    Command{"branch", "Lists, creates, deletes or resets branches of an Icechunk repository",
            kBranchParameters, &run_branch},
    Command{"tag", "Lists, creates or deletes tags of an Icechunk repository", kTagParameters,
            &run_tag},
    Command{"commit", "Commits the changes of sessions to an Icechunk repository",
            kCommitParameters, &run_commit},
};

}  // namespace

CommandOutput run_command(const Command& command, const Arguments& arguments, bool as_json,
                          const CommandProgress& show) {
  HoldMessages messages;
  bool is_shown = false;
  try {
    const CommandResult result = command.run(arguments, [&](double complete) {
      is_shown = show != nullptr;
      return !is_shown || show(complete);
    });
    if (is_shown) show(1);
    return {as_json ? zarrcore::dump_json(result.json, {.indentation = 2}) + '\n'
                    : printable(result.text),
            result.exit};
  } catch (const std::exception& error) {
    messages.leave_out(error.what());
    throw;
  }
}

bool prints_to_terminal() {
#ifdef _WIN32
  return _isatty(_fileno(stdout)) != 0;
#else
  return isatty(fileno(stdout)) != 0;
#endif
}

std::string count_of(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::span<const Command> commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto it = std::find_if(kCommands.begin(), kCommands.end(),
                               [&](const Command& command) { return name == command.name; });
  return it == kCommands.end() ? nullptr : &*it;
}

}  // namespace gdal_zarr
