// The public header alone, used as its comment shows.
#include "zarrcore/zarrcore.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace {

TEST(Zarrcore, ItsHeaderIsAllThatAProgramNeeds) {
  const auto store = std::make_shared<zarrcore::FileSystemStore>(
      std::filesystem::path(FIXTURES_FOLDER) / "stores/v3_tree_consolidated.zarr");
  const zarrcore::Hierarchy hierarchy(store);
  std::string names;
  for (const zarrcore::Child& child : hierarchy.children("")) names += child.name + " ";
  EXPECT_EQ(names, "a top ");

  const auto context = std::make_shared<zarrcore::Context>();
  const auto array = hierarchy.open_array("a/b/c", context);
  EXPECT_EQ(array->shape(), (zarrcore::Shape{4, 6}));
  std::vector<float> window(2 * 3);
  array->read({{1, 2}, {2, 3}}, window.data(), window.size() * sizeof(float), {.threads = 4});

  std::vector<double> converted(2 * 3);
  const auto converter = zarrcore::make_numeric_converter(
      array->data_type(), {zarrcore::TypeKind::floating, sizeof(double)});
  array->read({{1, 2}, {2, 3}}, {reinterpret_cast<std::byte*>(converted.data()),
                                     zarrcore::c_strides(zarrcore::Shape{2, 3}, sizeof(double)),
                                     converter.get()});
  EXPECT_EQ(converted, std::vector<double>(window.begin(), window.end()));
}

}  // namespace
