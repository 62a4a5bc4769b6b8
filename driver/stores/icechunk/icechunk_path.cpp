#include "driver/stores/icechunk/icechunk_path.h"

#include <cpl_port.h>

#include <algorithm>
#include <array>
#include <optional>

#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::icechunk::VersionName;

constexpr std::string_view kScheme = "ICECHUNK:";
constexpr std::string_view kIgnoreChanges = "ignore-timestamp-etag";

struct VersionKey {
  std::string_view name;
  VersionName::Kind kind;
};
constexpr std::array<VersionKey, 3> kVersionKeys{{{"branch", VersionName::Kind::branch},
                                                  {"tag", VersionName::Kind::tag},
                                                  {"snapshot", VersionName::Kind::snapshot}}};

const VersionKey* find_version_key(std::string_view name) {
  const auto* const found = std::find_if(kVersionKeys.begin(), kVersionKeys.end(),
                                         [&](const VersionKey& key) { return key.name == name; });
  return found == kVersionKeys.end() ? nullptr : found;
}

bool is_parameter(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  return name.size() < text.size() && (name == kIgnoreChanges || find_version_key(name) != nullptr);
}

// Sets what "branch=NAME" says.
void apply(std::string_view parameter, IcechunkPath& path) {
  const auto equal = parameter.find('=');
  const std::string_view name = parameter.substr(0, equal);
  const std::string value = decode_percents(parameter.substr(equal + 1));
  if (name == kIgnoreChanges) {
    const std::string lower = zarrcore::lower_case(value);
    path.ignores_changes = lower == "yes" || lower == "true" || lower == "on" || lower == "1";
    return;
  }
  if (path.has_version) {
    throw Error("the name of an Icechunk repository has more than one of branch, tag and snapshot");
  }
  if (value.empty()) throw Error(std::string(name) + "= is followed by no name");
  path.version = {find_version_key(name)->kind, value};
  path.has_version = true;
}

// Takes the parameters from the end of `text`.
IcechunkPath parse_location(std::string_view text) {
  IcechunkPath path;
  while (true) {
    const auto separator = text.find_last_of("?&");
    if (separator == std::string_view::npos || !is_parameter(text.substr(separator + 1))) break;
    apply(text.substr(separator + 1), path);
    text = text.substr(0, separator);
  }
  // Else a misspelled parameter would silently open the branch main.
  const auto question = text.find('?');
  if (question != std::string_view::npos && !text.starts_with("/vsicurl")) {
    throw Error(std::string(text) +
                ": a path of an Icechunk repository is followed by ?branch=NAME, ?tag=NAME, "
                "?snapshot=ID or ?ignore-timestamp-etag=yes");
  }
  // Each is opened several times for the one around it.
  constexpr int kMaxNested = 3;
  int nested = 1;
  for (std::size_t at = 0; (at = text.find(kIcechunkPrefix, at)) != text.npos; ++at) ++nested;
  if (nested > kMaxNested)
    throw Error("more than " + std::to_string(kMaxNested) + " repositories are within one another");
  path.repository = text.size() > 1 ? zarrcore::without_trailing(text, '/') : text;
  if (path.repository.empty()) throw Error("the name of an Icechunk repository has no path");
  return path;
}

}  // namespace

bool has_icechunk_scheme(const std::string& name) {
  return STARTS_WITH_CI(name.c_str(), kScheme.data());
}

bool has_icechunk_prefix(std::string_view name) {
  return name.starts_with(kIcechunkPrefix);
}

bool is_icechunk_name(const std::string& name) {
  return has_icechunk_scheme(name) || has_icechunk_prefix(name);
}

IcechunkPath parse_icechunk_path(const std::string& name) {
  if (has_icechunk_scheme(name)) {
    std::string_view text = std::string_view(name).substr(kScheme.size());
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return parse_location(text);
  }
  const std::string_view text = std::string_view(name).substr(
      std::min(has_icechunk_prefix(name) ? kIcechunkPrefix.size() : name.size(), name.size()));
  const auto end = closing_brace(text);
  if (!end) {
    throw Error(name + ": " + std::string(kIcechunkPrefix) +
                " is followed by a path in braces, as in " + std::string(kIcechunkPrefix) +
                "{path}/group");
  }
  IcechunkPath path = parse_location(text.substr(1, *end - 1));
  path.key = zarrcore::without_trailing(text.substr(*end + 1), '/');
  path.key.erase(0, path.key.starts_with('/') ? 1 : 0);
  return path;
}

std::string format_icechunk_path(const IcechunkPath& path) {
  std::string name = std::string(kIcechunkPrefix) + '{' + path.repository;
  char separator = '?';
  const auto add = [&](std::string_view key, const std::string& value) {
    name += separator + std::string(key) + '=' + value;
    separator = '&';
  };
  if (path.has_version) {
    for (const VersionKey& key : kVersionKeys) {
      if (key.kind == path.version.kind) add(key.name, percent_encoded(path.version.name));
    }
  }
  if (path.ignores_changes) add(kIgnoreChanges, "yes");
  name += '}';
  return path.key.empty() ? name : name + '/' + path.key;
}

}  // namespace gdal_zarr
