// The files of a repository that change: `repo` in format 2, and config.yaml and a file for each
// branch and tag in format 1. They are only replaced while they have the content that the new one
// was made from.
//
// Stores compare the file's version when they replace it. In folders of the local file system that
// is not one operation, so the repository's folder is locked meanwhile, which other programs do not
// notice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// Throws Error unless the store can do so.
void check_can_replace(Store& files);

struct NewContent {
  Buffer bytes;
  std::string backup = {};  // the name in overwritten/ of a copy of the old content; empty for none
};

// Makes `change(content)` the content of a file; `content` is nullopt if it does not exist. The
// function returns nullopt to leave it as it is, and is called again if another program has
// replaced the file meanwhile. What it throws passes.
using ChangeFile = std::function<std::optional<NewContent>(const std::optional<Buffer>& content)>;
void change_file(Store& files, std::string_view key, const ChangeFile& change);

// The same for `repo`, with a copy of the old one in overwritten/. `change` returns false to leave
// it as it is; it gets the name of the copy for RepositoryInfo::note().
using ChangeInfo = std::function<bool(RepositoryInfo& info, const std::string& backup)>;
void change_info(Store& files, const ChangeInfo& change);

// The same for the file of a branch or tag in format 1, which holds the id of a snapshot.
using ChangeRef =
    std::function<std::optional<std::string>(const std::optional<std::string>& snapshot)>;
void change_ref(Store& files, std::string_view key, const ChangeRef& change);

// A new name for a copy of a file, in overwritten/.
std::string backup_name(std::string_view file);

// Removes a file; `check` gets whether it exists, and may throw.
void remove_file(Store& files, std::string_view key, const std::function<void(bool exists)>& check);

// Puts a file that never changes, which is durable after Store::flush().
void put_file(Store& files, std::string_view folder, const ObjectId& id, ByteSpan file);

}  // namespace zarrcore::icechunk
