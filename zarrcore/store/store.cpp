// What a store can do by means of its other functions.
#include "zarrcore/store/store.h"

#include <functional>

#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

void visit_keys(Store& store, const std::string& prefix,
                const std::function<void(const std::string& key)>& visit) {
  const DirectoryListing listing = store.list(prefix);
  for (const std::string& name : listing.prefixes) {
    visit_keys(store, join_path(prefix, name), visit);
  }
  for (const std::string& name : listing.keys) visit(join_path(prefix, name));
}

}  // namespace

void Store::erase_prefix(std::string_view prefix) {
  check_key(prefix);
  visit_keys(*this, std::string(prefix), [this](const std::string& key) { erase(key); });
}

void Store::rename_prefix(std::string_view from, std::string_view to) {
  check_key(from);
  check_key(to);
  visit_keys(*this, std::string(from), [&](const std::string& key) {
    if (const auto value = get(key)) {
      put(std::string(to) + key.substr(from.size()), value->span());
    }
  });
  erase_prefix(from);
}

}  // namespace zarrcore
