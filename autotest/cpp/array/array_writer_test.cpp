#include "zarrcore/array/array_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::array_writer_test {
namespace {

constexpr std::uint64_t kItem = 2;  // bytes of an element of the arrays here

const std::string kBytes = bytes_codec();
const std::string kInner = codec_list({kBytes, codec("zstd")});

struct Layout {
  const char* label;
  std::string codecs;
};

void PrintTo(const Layout& layout, std::ostream* stream) {
  *stream << layout.label;
}

const Layout kLayouts[] = {
    {"Plain", codec_list({kBytes})},
    {"Compressed", codec_list({bytes_codec("big"), codec("gzip"), codec("crc32c")})},
    {"Transposed", codec_list({transpose_codec({1, 0}), kBytes})},
    {"Sharded", codec_list({sharding_codec({2, 3}, kInner, index_codecs())})},
    {"IndexFirst", codec_list({sharding_codec({4, 1}, kInner, codec_list({kBytes}), "start")})},
    {"Framed", codec_list({sharding_codec({2, 3}, kInner, index_codecs()), codec("crc32c")})},
    {"TransposedShard",
     codec_list({transpose_codec({1, 0}), sharding_codec({3, 2}, kInner, index_codecs())})},
    {"TransposedInShard",
     codec_list(
         {sharding_codec({2, 3}, codec_list({transpose_codec({1, 0}), kBytes}), index_codecs())})},
    {"ShardsInShards",
     codec_list({sharding_codec(
         {4, 3}, codec_list({sharding_codec({1, 3}, kInner, index_codecs())}), index_codecs())})},
    {"CompressedShard",
     codec_list({sharding_codec({2, 3}, kInner, index_codecs()), codec("gzip")})},
};

class Writing : public testing::TestWithParam<Layout> {
 protected:
  // Chunks that reach past both ends of the array.
  static inline const Shape kShape{10, 8};

  std::shared_ptr<const Array> create(const std::string& codecs, std::string_view fill = "7",
                                      std::shared_ptr<Store> store = nullptr) {
    put_document(*store_, "", array_document(kShape, {4, 6}, "\"int16\"", codecs, fill));
    return open_array(store ? std::move(store) : store_);
  }

  Bytes filled(std::int16_t value) const { return elements(std::vector<std::int16_t>(80, value)); }

  // Writes `values`, dense in C order, to a selection.
  static void write(ArrayWriter& writer, const Selection& selection, const Bytes& values,
                    std::size_t threads = 1) {
    writer.write(selection, {values.data(), c_strides(selection.count, kItem), nullptr},
                 {threads, nullptr});
  }

  // A selection as the writer reads it, dense in C order.
  static Bytes read_through(ArrayWriter& writer, const Selection& selection,
                            std::size_t threads = 1) {
    Bytes values(selection.count[0] * selection.count[1] * kItem);
    writer.read(selection, {values.data(), c_strides(selection.count, kItem), nullptr},
                {threads, nullptr});
    return values;
  }

  // Writes to an array in memory.
  static void write(Bytes& array, const Selection& selection, const Bytes& values) {
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < selection.count[0]; ++i) {
      for (std::uint64_t k = 0; k < selection.count[1]; ++k, at += kItem) {
        const auto row = selection.start[0] + i * static_cast<std::uint64_t>(selection.step[0]);
        const auto column = selection.start[1] + k * static_cast<std::uint64_t>(selection.step[1]);
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), kItem,
                    array.begin() + static_cast<std::ptrdiff_t>((row * 8 + column) * kItem));
      }
    }
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Layouts, Writing, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.label); });

