// What typical reads of each array cost, and which chunks would serve all of them better.
#include <algorithm>
#include <array>
#include <cstdio>

#include "driver/commands/examined.h"
#include "driver/commands/read_costs.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {

using zarrcore::Json;
using zarrcore::Shape;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;  // of one read

std::string cost_line(const char* name, const Json& cost) {
  std::array<char, 64> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.4f s", cost["seconds"].get<double>());
  std::string text =
      std::string("  ") + name + " of " + zarrcore::shape_text(cost["count"].get<Shape>(), " x ") +
      ": " + std::to_string(cost["chunks"].get<std::uint64_t>()) + " chunks, " + seconds.data();
  if (cost.contains("requests")) {
    text += ", " + std::to_string(cost["requests"].get<std::uint64_t>()) + " requests, " +
            format_bytes(cost["bytes"].get<std::uint64_t>());
  }
  return text + '\n';
}

}  // namespace

CommandResult run_benchmark(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const std::string wanted = arguments.text("array");
  const auto hierarchy = open_examined(path);
  std::vector<std::string> arrays;
  zarrcore::visit_stored_nodes(
      zarrcore::stored_documents(*hierarchy->store()), hierarchy->format(), "",
      [&](const std::string& node, zarrcore::StoredNode stored) {
        const auto* metadata =
            stored.metadata ? std::get_if<zarrcore::ArrayMetadata>(&*stored.metadata) : nullptr;
        const bool is_wanted = wanted.empty() ? metadata != nullptr && metadata->shape.size() >= 2
                                              : metadata != nullptr && node_name(node) == wanted;
        if (is_wanted) arrays.push_back(node);
      },
      zarrcore::RunTogether());
  if (!wanted.empty() && arrays.empty()) throw zarrcore::Error("there is no array " + wanted);
  CommandResult result;
  result.json = {{"store", path}, {"arrays", Json::array()}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto array = hierarchy->open_array(arrays[i], shared_context());
    const Shape& shape = array->shape();
    const bool is_empty = std::ranges::find(shape, 0U) != shape.end();
    if (shape.size() < 2 || is_empty || array->data_type().is_variable()) continue;
    const auto item_size = std::max<std::uint64_t>(1, array->data_type().item_size);
    const std::vector<ReadPattern> patterns = patterns_of(shape);
    const auto inner = array->inner_chunk_shape();
    const Shape chunk(inner.begin(), inner.end());
    Json json{{"path", node_name(arrays[i])}, {"chunk_shape", chunk}};
    result.text +=
        node_name(arrays[i]) + " in chunks of " + zarrcore::shape_text(chunk, " x ") + '\n';
    for (const ReadPattern& pattern : patterns) {
      const auto elements = zarrcore::checked_product(pattern.count);
      if (!elements || *elements > kMostBytes / item_size) continue;
      json[pattern.name] = measure_read(path, arrays[i], pattern);
      result.text += cost_line(pattern.name, json[pattern.name]);
    }
    const Shape better = better_chunk(shape, chunk, patterns);
    if (better != chunk) {
      json["better_chunk_shape"] = better;
      result.text += "  chunks of " + zarrcore::shape_text(better, " x ") +
                     " would serve all of these better\n";
    }
    result.json["arrays"].push_back(std::move(json));
    if (!progress(static_cast<double>(i + 1) / static_cast<double>(arrays.size()))) {
      throw zarrcore::Error("the benchmark was stopped");
    }
  }
  return result;
}

}  // namespace gdal_zarr
