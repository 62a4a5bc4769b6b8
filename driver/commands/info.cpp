#include <algorithm>
#include <array>
#include <cstdio>

#include "driver/commands/examined.h"
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

std::string line_of(const Json& array) {
  std::string text = array["path"].get<std::string>() + "  " +
                     array["data_type"].get<std::string>() + "  " +
                     list_of(array["shape"].get<zarrcore::Shape>());
  const auto chunk_shape = array["chunk_shape"].get<zarrcore::Shape>();
  if (!chunk_shape.empty()) text += " in chunks of " + list_of(chunk_shape);
  if (array.contains("inner_chunk_shape")) {
    text += " of " + list_of(array["inner_chunk_shape"].get<zarrcore::Shape>());
  }
  text += "\n    " + array["codecs"].get<std::string>() + "; " +
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
  for (const ExaminedArray& array : examined.arrays) {
    result.json["arrays"].push_back(describe(*hierarchy, array));
    result.text += line_of(result.json["arrays"].back());
  }
  if (!examined.findings.empty()) {
    result.json["findings"] = examined.findings.size();
    result.text += std::to_string(examined.findings.size()) + " findings: see check\n";
  }
  return result;
}

}  // namespace gdal_zarr
