// Documents for tests of formats.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "zarrcore/metadata/format.h"

namespace zarrcore::test {

// What `read` gives as the text of the document under a key. Nothing is listed.
inline DocumentSource documents_of_texts(
    std::function<std::optional<std::string>(const std::string& key)> read) {
  const auto document = [read](const std::string& key) -> std::optional<Json> {
    const auto text = read(key);
    return text ? std::make_optional(parse_json(*text)) : std::nullopt;
  };
  const auto text = [read](const std::string& key) -> std::shared_ptr<const Buffer> {
    const auto found = read(key);
    if (!found) return nullptr;
    return std::make_shared<const Buffer>(Buffer::copy_of(std::string_view(*found)));
  };
  return {document, text, [read](const std::string& key) { return read(key).has_value(); },
          [](const std::string& /*prefix*/) { return DirectoryListing(); }};
}

}  // namespace zarrcore::test
