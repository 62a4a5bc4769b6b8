// The two formats of repositories: in format 1, each branch and tag is a file; in format 2, one
// file has all branches, tags and ids of snapshots.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/icechunk/repository.h"
#include "zarrcore/store/document_requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// Files that name snapshots, requested together if each request takes long.
class RequestedFiles {
 public:
  // Requests files by their keys if they are on the network and there is a `run`. Throws nothing:
  // an error is that of get().
  RequestedFiles(Store& files, const std::vector<std::string>& keys, const RunTogether& run);

  // The text of a file, which is requested if it was not; null if it does not exist.
  DocumentText get(const std::string& key) const;

 private:
  DocumentText request(const std::string& key) const;

  Store& files_;
  DocumentRequests requests_;
  DocumentRequests::AnswerScope kept_;
};

// In format 2.
inline constexpr std::string_view kRepositoryFile = "repo";
// The configuration in format 1.
inline constexpr std::string_view kConfigFile = "config.yaml";

// `file` is the one called kRepositoryFile.
std::shared_ptr<const Repository> open_format2(std::shared_ptr<Store> files, ByteSpan file);

// The key of the file of a branch in format 1.
std::string branch_key(std::string_view name);

// The same of a tag, and of the file that says that the tag was deleted.
std::string tag_key(std::string_view name);
std::string tag_deletion_key(std::string_view name);

// The keys of the files that say which snapshot `version` is, and that this is a repository.
std::vector<std::string> ref_keys(const VersionName& version);

// Null if there is no repository of format 1. Files that have been requested are taken from
// `requested`; otherwise the arguments are those of Repository::open().
std::shared_ptr<const Repository> open_format1(std::shared_ptr<Store> files,
                                               const RequestedFiles& requested,
                                               const VersionName& expected, const RunTogether& run);

}  // namespace zarrcore::icechunk
