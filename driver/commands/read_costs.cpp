#include "driver/commands/read_costs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "driver/commands/examined.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

using zarrcore::Json;
using zarrcore::Shape;

namespace {

constexpr std::uint64_t kWindow = 512;      // pixels along both axes
constexpr std::size_t kMostDimensions = 6;  // of arrays for which chunks are proposed

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

}  // namespace

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

}  // namespace gdal_zarr
