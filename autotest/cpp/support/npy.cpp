#include "autotest/cpp/support/npy.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "autotest/cpp/support/layout.h"
#include "zarrcore/base/endian.h"

namespace zarrcore::test {
namespace {

// What stands between `start` and `end` in the header, a Python dictionary in a line of text.
std::string between(const std::string& header, const std::string& start, char end) {
  const auto at = header.find(start);
  if (at == std::string::npos) throw std::runtime_error("no " + start + " in " + header);
  const auto from = at + start.size();
  return header.substr(from, header.find(end, from) - from);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

NpyArray read_npy(const std::filesystem::path& path) {
  using namespace std::string_view_literals;
  const std::string file = read_file(path);
  if (!file.starts_with("\x93NUMPY\1\0"sv)) throw std::runtime_error(path.string() + ": no npy");
  const Bytes bytes = bytes_of(file);
  const std::size_t header_size = load_integer<std::uint16_t>(bytes.data() + 8, Endian::little);
  const std::string header = file.substr(10, header_size);

  NpyArray array;
  array.type = between(header, "'descr': '", '\'');
  std::istringstream shape(between(header, "'shape': (", ')'));
  for (std::string length; std::getline(shape, length, ',');) {
    array.shape.push_back(std::stoull(length));
  }
  const char kind = array.type[1];
  const std::size_t item_size = std::stoul(array.type.substr(2)) * (kind == 'U' ? 4 : 1);
  array.elements.assign(bytes.begin() + static_cast<std::ptrdiff_t>(10 + header_size), bytes.end());
  if (array.elements.size() != element_count(array.shape) * item_size) {
    throw std::runtime_error(path.string() + ": wrong size");
  }

  if (between(header, "'fortran_order': ", ',') == "True") {
    const Shape reversed(array.shape.rbegin(), array.shape.rend());
    const Strides strides = c_strides(reversed, item_size);
    const Bytes fortran = array.elements;
    copy_strided(array.shape, item_size, fortran.data(), Strides(strides.rbegin(), strides.rend()),
                 array.elements.data(), c_strides(array.shape, item_size));
  }
  const Endian endian = array.type[0] == '>' ? Endian::big : Endian::little;
  if (array.type[0] != '|' && endian != kHostEndian) {
    swap_bytes(array.elements, kind == 'c' ? item_size / 2 : kind == 'U' ? 4 : item_size);
  }
  return array;
}

}  // namespace zarrcore::test
