// Runs a fuzz target without a fuzzer, on known inputs: files, and the files of folders.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "autotest/fuzz/input.h"
#include "autotest/fuzz/peak_memory.h"

namespace {

namespace fs = std::filesystem;

// As of libFuzzer.
constexpr std::uint64_t kMaxMemory = std::uint64_t{2} << 30;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::exists(path)) return {};  // Git keeps no folder for a target that has found nothing.
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void run(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string input(std::istreambuf_iterator<char>(stream), {});
  // It has no NUL after it that would hide a read past its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  zarrcore::fuzz::check(zarrcore::fuzz::peak_memory() <= kMaxMemory,
                        "an input takes little memory");
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t runs = 0;
  for (int i = 1; i < count; ++i) {
    for (const fs::path& file : files_of(arguments[i])) {
      // What is printed last is what broke a promise, or crashed.
      std::fprintf(stderr, "%s\n", file.string().c_str());
      run(file);
      ++runs;
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs == 0 ? 1 : 0;
}
