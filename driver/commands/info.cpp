// The store at a glance: its nodes as a tree, and of a repository its versions.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/georeferencing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Json;
using zarrcore::icechunk::IcechunkStore;
using zarrcore::icechunk::VersionName;

namespace {

std::string list_of(const zarrcore::Shape& shape) {
  return shape.empty() ? "one element" : zarrcore::shape_text(shape, " x ");
}

std::string codecs_of(const zarrcore::ArrayMetadata& array) {
  std::string text;
  for (const zarrcore::CodecMetadata& codec : array.codecs) {
    text.append(text.empty() ? "" : ", ").append(codec.name);
  }
  return text;
}

// What the stored chunks have when they are decoded; nullopt if elements have no fixed size.
std::optional<std::uint64_t> decoded_bytes(const zarrcore::Array& array,
                                           const ExaminedArray& examined) {
  const bool has_shards = examined.inner_chunks.has_value();
  if (array.data_type().is_variable() || !array.state().grid.is_regular()) return std::nullopt;
  std::uint64_t bytes = array.data_type().item_size;
  for (const std::uint64_t length :
       has_shards ? array.inner_chunk_shape() : examined.metadata.chunk_shape) {
    bytes *= length;
  }
  return bytes * (has_shards ? *examined.inner_chunks : examined.chunks);
}

// What the CRS and the position come from; an empty object if there is neither.
Json find_sources(Session& session, const std::string& path) {
  Json sources = Json::object();
  const QuietErrors quiet;  // not all arrays are rasters
  try {
    const auto array = session.array(path);
    const std::size_t rank = array->GetDimensionCount();
    if (rank < 2) return sources;
    const RasterAxes axes = array->raster_axes();
    const Position position =
        find_position(RasterView(array, axes.x, axes.y, std::vector<std::uint64_t>(rank - 2, 0)));
    const CPLStringList domain = source_domain(position);
    for (const char* const key : {"CRS", "GEOTRANSFORM", "GEOLOCATION"}) {
      const char* const source = domain.FetchNameValue(key);
      if (source != nullptr) sources[zarrcore::lower_case(key)] = source;
    }
    const auto& crs = position.crs.crs;
    if (crs && crs->GetName() != nullptr) sources["crs_name"] = crs->GetName();
  } catch (const zarrcore::Error&) {  // then it lies nowhere
  }
  return sources;
}

std::string sources_text(const Json& sources) {
  std::string text;
  const auto add = [&](const char* key, const std::string& label) {
    if (!sources.contains(key)) return;
    text += (text.empty() ? "" : "; ") + label + sources[key].get<std::string>();
  };
  if (sources.contains("crs_name")) {
    add("crs", "CRS " + sources["crs_name"].get<std::string>() + " from ");
  }
  add("geotransform", "position from ");
  add("geolocation", "geolocation from ");
  return text;
}

// What is said of one array. Coordinates are read, to find where the array lies.
Json describe_array(Session& session, const ExaminedArray& examined) {
  const auto array = session.hierarchy().open_array(examined.path, shared_context());
  const auto& metadata = examined.metadata;
  Json json{{"path", node_name(examined.path)}, {"data_type", type_name(metadata.data_type)},
            {"shape", metadata.shape},          {"chunk_shape", metadata.chunk_shape},
            {"codecs", codecs_of(metadata)},    {"chunks", examined.grid_chunks},
            {"stored_chunks", examined.chunks}};
  if (examined.bytes) json["stored_bytes"] = *examined.bytes;
  if (examined.inner_chunks) {
    json["inner_chunk_shape"] = array->inner_chunk_shape();
    json["stored_inner_chunks"] = *examined.inner_chunks;
  }
  const auto decoded = decoded_bytes(*array, examined);
  if (decoded) json["decoded_bytes"] = *decoded;
  if (decoded && examined.bytes && *examined.bytes != 0) {
    json["compression_ratio"] =
        static_cast<double>(*decoded) / static_cast<double>(*examined.bytes);
  }
  Json sources = find_sources(session, examined.path);
  if (!sources.empty()) json["georeferencing"] = std::move(sources);
  return json;
}

// The same in lines for people, the first of which begins with `name`.
std::string array_text(const Json& array, const std::string& name, const std::string& indentation) {
  const std::string next_line = '\n' + indentation + "    ";
  std::string text = indentation + name + "  " + array["data_type"].get<std::string>() + "  " +
                     list_of(array["shape"].get<zarrcore::Shape>());
  const auto chunk_shape = array["chunk_shape"].get<zarrcore::Shape>();
  if (!chunk_shape.empty()) text += " in chunks of " + list_of(chunk_shape);
  if (array.contains("inner_chunk_shape")) {
    text += " of " + list_of(array["inner_chunk_shape"].get<zarrcore::Shape>());
  }
  text += next_line + array["codecs"].get<std::string>() + "; " +
          std::to_string(array["stored_chunks"].get<std::uint64_t>()) + " of " +
          count_of(array["chunks"].get<std::uint64_t>(), "chunk") + " stored";
  if (array.contains("stored_bytes")) {
    text += ", " + format_bytes(array["stored_bytes"].get<std::uint64_t>());
  }
  if (array.contains("compression_ratio")) {
    std::array<char, 32> ratio{};
    std::snprintf(ratio.data(), ratio.size(), " (1:%.2f)",
                  array["compression_ratio"].get<double>());
    text += ratio.data();
  }
  if (array.contains("georeferencing")) text += next_line + sources_text(array["georeferencing"]);
  return text + '\n';
}

constexpr std::size_t kLastSnapshots = 5;

Json describe_repository(const IcechunkStore& store) {
  const auto& repository = store.repository();
  Json json{{"format", repository.format()},
            {"version", describe(store.version())},
            {"branches", refs_json(repository, VersionName::Kind::branch)},
            {"tags", refs_json(repository, VersionName::Kind::tag)},
            {"last_snapshots", Json::array()}};
  try {
    json["last_snapshots"] = history_json(repository.files(), store.snapshot_id(), kLastSnapshots);
  } catch (const zarrcore::Error& error) {  // its arrays may be sound
    json["history_problem"] = error.what();
  }
  return json;
}

std::string repository_text(const Json& repository) {
  std::string text = "Icechunk format " + std::to_string(repository["format"].get<int>()) + ", " +
                     repository["version"].get<std::string>() + '\n';
  for (const char* kind : {"branches", "tags"}) {
    if (repository[kind].empty()) continue;
    std::string names;
    for (const Json& ref : repository[kind]) {
      names += (names.empty() ? "" : ", ") + ref["name"].get<std::string>();
    }
    text += std::string(kind) + ": " + names + '\n';
  }
  if (repository.contains("history_problem")) {
    return text + "no history: " + repository["history_problem"].get<std::string>() + '\n';
  }
  return text + "last snapshots:\n" + history_text(repository["last_snapshots"], "  ");
}

// Each node below its group. `arrays` are described, by their paths.
std::string tree_text(const std::vector<std::string>& groups,
                      const std::map<std::string, Json>& arrays) {
  std::vector<std::string> paths = groups;
  for (const auto& [path, array] : arrays) paths.push_back(path);
  std::ranges::sort(paths, {}, [](std::string path) {
    std::ranges::replace(path, '/', '\0');  // what is below "a" comes before "a-b"
    return path;
  });
  std::string text;
  for (const std::string& path : paths) {
    const auto depth = path.empty() ? 0 : 1 + std::ranges::count(path, '/');
    const std::string indentation(2 * static_cast<std::size_t>(depth), ' ');
    const std::string name = path.empty() ? "/" : std::string(zarrcore::last_segment(path));
    const auto array = arrays.find(path);
    text += array != arrays.end() ? array_text(array->second, name, indentation)
                                  : indentation + name + (path.empty() ? "\n" : "/\n");
  }
  return text;
}

}  // namespace

