// Reading the `.npy` files that hold what fixtures must read as.
#pragma once

#include <filesystem>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/base/strided.h"

namespace zarrcore::test {

struct NpyArray {
  std::string type;  // a NumPy type string, `<f4`
  Shape shape;
  Bytes elements;  // dense in C order, in the host's byte order
};

// Throws std::runtime_error when the file is not one of version 1 of the format.
NpyArray read_npy(const std::filesystem::path& path);

// The bytes of a file.
std::string read_file(const std::filesystem::path& path);

}  // namespace zarrcore::test
