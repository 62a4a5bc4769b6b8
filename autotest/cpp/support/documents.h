// Documents for tests of formats.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

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

// The array at `path` that documents of `format` describe.
inline ArrayMetadata read_array(const Format& format, const std::map<std::string, Json>& documents,
                                const std::string& path) {
  const auto read = [&](const std::string& key) -> std::optional<std::string> {
    const auto it = documents.find(key);
    return it == documents.end() ? std::nullopt : std::optional(it->second.dump());
  };
  return std::get<ArrayMetadata>(format.read_node(documents_of_texts(read), path).value());
}

}  // namespace zarrcore::test
