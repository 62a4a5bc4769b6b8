// Changes of the documents of a fixture, which is then opened and read through GDAL. The first line
// is the fixture's name; each line after it is the number of a document, that of a part of it (see
// json_parts.h), and the text that takes the part's place.
#include <charconv>

#include "autotest/fuzz/gdal_checks.h"
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/json_parts.h"

namespace zarrcore::fuzz {
namespace {

using Store = std::pair<const std::string, StoreValues>;

// Of a name that no fixture has, any.
const Store& find_fixture(std::string_view name) {
  const auto& stores = fixture_stores();
  const auto found = stores.find(std::string(name));
  if (found != stores.end()) return *found;
  return *std::next(stores.begin(), static_cast<std::ptrdiff_t>(
                                        std::hash<std::string_view>()(name) % stores.size()));
}

// The number that `line` begins with, and the space after it, which are taken from it.
std::size_t take_number(std::string_view& line) {
  std::size_t number = 0;
  const char* end = std::from_chars(line.data(), line.data() + line.size(), number).ptr;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  return number;
}

void change(StoreValues& store, std::string_view line) {
  std::vector<std::string*> documents;
  for (auto& [key, value] : store) {
    if (value.starts_with('{')) documents.push_back(&value);
  }
  if (documents.empty()) return;
  std::string& document = *documents[take_number(line) % documents.size()];
  const auto parts = json_parts(document);
  if (parts.empty()) return;
  const std::string_view part = parts[take_number(line) % parts.size()];
  document.replace(static_cast<std::size_t>(part.data() - document.data()), part.size(), line);
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  prepare_gdal();
  Input input(data, size);
  auto [name, values] = find_fixture(input.until("\n"));
  while (!input.is_empty()) change(values, input.until("\n"));
  MemoryFolder folder(name);
  folder.add(values);
  check_raster(folder.path());
  check_multidimensional(folder.path());
  return 0;
}
