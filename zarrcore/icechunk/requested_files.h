// Files of a repository that name snapshots, requested together if each request takes long.
#pragma once

#include <string>
#include <vector>

#include "zarrcore/store/document_requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

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
  DocumentRequests::Kept kept_;
};

}  // namespace zarrcore::icechunk
