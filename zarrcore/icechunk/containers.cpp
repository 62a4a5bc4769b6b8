#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/flexbuffers.h"
#include "zarrcore/icechunk/mutable_file.h"
#include "zarrcore/icechunk/repository.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kContainers = "virtual_chunk_containers";
constexpr std::string_view kLocal = "file://";

// The stores that Icechunk has for schemes.
struct Scheme {
  std::string_view start;
  const char* store;
};
constexpr Scheme kSchemes[] = {{kLocal, "local_file_system"},
                               {"s3://", "s3"},
                               {"gs://", "gcs"},
                               {"gcs://", "gcs"},
                               {"az://", "azure"},
                               {"abfs://", "azure"},
                               {"http://", "http"},
                               {"https://", "http"}};

const Scheme* find_scheme(std::string_view url) {
  const auto* found = std::ranges::find_if(
      kSchemes, [&](const Scheme& scheme) { return url.starts_with(scheme.start); });
  return found != std::end(kSchemes) ? found : nullptr;
}

// Credentials and endpoints are not known: readers have their own.
Json container_json(const std::string& prefix) {
  const Scheme& scheme = *find_scheme(prefix);
  Json store = Json::object();
  if (scheme.start == kLocal) {
    const std::string_view folder = std::string_view(prefix).substr(kLocal.size());
    store = folder == "/" ? "/" : std::string(without_trailing(folder, '/'));
  } else if (scheme.start == "s3://") {
    for (const char* name : {"region", "endpoint_url"}) store[name] = nullptr;
    for (const char* name : {"anonymous", "allow_http", "force_path_style"}) store[name] = false;
    store["network_stream_timeout_seconds"] = nullptr;
    store["requester_pays"] = false;
  }
  Json container = Json::object();
  container["name"] = nullptr;
  container["url_prefix"] = prefix;
  container["store"] = Json::object();
  container["store"][scheme.store] = std::move(store);
  return container;
}

// The prefixes that need a container, none of which contains another.
std::vector<std::string> find_missing(const Json& configuration,
                                      const std::set<std::string>& prefixes) {
  std::vector<std::string> known;
  const Json containers = object_member(configuration, kContainers);
  for (const auto& [key, container] : containers.items()) {
    // Icechunk ignores others.
    if (const std::string url = url_prefix(key, container); url.ends_with('/'))
      known.push_back(url);
  }
  std::vector<std::string> missing;
  for (const std::string& prefix : prefixes) {
    const auto contains = [&](const std::string& each) { return prefix.starts_with(each); };
    if (std::ranges::any_of(known, contains)) continue;
    known.push_back(prefix);
    missing.push_back(prefix);
  }
  return missing;
}

void append_yaml(std::string& text, std::string_view name, const Json& value,
                 std::size_t indentation) {
  text.append(indentation, ' ').append(name).append(":");
  if (!value.is_object()) {
    const std::string* words = as_string(value);
    text += ' ' + (words != nullptr ? *words : dump_json(value)) + '\n';
    return;
  }
  text += '\n';
  for (const auto& [member, content] : value.items()) {
    if (member != "store") {
      append_yaml(text, member, content, indentation + 2);
      continue;
    }
    // A kind of store is a tag.
    const auto store = content.items().begin();
    const std::string tag = "store: !" + std::string(store.key());
    text.append(indentation + 2, ' ').append(tag);
    if (store.value().is_object() && !store.value().empty()) {
      text += '\n';
      for (const auto& [option, setting] : store.value().items()) {
        append_yaml(text, option, setting, indentation + 4);
      }
    } else {
      const std::string* words = as_string(store.value());
      const bool is_quoted = words != nullptr && words->ends_with(':');  // the root of a drive
      text += ' ' + (words == nullptr ? "{}" : is_quoted ? dump_json(*words) : *words) + '\n';
    }
  }
}

// `text` is YAML as Icechunk writes it. Its lines stay as they are.
std::string add_to_yaml(std::string text, const std::set<std::string>& prefixes) {
  constexpr const char* kForeign =
      "virtual chunk containers cannot be added to YAML that Icechunk does not write";
  const Json before = parse_yaml(text);
  if (find_string(before, kContainers) != nullptr) throw Error(kForeign);  // in flow style
  const std::vector<std::string> missing = find_missing(before, prefixes);
  if (missing.empty()) return {};
  if (before.empty()) text.clear();
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  const std::string key = std::string(kContainers) + ':';
  std::size_t start = text.starts_with(key) ? 0 : text.find('\n' + key);
  if (start == std::string::npos) {
    start = text.size();
    text += key + '\n';
  } else if (start != 0) {
    ++start;
  }
  // What the line says of the value is "{}", "null" or nothing.
  const std::size_t after_key = start + key.size();
  text.erase(after_key, text.find('\n', after_key) - after_key);
  const std::size_t next = after_key + 1;
  const std::size_t spaces = std::min(text.find_first_not_of(' ', next), text.size()) - next;
  std::string added;
  for (const std::string& prefix : missing) {
    append_yaml(added, prefix, container_json(prefix), spaces > 0 ? spaces : 2);
  }
  text.insert(next, added);
  const Json after = parse_yaml(text);
  const std::size_t count = object_member(before, kContainers).size() + missing.size();
  if (!find_missing(after, prefixes).empty() || object_member(after, kContainers).size() != count ||
      after.size() != before.size() + (before.contains(kContainers) ? 0 : 1)) {
    throw Error(kForeign);
  }
  return text;
}

}  // namespace

std::string container_prefix(std::string_view url) {
  const Scheme* scheme = find_scheme(url);
  if (scheme == nullptr) return {};
  const std::size_t end =
      scheme->start == kLocal ? url.find_last_of('/') : url.find('/', scheme->start.size());
  if (end == std::string_view::npos || end < scheme->start.size()) return {};
  return std::string(url.substr(0, end + 1));
}

void add_containers(Store& files, int format, const std::set<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    const bool is_plain = std::ranges::all_of(prefix, [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string_view("-._~/%:@+").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!is_plain) throw Error(prefix + " cannot be a virtual chunk container");
  }
  if (format == 1) {
    with_context(kConfigFile, [&] {
      change_file(files, kConfigFile,
                  [&](const std::optional<Buffer>& content) -> std::optional<NewContent> {
                    const std::string text =
                        add_to_yaml(std::string(content ? content->text() : ""), prefixes);
                    if (text.empty()) return std::nullopt;
                    return NewContent{Buffer::copy_of(text), backup_name(kConfigFile)};
                  });
    });
    return;
  }
  change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
    Json document = info.config && !info.config->empty()
                        ? read_flex_buffer(std::as_bytes(std::span(*info.config)))
                        : Json::object();
    const std::vector<std::string> missing = find_missing(document, prefixes);
    if (missing.empty()) return false;
    Json& containers = document[std::string(kContainers)];
    if (!containers.is_object()) containers = Json::object();
    for (const std::string& prefix : missing) containers[prefix] = container_json(prefix);
    info.config = write_flex_buffer(document);
    info.note(UpdateType::config_changed, {}, backup);
    return true;
  });
}

}  // namespace zarrcore::icechunk