TEST_P(Writing, RandomRegionsInRandomOrderAreWhatWasWritten) {
  Random random(51);
  const WriterOptions variants[] = {{0},
                                    {300},
                                    {UINT64_MAX},
                                    {0, nullptr, false, true},
                                    {300, nullptr, false, true},
                                    {UINT64_MAX, nullptr, false, true}};
  for (const WriterOptions& options : variants) {
    for (MemoryStore* old = store_.get(); old == store_.get();)
      store_ = std::make_shared<MemoryStore>();
    const auto array = create(GetParam().codecs);
    Bytes expected = filled(7);
    ArrayWriter writer(array, options);
    for (int round = 0; round < 60; ++round) {
      const Selection selection = random_selection(random, kShape);
      Bytes values = random_bytes(random, selection.count[0] * selection.count[1] * kItem);
      if (round % 5 == 0) values = Bytes(values.size());
      write(writer, selection, values, 1 + round % 3u);
      write(expected, selection, values);
      // What is being encoded in the background may take some bytes more for a moment.
      if (!options.writes_in_background) {
        EXPECT_LE(writer.pending_bytes(), options.max_bytes);
      }
      if (round % 4 == 0) {
        const Selection any = random_selection(random, kShape);
        EXPECT_EQ(read_through(writer, any), selected(expected, kShape, kItem, any));
        EXPECT_EQ(read_through(writer, everything(kShape), 1 + round % 3u), expected);
      }
      if (round % 10 == 0) {
        writer.flush();
        EXPECT_EQ(writer.pending_bytes(), 0);
        EXPECT_EQ(read(*array, everything(kShape)), expected);
      }
    }
    writer.flush();
    EXPECT_EQ(read(*array, everything(kShape)), expected);
    // Another reader, which has nothing in its caches.
    EXPECT_EQ(read(*open_array(store_), everything(kShape)), expected);
  }
}

TEST_P(Writing, WhatIsAllFillValueIsNotStored) {
  const auto array = create(GetParam().codecs);
  ArrayWriter writer(array);
  write(writer, everything(kShape), filled(3));
  writer.flush();
  EXPECT_EQ(store_->list("c").prefixes.size(), 3);
  write(writer, everything(kShape), filled(7));
  writer.flush();
  EXPECT_TRUE(store_->list("c").prefixes.empty());
  EXPECT_EQ(read(*array, everything(kShape)), filled(7));
}

TEST_P(Writing, EachChunkIsPutOnceInTheCommonOrders) {
  const auto observed = std::make_shared<ObservedStore>(store_);
  const auto array = create(GetParam().codecs, "7", observed);
  Random random(52);
  // By rows, by columns, by boxes of the inner chunks, and all at once.
  for (const Shape& step : {Shape{1, 8}, Shape{10, 1}, Shape{2, 3}, Shape{10, 8}}) {
    const auto before = observed->put_counts();
    ArrayWriter writer(array);
    const Bytes values = random_bytes(random, 80 * kItem);
    for (std::uint64_t row = 0; row < 10; row += step[0]) {
      for (std::uint64_t column = 0; column < 8; column += step[1]) {
        const Selection box{
            {row, column}, {std::min(step[0], 10 - row), std::min(step[1], 8 - column)}, {1, 1}};
        write(writer, box, selected(values, kShape, kItem, box));
      }
    }
    writer.flush();
    EXPECT_EQ(read(*array, everything(kShape)), values);
    const auto after = observed->put_counts();
    EXPECT_EQ(after.size(), 6);
    for (const auto& [key, count] : after) {
      EXPECT_EQ(count, 1 + (before.contains(key) ? before.at(key) : 0)) << key;
    }
  }
}

// Inner chunks that were complete before do not make a shard of the first slices that are written.
TEST_P(Writing, AllThatOneCallWritesToAChunkIsPutTogether) {
  const auto observed = std::make_shared<ObservedStore>(store_);
  const auto array = create(GetParam().codecs, "7", observed);
  Random random(53);
  for (const std::size_t threads : {1, 2, 4, 16}) {
    const auto before = observed->put_counts();
    WriterOptions options;
    options.writes_in_background = threads > 1;
    ArrayWriter writer(array, options);
    write(writer, {{1, 0}, {9, 8}, {1, 1}}, random_bytes(random, 72 * kItem), threads);
    const Bytes values = random_bytes(random, 80 * kItem);
    write(writer, everything(kShape), values, threads);
    writer.flush();
    EXPECT_EQ(read(*array, everything(kShape)), values);
    for (const std::string key : {"c/0/0", "c/0/1"}) {
      const auto puts = observed->put_counts();
      EXPECT_EQ(puts.at(key), 1 + (before.contains(key) ? before.at(key) : 0)) << key;
    }
  }
}

