#include <gtest/gtest.h>

#include <map>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::resize_test {
namespace {

using Kind = ChunkKeyEncoding::Kind;

struct Layout {
  const char* label;
  std::string codecs;
  ChunkKeyEncoding keys;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

const std::string kBytes = bytes_codec();
const std::string kShards =
    sharding_codec({2, 3}, codec_list({kBytes, codec("zstd")}), index_codecs());
const Layout kLayouts[] = {
    {"Plain", codec_list({kBytes}), {Kind::default_, '/'}},
    {"Dots", codec_list({kBytes, codec("gzip")}), {Kind::default_, '.'}},
    {"V2", codec_list({transpose_codec({1, 0}), kBytes}), {Kind::v2, '.'}},
    {"V2Nested", codec_list({kBytes}), {Kind::v2, '/'}},
    {"Draft", codec_list({kBytes}), {Kind::draft, '/'}},
    {"Sharded", codec_list({kShards}), {Kind::default_, '/'}},
    {"CompressedShard", codec_list({kShards, codec("gzip")}), {Kind::v2, '/'}},
    {"TransposedShard",
     codec_list({transpose_codec({1, 0}),
                 sharding_codec({3, 2}, codec_list({kBytes}), codec_list({kBytes}), "start")}),
     {Kind::default_, '.'}},
};

class Resizing : public testing::TestWithParam<Layout> {
 protected:
  static constexpr std::int16_t kFill = 7;

  std::shared_ptr<const Array> open(const Shape& shape, std::shared_ptr<Store> store = nullptr) {
    const auto document = array_document(shape, {4, 6}, "\"int16\"", GetParam().codecs, "7");
    const auto helper = std::make_shared<MemoryStore>();
    put_document(*helper, "", document);
    ArrayMetadata metadata = open_array(helper)->metadata();
    metadata.chunk_key_encoding = GetParam().keys;
    metadata.chunk_prefix = "a";
    return std::make_shared<const Array>(store ? store : store_, "a", metadata,
                                         std::make_shared<Context>());
  }

  static void write(const std::shared_ptr<const Array>& array, const Selection& selection,
                    ByteSpan values) {
    ArrayWriter writer(array);
    writer.write(selection, {values.data(), c_strides(selection.count, 2), nullptr});
    writer.flush();
  }

  std::shared_ptr<Store> store_ = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Layouts, Resizing, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.label); });

TEST_P(Resizing, WhatShrinksAwayIsGoneWhenItGrowsAgain) {
  Random random(53);
  Shape shape{10, 8};
  std::map<Shape, std::int16_t> model;  // elements that are not the fill value
  for (int round = 0; round < 60; ++round) {
    const auto array = open(shape);
    if (element_count(shape) > 0) {
      const Selection region = random_selection(random, shape);
      const Bytes values = random_bytes(random, element_count(region.count) * 2);
      write(array, region, values);
      std::size_t at = 0;
      for_each_index(region.count, [&](const Shape& index) {
        Shape element(2);
        for (std::size_t i = 0; i < 2; ++i) {
          element[i] = region.start[i] + index[i] * static_cast<std::uint64_t>(region.step[i]);
        }
        std::memcpy(&model[element], values.data() + at, 2);
        at += 2;
      });
    }
    Shape next{random_number(random, 0, 14), random_number(random, 1, 20)};
    if (round % 3 == 0) next[0] = shape[0];
    resize(*array, next, {1 + round % 3u, nullptr});
    std::erase_if(model, [&](const auto& item) {
      return item.first[0] >= next[0] || item.first[1] >= next[1];
    });
    shape = next;
    std::vector<std::int16_t> expected;
    for_each_index(shape, [&](const Shape& index) {
      const auto it = model.find(index);
      expected.push_back(it == model.end() ? kFill : it->second);
    });
    ASSERT_EQ(read(*open(shape), everything(shape)), elements(expected)) << "round " << round;
  }
}

