// Icechunk repositories as the commands see them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/commands/command.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/repository.h"

namespace gdal_zarr {

struct ExaminedRepository {
  IcechunkPath path;
  std::shared_ptr<zarrcore::Store> files;
  std::shared_ptr<const zarrcore::icechunk::Repository> repository;
};

// The repository that the argument `store` names. Throws zarrcore::Error if it names none.
ExaminedRepository open_repository(const Arguments& arguments);

// `repair` of the repository: removes old files that no snapshot reaches.
CommandResult clean_repository(const Arguments& arguments);

// {"branches": [{"name", "snapshot"}], "tags": …}
void add_refs(zarrcore::Json& json, const zarrcore::icechunk::Repository& repository);
// A snapshot and all before it, the newest first: [{"snapshot", "time", "message"}].
zarrcore::Json history_of(zarrcore::Store& files, const std::string& snapshot);
std::string text_of_refs(const zarrcore::Json& refs, const std::string& kind);
std::string text_of_history(const zarrcore::Json& history);

}  // namespace gdal_zarr
