// A whole store: keys and values. It is opened, walked, and the beginning of every array is read.
#include "autotest/fuzz/array_checks.h"
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/store_text.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::fuzz {
namespace {

constexpr int kMaxArrays = 8;

void test_array(const Hierarchy& hierarchy, const std::string& path) {
  std::shared_ptr<const Array> array;
  const auto open = [&] { array = hierarchy.open_array(path, std::make_shared<Context>()); };
  if (!succeeds(open)) return;
  const Selection selection = first_elements(*array);
  if (const auto elements = read_elements(*array, selection)) {
    open();  // without what is cached
    check_parts(*array, selection.count, *elements);
  }
}

void walk(const Hierarchy& hierarchy, const std::string& group, int& arrays) {
  for (const Child& child : hierarchy.children(group)) {
    if (arrays == kMaxArrays) return;
    const std::string path = join_path(group, child.name);
    if (child.kind == Child::Kind::array) {
      ++arrays;
      test_array(hierarchy, path);
    } else if (child.kind == Child::Kind::group) {
      succeeds([&] { walk(hierarchy, path, arrays); });
    }
  }
}

void test_store(const std::shared_ptr<Store>& store, bool use_consolidated) {
  const Hierarchy hierarchy(store, {.use_consolidated = use_consolidated});
  int arrays = 0;
  test_array(hierarchy, "");
  walk(hierarchy, "", arrays);
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  const auto store = std::make_shared<zarrcore::MemoryStore>();
  for (const auto& [name, content] :
       parse_store_text({reinterpret_cast<const char*>(data), size})) {
    const std::string& key = name;
    const std::string& value = content;
    succeeds([&] { store->put(key, std::as_bytes(std::span(value))); });
  }
  succeeds([&] { test_store(store, true); });
  succeeds([&] { test_store(store, false); });
  return 0;
}