TEST_P(Resizing, WhatOthersLeftOutsideDoesNotComeIn) {
  const Shape large{12, 18};
  write(open(large), everything(large), elements(std::vector<std::int16_t>(12 * 18, 3)));
  // As if another program had made it smaller by changing only the metadata.
  resize(*open({5, 7}), {9, 13});
  std::vector<std::int16_t> expected;
  for_each_index({9, 13}, [&](const Shape& index) {
    expected.push_back(index[0] < 5 && index[1] < 7 ? 3 : kFill);
  });
  EXPECT_EQ(read(*open({9, 13}), everything({9, 13})), elements(expected));
}

TEST_P(Resizing, OnlyChunksAreTouched) {
  const Shape shape{10, 8};
  write(open(shape), everything(shape), elements(std::vector<std::int16_t>(80, 3)));
  const std::vector<std::string> others{"a/zarr.json", "a/.zattrs", "a/c/x",   "a/c/02/0",
                                        "a/c/9",       "a/c/9/9/9", "a/09.9",  "a/9.9.9",
                                        "a/c9x/9",     "a/9/9/9",   "b/c/9/9", "a/c.9.9.txt"};
  for (const std::string& key : others) store_->put(key, bytes_of("mine"));
  const std::string inside = "a/" + GetParam().keys.encode(Shape{0, 0});
  const Bytes before = to_bytes(store_->get(inside)->span());
  resize(*open(shape), {4, 6});
  for (const std::string& key : others) EXPECT_TRUE(store_->get(key)) << key;
  EXPECT_EQ(to_bytes(store_->get(inside)->span()), before);
  for (const Shape& chunk : {Shape{0, 1}, Shape{1, 0}, Shape{2, 1}}) {
    EXPECT_FALSE(store_->get("a/" + GetParam().keys.encode(chunk)));
  }
}

TEST_P(Resizing, HugeGridsAreNotWalked) {
  const Shape huge{std::uint64_t{1} << 33, std::uint64_t{1} << 31};
  const auto array = open(huge);
  const Selection last{{huge[0] - 1, huge[1] - 1}, {1, 1}, {}};
  write(array, last, elements<std::int16_t>({1}));
  write(array, {{5, 7}, {1, 1}, {}}, elements<std::int16_t>({2}));
  resize(*array, {6, huge[1] - 1});
  const auto small = open({6, huge[1] - 1});
  EXPECT_EQ(read(*small, {{5, 7}, {1, 1}, {}}), elements<std::int16_t>({2}));
  resize(*small, huge);
  EXPECT_EQ(read(*open(huge), last), elements<std::int16_t>({kFill}));
}

TEST_P(Resizing, AFailureIsReportedAndTheNextCallFinishes) {
  const Shape shape{10, 8};
  write(open(shape), everything(shape), elements(std::vector<std::int16_t>(80, 3)));
  const std::string key = "a/" + GetParam().keys.encode(Shape{1, 0});
  const auto failing =
      std::make_shared<FailingStore>(store_, [&](std::string_view asked) { return asked == key; });
  EXPECT_ERROR(resize(*open(shape, failing), {5, 6}), "array /a", key, "on fire");
  resize(*open(shape), {5, 6});
  EXPECT_EQ(read(*open({5, 6}), everything({5, 6})), elements(std::vector<std::int16_t>(30, 3)));
  resize(*open({5, 6}), shape);
  std::vector<std::int16_t> expected;
  for_each_index(shape, [&](const Shape& index) {
    expected.push_back(index[0] < 5 && index[1] < 6 ? 3 : kFill);
  });
  EXPECT_EQ(read(*open(shape), everything(shape)), elements(expected));
}

TEST(Resize, RefusesWhatItCannotDo) {
  const std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  Json document = array_document({10}, {4}, "\"int16\"", codec_list({kBytes}));
  put_document(*store, "", document);
  EXPECT_ERROR(resize(*open_array(store), {3, 3}), "dimensions");
  document["chunk_grid"] = parse_json(
      R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 6]]}})");
  put_document(*store, "", document);
  EXPECT_ERROR(resize(*open_array(store), {3}), "not regular");
}

}  // namespace
}  // namespace zarrcore::test::resize_test
