// What one chunk costs: writes and reads arrays of uncompressed chunks of 1 KB, 10⁶ of them in one
// shard and 10⁵ in files, where little but the cost per chunk is left. Each array is read to the
// same memory again and again, so that the system need not clear it, and as a whole.
//
// usage: zarr_chunk_cost FOLDER [THREADS [REPEAT [CASE]]]
//          FOLDER     for the arrays, which stay there for the next run; tmpfs is best
//          CASE       shard or files: only this one
// prints: for each case and action, the best of so many runs: nanoseconds per chunk, and those of
// the processors as user + system
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/zarrcore.h"

namespace {

using zarrcore::Shape;

constexpr std::uint64_t kItem = 2;
const Shape kChunk{16, 32};

struct Case {
  const char* name;
  Shape shape;
  bool is_shard;
};

struct Seconds {
  double wall = 0;
  double user = 0;
  double system = 0;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Seconds measure(const std::function<void()>& action) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  const auto began = std::chrono::steady_clock::now();
  action();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  getrusage(RUSAGE_SELF, &after);
  return {wall.count(), seconds_of(after.ru_utime) - seconds_of(before.ru_utime),
          seconds_of(after.ru_stime) - seconds_of(before.ru_stime)};
}

std::string list_of(const Shape& shape) {
  return '[' + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ']';
}

void put_document(zarrcore::Store& store, const Case& test) {
  const std::string little = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  std::string codecs = '[' + little + ']';
  if (test.is_shard) {
    codecs = R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": )" +
             list_of(kChunk) + R"(, "codecs": )" + codecs + R"(, "index_codecs": )" + codecs +
             "}}]";
  }
  const std::string document =
      R"({"zarr_format": 3, "node_type": "array", "data_type": "uint16", "fill_value": 0,
          "chunk_key_encoding": {"name": "default"}, "shape": )" +
      list_of(test.shape) + R"(, "chunk_grid": {"name": "regular", "configuration": )" +
      R"({"chunk_shape": )" + list_of(test.is_shard ? test.shape : kChunk) + R"(}}, "codecs": )" +
      codecs + '}';
  store.put("zarr.json", std::as_bytes(std::span(document)));
}

std::shared_ptr<const zarrcore::Array> open_array(const std::filesystem::path& folder) {
  const auto store = std::make_shared<zarrcore::FileSystemStore>(folder);
  return zarrcore::Hierarchy(store).open_array("", std::make_shared<zarrcore::Context>());
}

void write(const std::filesystem::path& folder, const Case& test,
           const std::vector<std::uint16_t>& values, std::size_t threads) {
  std::filesystem::remove_all(folder);
  zarrcore::FileSystemStore store(folder);
  put_document(store, test);
  zarrcore::ArrayWriter writer(open_array(folder), {});
  writer.write({{0, 0}, test.shape, {1, 1}},
               {reinterpret_cast<const std::byte*>(values.data()),
                {static_cast<std::ptrdiff_t>(test.shape[1] * kItem), kItem},
                nullptr},
               {threads});
  writer.flush();
}

void print_best(const Case& test, const char* action, int repeat,
                const std::function<void()>& body) {
  Seconds best;
  for (int i = 0; i < repeat; ++i) {
    const Seconds seconds = measure(body);
    if (i == 0 || seconds.wall < best.wall) best = seconds;
  }
  const double per_chunk = 1e9 * static_cast<double>(kChunk[0] * kChunk[1]) /
                           static_cast<double>(test.shape[0] * test.shape[1]);
  std::printf("%-6s %-6s %8.0f   %8.0f + %.0f\n", test.name, action, per_chunk * best.wall,
              per_chunk * best.user, per_chunk * best.system);
  std::fflush(stdout);
}

void run(const std::filesystem::path& parent, const Case& test, std::size_t threads, int repeat) {
  const std::filesystem::path folder = parent / test.name;
  std::vector<std::uint16_t> values(test.shape[0] * test.shape[1]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint16_t>(i * 2654435761u >> 7 | 1);
  }
  print_best(test, "write", std::min(repeat, 2), [&] { write(folder, test, values, threads); });
  const auto array = open_array(folder);
  std::vector<std::uint16_t> seen(values.size());
  print_best(test, "read", repeat, [&] {
    array->read({{0, 0}, test.shape, {}}, seen.data(), seen.size() * kItem, {.threads = threads});
  });
  if (seen != values) throw std::runtime_error("other values than those written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: zarr_chunk_cost FOLDER [THREADS [REPEAT [CASE]]]\n");
    return 2;
  }
  try {
    const std::size_t threads = argc > 2 ? std::stoul(argv[2]) : 2;
    const int repeat = argc > 3 ? std::stoi(argv[3]) : 5;
    for (const Case& test :
         {Case{"shard", {16000, 32000}, true}, Case{"files", {5000, 10240}, false}}) {
      if (argc > 4 && argv[4] != std::string(test.name)) continue;
      run(argv[1], test, threads, repeat);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zarr_chunk_cost: %s\n", error.what());
    return 1;
  }
  return 0;
}
