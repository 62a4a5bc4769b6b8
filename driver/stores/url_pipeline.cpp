#include "driver/stores/url_pipeline.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/icechunk_path.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The path of GDAL for what follows the scheme of a URL.
struct Root {
  std::string_view scheme;
  std::string_view prefix;
  bool keeps_url;
};
constexpr Root kRoots[] = {
    {"file:", "", true},         {"http://", "/vsicurl/", true}, {"https://", "/vsicurl/", true},
    {"s3://", "/vsis3/", false}, {"gs://", "/vsigs/", false},    {"gcs://", "/vsigs/", false},
    {"az://", "/vsiaz/", false}};

const Root* find_root(std::string_view url) {
  const std::string lower = zarrcore::lower_case(url);
  const auto* root = std::ranges::find_if(
      kRoots, [&](const Root& each) { return lower.starts_with(each.scheme); });
  return root == std::end(kRoots) ? nullptr : root;
}

constexpr std::string_view kPipelineFormats[] = {"zarr", "zarr2", "zarr3", "n5"};

bool is_format(std::string_view scheme) {
  return std::ranges::find(kPipelineFormats, scheme) != std::end(kPipelineFormats);
}

std::string_view scheme_of(std::string_view part) {
  return part.substr(0, part.find(':'));
}

bool is_known(std::string_view scheme) {
  return scheme == "zip" || scheme == "icechunk" || is_format(scheme);
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t bar = name.find('|');
    parts.push_back(name.substr(0, bar));
    if (bar == name.npos) return parts;
    name.remove_prefix(bar + 1);
  }
}

std::string root_path(std::string_view url) {
  const Root* root = find_root(url);
  if (root == nullptr && url.find("://") != url.npos) {
    throw Error("\"" + std::string(url) +
                "\" is not supported; file://, http(s)://, s3://, gs:// and az:// are");
  }
  if (root == nullptr) return std::string(url);  // a path
  const std::string_view rest = url.substr(root->scheme.size());
  if (!root->keeps_url) return std::string(root->prefix) + decode_percents(rest);
  if (!root->prefix.empty()) return std::string(root->prefix) + std::string(url);
  // "file:x.zip" is a path of this computer as well.
  return rest.starts_with("//") ? without_file_scheme(std::string(url)) : decode_percents(rest);
}

std::string joined(const std::string& path, std::string_view below) {
  // URLs remain encoded.
  const std::string decoded =
      path.starts_with("/vsicurl/") ? std::string(below) : decode_percents(below);
  const std::string_view inner = zarrcore::without_trailing(decoded, '/');
  const std::size_t start = inner.find_first_not_of('/');
  return start == inner.npos ? path : join_vsi_path(path, inner.substr(start));
}

// "icechunk:key", or "icechunk://branch.NAME/key" with branch, tag or the id of a snapshot.
std::string in_icechunk(const std::string& path, std::string_view rest) {
  std::string name = "ICECHUNK:" + path;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view version = rest.substr(0, rest.find('/'));
    rest.remove_prefix(version.size());
    const std::size_t dot = version.find('.');
    const std::string_view kind = dot == version.npos ? "snapshot" : version.substr(0, dot);
    if (kind != "snapshot" && kind != "branch" && kind != "tag") {
      throw Error("icechunk://" + std::string(version) +
                  " names neither branch.NAME nor tag.NAME nor a snapshot");
    }
    name += '?' + std::string(kind) + '=';
    name += dot == version.npos ? version : version.substr(dot + 1);
  }
  return joined(format_icechunk_path(parse_icechunk_path(name)), rest);
}

}  // namespace

bool is_url_pipeline(const std::string& name) {
  const auto parts = parts_of(name);
  if (parts.size() < 2 || parts.front().empty()) return false;
  // The URL of another resource may have a "|" in it.
  const bool has_scheme = parts[1].find(':') != parts[1].npos;
  return is_known(scheme_of(parts[1])) || (has_scheme && find_root(parts.front()) != nullptr);
}

std::string path_of_pipeline(const std::string& name) {
  const auto parts = parts_of(name);
  std::string path = root_path(parts.front());
  path = std::string(zarrcore::without_trailing(path, '/'));
  std::string_view format;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view scheme = scheme_of(parts[i]);
    const std::string_view rest = parts[i].substr(std::min(scheme.size() + 1, parts[i].size()));
    if (!format.empty()) {
      throw Error(name + ": \"" + std::string(parts[i]) + "\" follows \"" + std::string(format) +
                  "\", after which nothing can be opened");
    }
    if (scheme == "zip") {
      path = joined(std::string(kVsiZip).append("{").append(path).append("}"), rest);
    } else if (scheme == "icechunk") {
      path = in_icechunk(path, rest);
    } else if (is_format(scheme)) {
      path = joined(path, rest);
      format = parts[i];
    } else {
      throw Error(name + ": \"" + std::string(parts[i]) +
                  "\" is not supported; zip:, icechunk:, zarr2:, zarr3: and n5: are");
    }
  }
  // It would be parsed again as the name of a subdataset.
  if (is_url_pipeline(path)) throw Error(name + ": paths with \"|\" cannot be opened");
  return path;
}

}  // namespace gdal_zarr