CommandResult run_info(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  SessionOptions options;
  options.use_consolidated = false;
  const QuietErrors quiet;  // what is reported becomes findings
  const auto session = Session::open(path, options);
  const zarrcore::Hierarchy& hierarchy = session->hierarchy();
  const zarrcore::ExaminedStore examined =
      examine(hierarchy, ExaminedParts::sizes,
              [&](double complete) { return complete == 0 || progress(complete); });
  const bool is_consolidated =
      std::ranges::find(examined.consolidated, "") != examined.consolidated.end();
  CommandResult result;
  Json groups = Json::array();
  for (const std::string& group : examined.groups) groups.push_back(node_name(group));
  result.json = {{"store", path},
                 {"format", hierarchy.format().name()},
                 {"consolidated", is_consolidated},
                 {"groups", std::move(groups)},
                 {"arrays", Json::array()}};
  result.text = path + ": " + std::string(hierarchy.format().name()) +
                (is_consolidated             ? ", consolidated, "
                 : has_icechunk_prefix(path) ? ", "
                                             : ", not consolidated, ") +
                count_of(examined.groups.size(), "group") + ", " +
                count_of(examined.arrays.size(), "array") + '\n';
  if (const auto* store = dynamic_cast<const IcechunkStore*>(hierarchy.store().get())) {
    result.json["repository"] = describe_repository(*store);
    result.text += repository_text(result.json["repository"]);
  }
  std::map<std::string, Json> arrays;
  for (const zarrcore::ExaminedArray& array : examined.arrays) {
    const Json& json = arrays.emplace(array.path, describe_array(*session, array)).first->second;
    result.json["arrays"].push_back(json);
  }
  result.text += tree_text(examined.groups, arrays);
  if (!examined.findings.empty()) {
    result.json["findings"] = examined.findings.size();
    result.text += count_of(examined.findings.size(), "finding") + ": see check\n";
  }
  return result;
}

}  // namespace gdal_zarr
