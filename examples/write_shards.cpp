// Makes a store of Zarr v3, writes a sharded array from several threads, and appends to it. Each
// thread writes whole shards, so none of them waits for another, and each shard is put once.
//
// usage: write_shards NEW_STORE
#include <zarrcore/zarrcore.h>

#include <cstdint>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kSize = 512;
constexpr std::uint64_t kShard = 256;

// Writes the shards of one time step.
void write_step(zarrcore::ArrayWriter& writer, std::uint64_t time) {
  std::vector<float> values(kShard * kShard);
  for (std::uint64_t y = 0; y < kSize; y += kShard) {
    for (std::uint64_t x = 0; x < kSize; x += kShard) {
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        const std::uint64_t row = y + i / kShard;
        const std::uint64_t column = x + i % kShard;
        values[i] = static_cast<float>(1000 * time + row + column);
      }
      zarrcore::write_values<float>(writer, {{time, y, x}, {1, kShard, kShard}}, values);
    }
  }
}

void write_steps(const std::shared_ptr<const zarrcore::Array>& array, std::uint64_t first) {
  zarrcore::ArrayWriter writer(array);
  std::vector<std::future<void>> steps;
  for (std::uint64_t time = first; time < array->shape()[0]; ++time)
    steps.push_back(std::async(std::launch::async, write_step, std::ref(writer), time));
  for (std::future<void>& step : steps) step.get();  // throws what the thread has thrown
  writer.flush({.threads = 4});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_shards NEW_STORE\n";
    return 2;
  }
  try {
    const auto store = std::make_shared<zarrcore::FileSystemStore>(argv[1]);
    const auto hierarchy =
        zarrcore::Hierarchy::create(store, zarrcore::v3_format(), zarrcore::GroupMetadata{});
    const auto context = std::make_shared<zarrcore::Context>();
    auto array = zarrcore::create_array(*hierarchy, "temperature",
                                        {.shape = {4, kSize, kSize},
                                         .data_type = zarrcore::data_type_of<float>(),
                                         .chunk_shape = {1, 64, 64},
                                         .shard_shape = {1, kShard, kShard},
                                         .dimension_names = {"time", "y", "x"},
                                         .attributes = {{"units", "K"}}},
                                        context);
    write_steps(array, 0);
    // Two more time steps.
    array = zarrcore::resize_array(*hierarchy, "temperature", {6, kSize, kSize}, context);
    write_steps(array, 4);
    hierarchy->flush();  // consolidated metadata
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
