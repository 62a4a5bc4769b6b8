// What typical reads of each array cost, and which chunks would serve all of them better.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "driver/commands/examined.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {

using zarrcore::Json;
using zarrcore::Shape;

namespace {

constexpr std::uint64_t kWindow = 512;      // pixels along both axes
constexpr std::size_t kMostDimensions = 6;  // of arrays for which chunks are proposed

struct ReadPattern {
  const char* name;
  Shape count;  // what is read, from the middle of the array
};

// How many elements are decoded for each that is wanted, on average of all positions, multiplied
// over all patterns.
double waste(const std::vector<ReadPattern>& patterns, const Shape& chunk) {
  double product = 1;
  for (const ReadPattern& pattern : patterns) {
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const auto length = static_cast<double>(chunk[i]);
      const auto count = static_cast<double>(pattern.count[i]);
      product *= (count + length - 1) / count;
    }
  }
  return product;
}

// Of two or more dimensions: a window of the last two, a row, and a series along the first; of two,
// a column.
std::vector<ReadPattern> patterns_of(const Shape& shape) {
  const std::size_t rank = shape.size();
  const Shape one(rank, 1);
  Shape window = one;
  window[rank - 1] = std::min(kWindow, shape[rank - 1]);
  window[rank - 2] = std::min(kWindow, shape[rank - 2]);
  Shape row = one;
  row[rank - 1] = shape[rank - 1];
  Shape series = one;
  series[0] = shape[0];
  return {{"window", window}, {"row", row}, {rank == 2 ? "column" : "series", series}};
}

// Of the chunks with about as many elements, by powers of two, one that wastes the least: the
// present one if none wastes less, or if there are more than six dimensions.
Shape better_chunk(const Shape& shape, const Shape& present,
                   const std::vector<ReadPattern>& patterns) {
  if (shape.size() > kMostDimensions) return present;
  double elements = 1;
  for (const std::uint64_t length : present) elements *= static_cast<double>(length);
  Shape best = present;
  Shape chunk(shape.size(), 1);
  double least = waste(patterns, present);
  const auto visit = [&](const auto& self, std::size_t i, double left) -> void {
    if (i + 1 == shape.size()) {
      const auto length = static_cast<std::uint64_t>(std::max(1.0, std::round(left)));
      if (length > shape[i]) return;
      chunk[i] = length;
      if (waste(patterns, chunk) < least * 0.99) {
        least = waste(patterns, chunk);
        best = chunk;
      }
      return;
    }
    for (std::uint64_t length = 1;; length *= 2) {
      chunk[i] = std::min(length, shape[i]);
      if (static_cast<double>(chunk[i]) > left) break;
      self(self, i + 1, left / static_cast<double>(chunk[i]));
      if (length >= shape[i]) break;
    }
  };
  visit(visit, 0, elements);
  return best;
}

// Reads in the store at a path, which is opened again, so that nothing is cached. Returns counts of
// chunks, bytes and requests, and seconds.
Json measure_read(const std::string& path, const std::string& node, const ReadPattern& pattern) {
  const auto context = std::make_shared<zarrcore::Context>();
  const auto hierarchy = open_examined(path);
  const auto array = hierarchy->open_array(node, context);
  zarrcore::Selection selection;
  selection.count = pattern.count;
  for (std::size_t i = 0; i < pattern.count.size(); ++i) {
    selection.start.push_back((array->shape()[i] - pattern.count[i]) / 2);
  }
  zarrcore::Buffer values(element_count(selection) * array->data_type().item_size);
  CallerState caller;
  zarrcore::ReadStatistics statistics;
  zarrcore::ReadOptions options;
  options.threads = thread_count();
  options.worker_scope = caller.scope();
  options.statistics = &statistics;
  const auto* const requests = hierarchy->store()->traits().request_statistics;
  const auto before = requests != nullptr ? requests->counts() : decltype(requests->counts())();
  const auto began = std::chrono::steady_clock::now();
  array->read(selection, values.data(), values.size(), options);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  Json json{{"count", pattern.count},
            {"chunks", statistics.decoded_chunks.load()},
            {"missing", statistics.missing_chunks.load()},
            {"wanted_bytes", values.size()},
            {"seconds", passed.count()}};
  if (requests != nullptr) {
    json["requests"] = requests->counts().requests - before.requests;
    json["bytes"] = requests->counts().bytes - before.bytes;
  }
  return json;
}

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
