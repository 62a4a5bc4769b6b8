#include <algorithm>
#include <array>

#include "driver/commands/command.h"

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
constexpr std::array kRepairParameters{kStoreParameter, kApplyParameter, kDryRunParameter};
constexpr std::array kConsolidateParameters{kStoreParameter};
constexpr std::array kMigrateParameters{kStoreParameter, kApplyParameter, kDryRunParameter};

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
};

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto it = std::find_if(kCommands.begin(), kCommands.end(),
                               [&](const Command& command) { return name == command.name; });
  return it == kCommands.end() ? nullptr : &*it;
}

}  // namespace gdal_zarr