TEST_P(Writing, WholeChunksAreWrittenWithoutBeingRead) {
  const auto observed = std::make_shared<ObservedStore>(store_);
  const auto array = create(GetParam().codecs, "7", observed);
  observed->take_requests();
  ArrayWriter writer(array);
  for (int round = 0; round < 2; ++round) {
    write(writer, everything(kShape), filled(static_cast<std::int16_t>(round)));
    EXPECT_EQ(writer.pending_bytes(), 0);
  }
  EXPECT_TRUE(observed->take_requests().empty());
}

TEST_P(Writing, WhatCannotBePutIsReportedAndTriedAgain) {
  std::atomic<bool> is_broken = true;
  const auto failing = std::make_shared<FailingStore>(
      store_, [&](std::string_view key) { return is_broken && key == "c/0/1"; });
  const auto array = create(GetParam().codecs, "7", failing);
  ArrayWriter writer(array);
  EXPECT_ERROR(write(writer, everything(kShape), filled(3)), "array /", "c/0/1",
               "the disk is on fire");
  EXPECT_GT(writer.pending_bytes(), 0);
  EXPECT_ERROR(writer.flush(), "array /", "c/0/1", "the disk is on fire");
  is_broken = false;
  writer.flush();
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(read(*array, everything(kShape)), filled(3));
}

TEST_P(Writing, AChunkThatCannotBeReadIsNotOverwrittenInPart) {
  const auto array = create(GetParam().codecs);
  ArrayWriter writer(array);
  write(writer, everything(kShape), filled(3));
  writer.flush();
  const Bytes good = to_bytes(store_->get("c/1/0", kNoSizeLimit)->span());
  const Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2));
  store_->put("c/1/0", bad);
  const Selection one{{5, 1}, {1, 1}, {1, 1}};
  try {
    write(writer, one, elements<std::int16_t>({9}));
    writer.flush();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("c/1/0"), std::string::npos) << error.what();
  }
  EXPECT_EQ(to_bytes(store_->get("c/1/0", kNoSizeLimit)->span()), bad);
}

TEST_P(Writing, ThreadsWriteTheirElementsOfTheSameChunks) {
  const auto array = create(GetParam().codecs);
  ArrayWriter writer(array, {200});
  std::vector<std::thread> threads;
  for (std::uint64_t k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (std::uint64_t row = 0; row < 10; ++row) {
        const Selection own{{row, k}, {1, 2}, {1, 4}};
        const auto value = static_cast<std::int16_t>(row * 10 + k);
        write(writer, own, elements<std::int16_t>({value, value}), 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.flush();
  std::vector<std::int16_t> expected;
  for (int row = 0; row < 10; ++row) {
    for (int column = 0; column < 8; ++column) {
      expected.push_back(static_cast<std::int16_t>(row * 10 + column % 4));
    }
  }
  EXPECT_EQ(read(*array, everything(kShape)), elements(expected));
}

TEST_P(Writing, ThreadsFlushWhatAnotherWrites) {
  const auto array = create(GetParam().codecs);
  ArrayWriter writer(array);
  std::atomic<bool> is_done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_done) writer.flush();
    });
  }
  for (std::uint64_t i = 0; i < 100; ++i) {
    write(writer, {{i % 10, 0}, {1, 8}, {1, 1}},
          elements(std::vector<std::int16_t>(8, static_cast<std::int16_t>(i / 10))));
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  writer.flush();
  EXPECT_EQ(read(*array, everything(kShape)), filled(9));
}

