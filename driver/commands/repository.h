// Icechunk repositories in commands.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "driver/commands/command.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "zarrcore/icechunk/repository.h"

namespace gdal_zarr {

struct OpenedRepository {
  IcechunkPath path;
  std::shared_ptr<zarrcore::Store> files;
  std::shared_ptr<const zarrcore::icechunk::Repository> repository;
};

// The repository that the argument `store` names, whose path also says a version. Throws
// zarrcore::Error if there is none.
OpenedRepository open_repository(const Arguments& arguments);

// [{"name", "snapshot"}] of branches or tags.
zarrcore::Json refs_json(const zarrcore::icechunk::Repository& repository,
                         zarrcore::icechunk::VersionName::Kind kind);

// [{"id", "parent", "time", "message", "properties"}] of a snapshot and those before it, the newest
// first, at most `most`.
zarrcore::Json history_json(zarrcore::Store& files, const std::string& snapshot,
                            std::size_t most = SIZE_MAX);
// A line of id and time for each, followed by its message and properties.
std::string history_text(const zarrcore::Json& history, const std::string& indentation = {});

// `repair` of a repository: removes old files that no snapshot reaches.
CommandResult clean_repository(const Arguments& arguments);

}  // namespace gdal_zarr
