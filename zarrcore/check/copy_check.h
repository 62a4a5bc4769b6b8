// Compares consolidated metadata with the documents that it is a copy of.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "zarrcore/metadata/format.h"

namespace zarrcore {

struct CopyCheck {
  bool exists = false;
  std::string key;  // of the document that holds it
  std::vector<std::string> problems;
  std::vector<std::string> differing;  // paths of nodes that it describes otherwise than they do
};

// The paths of nodes, by the keys that their documents may have.
using NodesByKey = std::map<std::string, std::string, std::less<>>;

// The consolidated metadata of a group. `documents` are those of all `nodes` of the store.
CopyCheck check_copy(const DocumentSource& stored, const Format& format, const std::string& group,
                     const DocumentMap& documents, const NodesByKey& nodes);

}  // namespace zarrcore