TEST_F(Writing, AnUndefinedFillValueIsStored) {
  create(kLayouts[0].codecs);
  ArrayMetadata metadata = open_array(store_)->metadata();
  metadata.fill_value.reset();
  const auto array =
      std::make_shared<const Array>(store_, "", metadata, std::make_shared<Context>());
  ArrayWriter writer(array);
  write(writer, everything(kShape), filled(0));
  EXPECT_EQ(store_->list("c").prefixes.size(), 3);
}

TEST_F(Writing, TextsAreCopied) {
  put_document(*store_, "",
               array_document({5}, {3}, "\"string\"", codec_list({codec("vlen-utf8")}), "\"-\""));
  const auto array = open_array(store_);
  ArrayWriter writer(array);
  {
    std::vector<std::string> texts{"one", std::string(1000, 'x')};
    const Bytes source = elements(texts);
    writer.write({{0}, {2}, {3}}, {source.data(), {sizeof(VariableElement)}, nullptr});
    texts.assign(2, "gone");
  }
  writer.flush();
  const auto codec =
      make_array_to_bytes("vlen-utf8", "{}", {{3}, kString, Bytes(kString.item_size)});
  const auto stored = [&](const char* key) {
    return texts_by(*codec, to_bytes(store_->get(key, kNoSizeLimit)->span()), 3);
  };
  EXPECT_EQ(stored("c/0"), (std::vector<std::string>{"one", "-", "-"}));
  EXPECT_EQ(stored("c/1"), (std::vector<std::string>{std::string(1000, 'x'), "-", "-"}));
}

// Signed bytes hold -12.8 to 12.7.
const std::string kFixed = codec("numcodecs.fixedscaleoffset",
                                 R"("offset": 0, "scale": 10, "dtype": "<i2", "astype": "|i1")");

TEST_F(Writing, WhatAFilterCannotHoldIsAnErrorAndNotPut) {
  for (const std::string& codecs :
       {codec_list({kFixed, kBytes}),
        codec_list({sharding_codec({2, 3}, codec_list({kFixed, kBytes}), index_codecs())})}) {
    store_ = std::make_shared<MemoryStore>();
    const auto array = create(codecs);
    {
      ArrayWriter writer(array);
      write(writer, everything(kShape), filled(3));
      writer.flush();
    }
    ArrayWriter writer(array);
    std::vector<std::int16_t> numbers(80, 4);
    numbers[0] = 100;
    const Bytes values = elements(numbers);
    const auto write_all = [&] {
      write(writer, everything(kShape), values);
      writer.flush();
    };
    EXPECT_ERROR(write_all(), "chunk c/0/0",
                 "element 0 of the chunk is 100, which cannot be stored");
    EXPECT_EQ(read(*open_array(store_), {{0, 0}, {4, 6}, {1, 1}}),
              elements(std::vector<std::int16_t>(24, 3)));
  }
}

TEST_F(Writing, AFilterNeedNotHoldTheFillValueOutsideTheArray) {
  for (const std::string& codecs :
       {codec_list({kFixed, kBytes}), codec_list({transpose_codec({1, 0}), kFixed, kBytes}),
        codec_list({sharding_codec({2, 3}, codec_list({kFixed, kBytes}), index_codecs())})}) {
    store_ = std::make_shared<MemoryStore>();
    const auto array = create(codecs, "9999");
    std::vector<std::int16_t> numbers(80);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<std::int16_t>(i % 13);
    }
    const Bytes values = elements(numbers);
    ArrayWriter writer(array);
    write(writer, everything(kShape), values);
    writer.flush();
    EXPECT_EQ(read(*open_array(store_), everything(kShape)), values);
    // Inside the array, it has to be held.
    const auto write_inside = [&] {
      write(writer, {{9, 7}, {1, 1}, {1, 1}}, elements(std::vector<std::int16_t>{9999}));
      writer.flush();
    };
    EXPECT_ERROR(write_inside(), "is 9999, which cannot be stored");
  }
}

