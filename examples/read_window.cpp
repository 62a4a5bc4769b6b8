// Lists the arrays of a store, and reads a window of one of them.
//
// usage: read_window STORE ARRAY START... COUNT...
//        read_window data/geoid_v3_sharded.zarr geoid 80 360 2 3
#include <zarrcore/zarrcore.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: read_window STORE ARRAY START... COUNT...\n";
    return 2;
  }
  try {
    const auto store = std::make_shared<zarrcore::FileSystemStore>(argv[1]);
    const zarrcore::Hierarchy hierarchy(store);
    for (const zarrcore::Child& child : hierarchy.children("")) std::cout << child.name << '\n';

    const auto context = std::make_shared<zarrcore::Context>();
    const auto array = hierarchy.open_array(argv[2], context);
    zarrcore::Selection window;
    const int rank = static_cast<int>(array->shape().size());
    if (argc != 3 + 2 * rank) throw zarrcore::Error("the window needs a start and a count each");
    for (int i = 0; i < rank; ++i) {
      window.start.push_back(std::stoull(argv[3 + i]));
      window.count.push_back(std::stoull(argv[3 + rank + i]));
    }
    for (const double value : zarrcore::read_values<double>(*array, window, {.threads = 4}))
      std::cout << value << ' ';
    std::cout << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
