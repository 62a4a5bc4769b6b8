// New arrays and resized ones through the functions that need few words.
#include <gtest/gtest.h>

#include "zarrcore/array/typed_values.h"
#include "zarrcore/hierarchy/arrays.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::new_array_test {
namespace {

struct NewArrayStore {
  explicit NewArrayStore(const Format& format = v3_format())
      : hierarchy(Hierarchy::create(store, format, GroupMetadata{})) {}

  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::unique_ptr<Hierarchy> hierarchy;
  std::shared_ptr<Context> context = std::make_shared<Context>();
};

template <typename Function>
std::string new_array_error(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NewArray, FormatsStoreTheSameArray) {
  for (const Format* format : {&v3_format(), &v2_format()}) {
    NewArrayStore zarr(*format);
    zarr.hierarchy->create_node("group", GroupMetadata{});
    const auto array = create_array(*zarr.hierarchy, "group/a",
                                    {.shape = {3, 4},
                                     .data_type = data_type_of<std::uint16_t>(),
                                     .chunk_shape = {2, 2},
                                     .compression = {{"zlib", {{"level", 1}}}},
                                     .fill_value = 7,
                                     .dimension_names = {"y", "x"}},
                                    zarr.context);
    ArrayWriter writer(array);
    write_values<int>(writer, {{0, 0}, {1, 4}}, std::vector<int>{1, 2, 3, 4});
    writer.flush();
    zarr.hierarchy->flush();

    const Hierarchy again(zarr.store);
    const auto read = again.open_array("group/a", zarr.context);
    EXPECT_EQ(read_values<double>(*read, {{0, 0}, {2, 4}}),
              (std::vector<double>{1, 2, 3, 4, 7, 7, 7, 7}));
    EXPECT_EQ(read->metadata().dimension_names.at(1), "x");
  }
}

TEST(NewArray, ChunksOfANewNodeAreBelowIt) {
  for (const Format* format : {&v3_format(), &v2_format()}) {
    NewArrayStore zarr(*format);
    zarr.hierarchy->create_node("group", GroupMetadata{});
    zarr.hierarchy->create_node(
        "group/a",
        make_array_metadata(*format, {.shape = {4}, .data_type = data_type_of<float>()}));
    // Opened by the hierarchy that made it, which did not read its document.
    ArrayWriter writer(zarr.hierarchy->open_array("group/a", zarr.context));
    write_values<float>(writer, {{0}, {4}}, std::vector<float>{1, 2, 3, 4});
    writer.flush();
    EXPECT_TRUE(zarr.store->has(format == &v3_format() ? "group/a/c/0" : "group/a/0"));
  }
}

TEST(NewArray, WithoutAChunkShapeItIsOneChunk) {
  NewArrayStore zarr;
  const auto array = create_array(
      *zarr.hierarchy, "a", {.shape = {5, 0}, .data_type = data_type_of<float>()}, zarr.context);
  EXPECT_EQ(array->inner_chunk_shape(), (Shape{5, 1}));
  const auto longer = resize_array(*zarr.hierarchy, "a", {5, 2}, zarr.context);
  EXPECT_EQ(read_values<float>(*longer, {{4, 0}, {1, 2}}), (std::vector<float>{0, 0}));
}

TEST(NewArray, ContradictionsAreErrorsAndNothingIsMade) {
  NewArrayStore v3;
  NewArrayStore v2(v2_format());
  const auto error = [](NewArrayStore& zarr, const NewArray& array) {
    const std::string message =
        new_array_error([&] { create_array(*zarr.hierarchy, "a", array, zarr.context); });
    EXPECT_EQ(zarr.hierarchy->node("a"), nullptr);
    EXPECT_NE(message.find("/a: "), std::string::npos) << message;
    return message;
  };
  const DataType type = data_type_of<float>();
  EXPECT_NE(error(v3, {.shape = {4, 4}, .data_type = type, .chunk_shape = {2}}).find("chunk_shape"),
            std::string::npos);
  EXPECT_NE(error(v3, {.shape = {4}, .data_type = type, .dimension_names = {"y", "x"}})
                .find("dimension_names"),
            std::string::npos);
  EXPECT_NE(error(v2, {.shape = {4}, .data_type = type, .chunk_shape = {2}, .shard_shape = {4}})
                .find("has no shards"),
            std::string::npos);
  EXPECT_NE(error(v3, {.shape = {4}, .data_type = type, .chunk_shape = {3}, .shard_shape = {4}}),
            "");
  EXPECT_NE(
      error(v3, {.shape = {4}, .data_type = type, .compression = {{"nothing"}}}).find("nothing"),
      std::string::npos);
  EXPECT_NE(error(v3, {.shape = {4}, .data_type = type, .fill_value = "a text"}), "");
  EXPECT_NE(new_array_error([&] {
              make_array_metadata(draft_format(), {.shape = {4}, .data_type = type});
            }).find("cannot be written"),
            std::string::npos);
}

TEST(ResizeArray, WhatCannotBeResizedKeepsItsShape) {
  NewArrayStore zarr;
  ArrayMetadata metadata =
      make_array_metadata(v3_format(), {.shape = {5}, .data_type = data_type_of<float>()});
  metadata.chunk_runs = {{{2, 1}, {3, 1}}};
  metadata.chunk_shape.clear();
  zarr.hierarchy->create_node("a", metadata);
  EXPECT_NE(new_array_error([&] {
              resize_array(*zarr.hierarchy, "a", {9}, zarr.context);
            }).find("not regular"),
            std::string::npos);
  EXPECT_NE(new_array_error([&] { resize_array(*zarr.hierarchy, "a", {9, 9}, zarr.context); }), "");
  EXPECT_EQ(zarr.hierarchy->open_array("a", zarr.context)->shape(), (Shape{5}));
}

TEST(ResizeArray, WhatIsCutOffDoesNotReappear) {
  NewArrayStore zarr;
  const auto array = create_array(*zarr.hierarchy, "a",
                                  {.shape = {6},
                                   .data_type = data_type_of<std::int32_t>(),
                                   .chunk_shape = {2},
                                   .shard_shape = {4}},
                                  zarr.context);
  ArrayWriter writer(array);
  write_values<int>(writer, {{0}, {6}}, std::vector<int>{1, 2, 3, 4, 5, 6});
  writer.flush();
  resize_array(*zarr.hierarchy, "a", {3}, zarr.context);
  const auto longer = resize_array(*zarr.hierarchy, "a", {6}, zarr.context);
  EXPECT_EQ(read_values<int>(*longer, {{0}, {6}}), (std::vector<int>{1, 2, 3, 0, 0, 0}));
}

TEST(TypedValues, OtherCountsAndTypesAreErrors) {
  NewArrayStore zarr;
  const auto numbers = create_array(
      *zarr.hierarchy, "n", {.shape = {4}, .data_type = data_type_of<float>()}, zarr.context);
  const auto texts = create_array(
      *zarr.hierarchy, "t", {.shape = {4}, .data_type = data_type_of<std::string>()}, zarr.context);
  // Before memory is allocated.
  EXPECT_NE(new_array_error([&] { read_values<float>(*numbers, {{0}, {std::uint64_t{1} << 60}}); }),
            "");
  ArrayWriter writer(numbers);
  EXPECT_NE(new_array_error([&] {
              write_values<float>(writer, {{0}, {4}}, std::vector<float>{1, 2, 3});
            }).find("3 values for a selection of 4"),
            std::string::npos);
  EXPECT_NE(
      new_array_error([&] { read_values<std::string>(*numbers, {{0}, {4}}); }).find("not texts"),
      std::string::npos);
  EXPECT_NE(new_array_error([&] { read_values<float>(*texts, {{0}, {4}}); }).find("not numbers"),
            std::string::npos);
  EXPECT_EQ(data_type_of<std::complex<float>>(), parse_type_name("complex64"));
}

}  // namespace
}  // namespace zarrcore::test::new_array_test