TEST_F(Writing, ElementsThatAreNoTextsDoNotBecomeTexts) {
  const std::string json = codec_list({codec("numcodecs.json2")});
  for (const std::string& codecs :
       {json, codec_list({sharding_codec({3}, json, index_codecs()), codec("gzip")})}) {
    store_ = std::make_shared<MemoryStore>();
    put_document(*store_, "", array_document({6}, {3}, "\"string\"", codecs, "\"\""));
    const auto array = open_array(store_);
    const CodecChain chain(array->metadata().codecs, {{3}, kString, Bytes(kString.item_size)});
    Buffer shard = Buffer::copy_of(R"(["a",1,"c","|O",[3]])");
    if (const ShardingCodec* sharding = chain.sharding()) {
      const Buffer inner = std::move(shard);
      const ShardIndex::Entry entry{0, inner.size()};
      const Buffer index = sharding->encode_index({&entry, 1});
      shard = Buffer(inner.size() + index.size());
      std::ranges::copy(index.span(), std::ranges::copy(inner.span(), shard.data()).out);
      shard = chain.encode_shard(std::move(shard));
    }
    store_->put("c/0", shard.span());
    store_->put("c/1", shard.span());

    const std::vector<std::string> words{"x", "y", "z"};
    const Bytes texts = elements(words);
    const Source one{texts.data(), {sizeof(VariableElement)}, nullptr};
    ArrayWriter writer(array);
    EXPECT_ERROR(writer.write({{0}, {1}, {1}}, one), "chunk c/0", "element 1 of the chunk is 1",
                 "would become a text");
    writer.flush();
    EXPECT_EQ(to_bytes(store_->get("c/0", kNoSizeLimit)->span()), to_bytes(shard.span()));
    writer.write({{3}, {3}, {1}}, one);
    writer.write({{4}, {1}, {1}}, one);
    writer.flush();
    EXPECT_NE(to_bytes(store_->get("c/1", kNoSizeLimit)->span()), to_bytes(shard.span()));
    writer.write({{4}, {1}, {1}}, one);
    writer.flush();
  }
}

TEST_F(Writing, TheCacheMakesWayForWhatWaits) {
  const auto array = create(kLayouts[0].codecs);
  const auto context = std::make_shared<Context>(2000, 0);
  ArrayWriter writer(std::make_shared<const Array>(store_, "", array->metadata(), context));
  CachedArray other(context->chunks);
  for (const char* key : {"old", "new"}) {
    const auto request = context->chunks.begin_request();
    context->chunks.start(other, std::make_shared<const std::string>(key), {}, request)
        .finish(std::make_shared<const CachedChunk>(DecodedChunk{Buffer(700), {}}, ValueVersion()),
                true, request);
  }
  const std::uint64_t both = context->chunks.byte_count();
  for (std::uint64_t row = 0; row < 3; ++row) {
    write(writer, {{row, 0}, {1, 8}, {1, 1}}, filled(2));
  }
  EXPECT_EQ(context->pending_bytes, writer.pending_bytes());
  EXPECT_LT(2000 - context->pending_bytes, both);
  EXPECT_EQ(context->chunks.byte_count(), both / 2);
  writer.flush();
  EXPECT_EQ(context->pending_bytes, 0);
}

// Each element by itself, so that all chunks are cached.
Bytes read_one_by_one(const Array& array) {
  Bytes all;
  for (std::uint64_t y = 0; y < array.shape()[0]; ++y) {
    for (std::uint64_t x = 0; x < array.shape()[1]; ++x) {
      const Bytes one = read(array, {{y, x}, {1, 1}, {}});
      all.insert(all.end(), one.begin(), one.end());
    }
  }
  return all;
}

