#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Json;

namespace {

std::string list_of(const zarrcore::Shape& shape) {
  std::string text;
  for (const std::uint64_t length : shape) {
    text.append(text.empty() ? "" : " x ").append(std::to_string(length));
  }
  return text.empty() ? "one element" : text;
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

Json describe(const zarrcore::Hierarchy& hierarchy, const ExaminedArray& examined) {
  const auto array = hierarchy.open_array(examined.path, shared_context());
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
  return json;
}

std::string indentation(const std::string& path) {
  const auto depth = path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '/');
  return std::string(2 * static_cast<std::size_t>(depth), ' ');
}

// Where the CRS and the position of an array of a raster come from.
void add_sources(Json& json, const std::string& path, const ExaminedArray& array) {
  if (array.metadata.shape.size() < 2) return;
  const QuietErrors quiet;  // other arrays are no rasters
  const char* const drivers[] = {"Zarr", nullptr};
  const std::string name = "ZARR:\"" + path + "\":" + node_name(array.path);
  const std::unique_ptr<GDALDataset> raster(
      GDALDataset::Open(name.c_str(), GDAL_OF_RASTER, drivers));
  if (!raster) return;
  for (const char* item : {"CRS", "GEOTRANSFORM", "GEOLOCATION"}) {
    const char* const source = raster->GetMetadataItem(item, "GEOREFERENCING_SOURCE");
    if (source != nullptr) json["georeferencing"][item] = source;
  }
}

void add_versions(const Arguments& arguments, CommandResult& result) {
  const ExaminedRepository opened = open_repository(arguments);
  result.json["icechunk_format"] = opened.repository->format();
  add_refs(result.json, *opened.repository);
  result.json["history"] =
      history_of(*opened.files, opened.repository->find_snapshot(opened.path.version));
  result.text += "branches:\n" + text_of_refs(result.json, "branches") + "tags:\n" +
                 text_of_refs(result.json, "tags") + "history:\n" +
                 text_of_history(result.json["history"]);
}

std::string line_of(const Json& array, const std::string& path) {
  const std::string indent = indentation(path);
  std::string text = indent + last_name(path) + "  " + array["data_type"].get<std::string>() +
                     "  " + list_of(array["shape"].get<zarrcore::Shape>());
  const auto chunk_shape = array["chunk_shape"].get<zarrcore::Shape>();
  if (!chunk_shape.empty()) text += " in chunks of " + list_of(chunk_shape);
  if (array.contains("inner_chunk_shape")) {
    text += " of " + list_of(array["inner_chunk_shape"].get<zarrcore::Shape>());
  }
  text += '\n' + indent + "    " + array["codecs"].get<std::string>() + "; " +
          std::to_string(array["stored_chunks"].get<std::uint64_t>()) + " of " +
          std::to_string(array["chunks"].get<std::uint64_t>()) + " chunks stored";
  if (array.contains("stored_bytes")) {
    text += ", " + format_bytes(array["stored_bytes"].get<std::uint64_t>());
  }
  if (array.contains("compression_ratio")) {
    std::array<char, 32> ratio{};
    std::snprintf(ratio.data(), ratio.size(), " (1:%.2f)",
                  array["compression_ratio"].get<double>());
    text += ratio.data();
  }
  if (array.contains("georeferencing")) {
    for (const auto& [item, source] : array["georeferencing"].items()) {
      text += '\n' + indent + "    " + item + ": " + source.get<std::string>();
    }
  }
  return text + '\n';
}

}  // namespace

CommandResult run_info(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const auto hierarchy = open_examined(path);
  const zarrcore::ExaminedStore examined = examine(*hierarchy, false, progress);
  const bool is_consolidated = std::find(examined.consolidated.begin(), examined.consolidated.end(),
                                         "") != examined.consolidated.end();
  CommandResult result;
  result.json = {{"store", path},
                 {"format", hierarchy->format().name()},
                 {"consolidated", is_consolidated},
                 {"groups", examined.groups.size()},
                 {"arrays", Json::array()}};
  result.text = path + ": " + std::string(hierarchy->format().name()) +
                (is_consolidated ? ", consolidated" : "") + ", " +
                std::to_string(examined.groups.size()) + " groups, " +
                std::to_string(examined.arrays.size()) + " arrays\n";
  std::map<std::string, std::string> lines;  // by the paths of nodes
  for (const std::string& group : examined.groups) {
    lines.emplace(group, indentation(group) + last_name(group) + "/\n");
  }
  for (const ExaminedArray& array : examined.arrays) {
    result.json["arrays"].push_back(describe(*hierarchy, array));
    Json& json = result.json["arrays"].back();
    add_sources(json, path, array);
    lines.emplace(array.path, line_of(json, array.path));
  }
  for (const auto& [node, line] : lines) result.text += line;
  if (has_icechunk_prefix(path)) add_versions(arguments, result);
  if (!examined.findings.empty()) {
    result.json["findings"] = examined.findings.size();
    result.text += std::to_string(examined.findings.size()) + " findings: see check\n";
  }
  return result;
}

}  // namespace gdal_zarr
