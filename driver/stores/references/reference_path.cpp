#include "driver/stores/references/reference_path.h"

#include <array>
#include <optional>
#include <utility>

#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr std::array<std::pair<std::string_view, ReferenceKind>, 3> kPrefixes{
    {{kJsonReferencePrefix, ReferenceKind::json},
     {kCachedReferencePrefix, ReferenceKind::cached_json},
     {kParquetReferencePrefix, ReferenceKind::parquet}}};

// Where the name after the prefix is divided.
struct Division {
  std::string_view document;
  std::string_view rest;  // the key, mostly with a slash before it
};

std::optional<Division> divide_at_braces(std::string_view name) {
  const auto end = closing_brace(name);
  if (!end) return std::nullopt;
  return Division{name.substr(1, *end - 1), name.substr(*end + 1)};
}

// After the first ".json" that ends a segment; after the first that is a file, if there are more.
// Else after one with another extension: GDAL looks for x.json.aux.xml.
std::optional<Division> divide_at_extension(std::string_view name) {
  constexpr std::string_view kExtension = ".json";
  std::optional<Division> first;
  std::optional<Division> other;
  const std::string lower = zarrcore::lower_case(name);
  for (auto at = lower.find(kExtension); at != std::string::npos;
       at = lower.find(kExtension, at + 1)) {
    const std::size_t end = at + kExtension.size();
    const Division division{name.substr(0, end), name.substr(end)};
    if (end < name.size() && name[end] != '/') {
      if (name[end] == '.') other = division;
      continue;
    }
    if (end == name.size() && !first) return division;
    if (is_file(std::string(division.document))) return division;
    if (!first) first = division;
  }
  return first ? first : other;
}

}  // namespace

bool has_reference_prefix(std::string_view name) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

ReferencePath parse_reference_path(const std::string& name) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    std::optional<Division> division;
    if (rest.starts_with('{')) {
      division = divide_at_braces(rest);
    } else if (kind != ReferenceKind::parquet) {
      division = divide_at_extension(rest);
    }
    if (!division || division->document.empty()) {
      throw Error(name + ": " + std::string(prefix) + " is followed by a path in braces, as in " +
                  std::string(prefix) + "{path}/group" +
                  (kind == ReferenceKind::parquet ? "" : ", or by a path that ends in .json"));
    }
    std::string_view key = division->rest;
    while (key.starts_with('/')) key.remove_prefix(1);
    return {kind, std::string(division->document),
            std::string(zarrcore::without_trailing(key, '/'))};
  }
  throw Error(name + " does not name references");
}

}  // namespace gdal_zarr