TEST_P(Writing, APutLeavesTheOtherChunksInTheCache) {
  const auto context = std::make_shared<Context>();
  const auto observe = [&] {
    write_array(*store_, "", array_document(kShape, {4, 6}, "\"int16\"", GetParam().codecs, "7"),
                filled(3));
    return std::make_shared<ObservedStore>(std::exchange(store_, std::make_shared<MemoryStore>()));
  };
  const auto store = observe();
  const auto array = open_array(store, "", context);
  const auto other_store = observe();
  const auto other = open_array(other_store, "", context);
  Bytes expected = filled(3);
  for (std::int16_t round = 0; round < 3; ++round) {
    if (round > 0) {
      const Selection one{{1, 2}, {1, 1}, {1, 1}};
      ArrayWriter writer(array);
      write(writer, one, elements<std::int16_t>({round}));
      writer.flush();
      write(expected, one, elements<std::int16_t>({round}));
    }
    store->take_requests();
    other_store->take_requests();
    EXPECT_EQ(read_one_by_one(*array), expected);
    EXPECT_EQ(read_one_by_one(*other), filled(3));
    std::set<std::string> keys;
    for (const auto& request : store->take_requests()) keys.insert(request.key);
    if (round > 0) {
      EXPECT_EQ(keys, std::set<std::string>{"c/0/0"});
      EXPECT_TRUE(other_store->take_requests().empty());
    }
  }
}

// Runs a function once, after the answer that `countdown` says.
class InterruptedStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

  int countdown = -1;
  std::function<void()> interrupt;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    auto answer = StoreWrapper::get(key, max_size);
    if (countdown-- == 0) interrupt();
    return answer;
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    auto answer = StoreWrapper::get_ranges(key, ranges);
    if (countdown-- == 0) interrupt();
    return answer;
  }
};

// The store does not know versions.
TEST_P(Writing, AReadThatBeganBeforeAPutDoesNotCacheTheOldChunk) {
  const auto store = std::make_shared<InterruptedStore>(store_);
  const auto array = create(GetParam().codecs, "7", store);
  ArrayWriter writer(array);
  write(writer, everything(kShape), filled(3));
  writer.flush();
  const Selection part{{0, 0}, {2, 2}, {}};
  std::int16_t value = 3;
  store->interrupt = [&] {
    write(writer, {{1, 1}, {1, 1}, {1, 1}}, elements<std::int16_t>({++value}));
    writer.flush();
  };
  for (int answers = 0; answers < 6; ++answers) {
    array->refresh();
    store->countdown = answers;
    try {
      read(*array, part);
    } catch (const Error&) {
      // It may have read an index of one version and inner chunks of another one.
    }
    store->countdown = -1;
    EXPECT_EQ(read(*array, part), elements<std::int16_t>({3, 3, 3, value})) << answers;
  }
  EXPECT_GT(value, 3);
}

TEST_F(Writing, ChunksOfManyShapesNeedLittleMemory) {
  // 40 × 40 lengths of chunks, each with a chain of many codecs.
  Json document =
      array_document({820, 820}, {1, 1}, "\"uint8\"",
                     codec_list(std::vector<std::string>(40, codec("numcodecs.crc32"))));
  std::string lengths = "1";
  for (int length = 2; length <= 40; ++length) lengths += ", " + std::to_string(length);
  document["chunk_grid"] = parse_json(
      R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[)" +
      lengths + "], [" + lengths + "]]}}");
  put_document(*store_, "", document);
  const auto array = open_array(store_);
  Random random(36);
  const Bytes values = random_bytes(random, 820 * 820);
  ArrayWriter writer(array);
  writer.write(everything({820, 820}), {values.data(), {820, 1}, nullptr}, {2, nullptr});
  writer.flush();
  EXPECT_EQ(read(*array, everything({820, 820}), {.threads = 2}), values);
  EXPECT_EQ(read(*array, everything({820, 820})), values);
  EXPECT_LT(array->state().chains.size(), 1000);
}

TEST_F(Writing, ASelectionOutsideIsRefused) {
  const auto array = create(kLayouts[0].codecs);
  ArrayWriter writer(array);
  EXPECT_ERROR(write(writer, {{9, 0}, {2, 1}, {1, 1}}, filled(1)), "array /");
  EXPECT_EQ(writer.pending_bytes(), 0);
}

}  // namespace
}  // namespace zarrcore::test::array_writer_test
