#include "zarrcore/check/copy_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"

namespace zarrcore {
namespace {

// The documents as this format writes those of the node that `documents` describe: other writers
// may state defaults, or leave them out.
DocumentMap rewritten(const Format& format, const DocumentMap& documents, const std::string& path) {
  const auto node = format.read_node(documents_in(documents), path);
  DocumentMap result;
  if (!node) return result;
  const auto* array = std::get_if<ArrayMetadata>(&*node);
  for (Document& document : array != nullptr
                                ? format.array_documents(*array, path)
                                : format.group_documents(std::get<GroupMetadata>(*node), path)) {
    document.content.erase("consolidated_metadata");
    result.emplace(std::move(document.key), std::move(document.content));
  }
  return result;
}

// NaN is equal to NaN, unlike in a comparison of values.
bool are_equal(const Json& a, const Json& b) {
  return a == b || dump_json(a) == dump_json(b);
}

bool are_alike(const Format& format, const DocumentMap& a, const DocumentMap& b,
               const std::string& path) {
  try {
    return std::ranges::equal(rewritten(format, a, path), rewritten(format, b, path),
                              [](const auto& one, const auto& other) {
                                return one.first == other.first &&
                                       are_equal(one.second, other.second);
                              });
  } catch (const AccessFailure&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

bool is_empty_object(const Json& document) {
  return document.is_object() && document.empty();
}

}  // namespace

CopyCheck check_copy(const DocumentSource& stored, const Format& format, const std::string& group,
                     const DocumentMap& documents, const NodesByKey& nodes) {
  CopyCheck check;
  const auto key = format.consolidated_key(group);
  if (!key) return check;
  check.key = *key;
  std::optional<ConsolidatedDocuments> copy;
  try {
    copy = format.read_consolidated(stored, group);
  } catch (const AccessFailure&) {
    throw;
  } catch (const Error& error) {
    // It may describe any of them otherwise.
    check.exists = true;
    check.problems.emplace_back(error.what());
    for (const auto& [name, path] : nodes) check.differing.push_back(path);
  }
  if (!copy) return check;
  check.exists = true;
  check.problems = std::move(copy->problems);
  DocumentMap copied;
  for (const auto& [name, document] : copy->documents) {
    try {
      copied.emplace(name, document.get());
    } catch (const AccessFailure&) {
      throw;
    } catch (const Error& error) {
      check.problems.push_back("its copy of " + name + " is not right: " + error.what());
    }
  }
  std::set<std::string, std::less<>> compared;  // nodes
  for (const auto& [name, document] : copied) {
    const auto own = documents.find(name);
    if (own == documents.end()) {
      // Writers copy the empty attributes of a node without a document of attributes.
      if (!is_empty_object(document)) {
        check.problems.push_back("it has a copy of " + name + ", which does not exist");
      }
    } else if (!are_equal(document, own->second)) {
      const std::string& path = nodes.at(name);
      if (compared.insert(path).second && !are_alike(format, documents, copied, path)) {
        check.problems.push_back("its copy of " + name + " differs from the document");
        check.differing.push_back(path);
      }
    }
  }
  for (const auto& [name, document] : documents) {
    if (is_at_or_below(name, group) && !copy->documents.contains(name) &&
        !is_empty_object(document)) {
      check.problems.push_back("it has no copy of " + name);
    }
  }
  return check;
}

}  // namespace zarrcore
